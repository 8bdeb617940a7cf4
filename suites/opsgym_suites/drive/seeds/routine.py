"""What every world has beside its stories: everyday files, and the rows that follow from all files.

Invariant: everything is drawn from the company's keys, so it is the same every time.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from opsgym_domains.drive.forms import milliseconds
from opsgym_domains.drive.tables import (
    App,
    Change,
    ChangeToken,
    Channel,
    DriveChannel,
    File,
    Operation,
    PathClosure,
    Permission,
    PooledId,
    SharedDrive,
    ShareLink,
    Subscription,
    Thumbnail,
    TrashEntry,
    Upload,
    WebhookDelivery,
)
from opsgym_suites.drive.seeds.description import APPS, Everyday, Member, Space
from opsgym_suites.drive.seeds.rows import put, remark, revise, stamped
from opsgym_suites.drive.seeds.world import World, ulid

CHANGES = 160
"""Number of changes in the log."""


class Routine:
    """Everyday files of a company.

    Args:
        world: The rows to add to.
    """

    def __init__(self, world: World) -> None:
        self._world, self._company = world, world.company
        self._draw = random.Random(f"{world.company.keys} routine")  # noqa: S311 - repeatable, not secret
        self._paths: set[str] = set()

    def add(self) -> None:
        """Adds the everyday files, oldest first."""
        days = (self._world.now - self._company.founded).days - 40
        minutes = sorted(self._draw.sample(range(days * 600), self._company.files))
        for number, minute in enumerate(minutes):
            made = self._company.founded + timedelta(days=20 + minute // 600, hours=8, minutes=minute % 600)
            self._file(self._company.everyday[number % len(self._company.everyday)], made)

    def _file(self, kind: Everyday, made: datetime) -> None:
        slots = {name: self._draw.choice(values) for name, values in self._company.slots.items()}
        slots |= {"number": str(self._draw.randint(11, 97)), "month": f"{made:%B}", "year": f"{made:%Y}"}
        authors = self._authors(kind)
        me, other = self._draw.sample(authors, 2)
        slots |= {"me": me.name.partition(" ")[0], "to": other.name.partition(" ")[0]}
        place = kind.place.replace("@me", f"@{me.address}").format(**slots)
        path = f"{place}{'' if place.endswith(':') else '/'}{kind.name.format(**slots)}"
        if path in self._paths:
            return
        self._paths.add(path)
        text = kind.text.format(**slots)
        file = put(self._world, path, me.address, made, text, labels=kind.labels)
        time = made
        for _ in range(self._draw.choice((0, 0, 0, 1, 1, 2))):
            time += timedelta(days=self._draw.randint(1, 9), hours=self._draw.randint(0, 5))
            revise(self._world, file, self._draw.choice((me, other)).address, time, f"{text} (revised)" if text else "")
        if self._draw.random() < 0.22:
            self._remark(file, me, other, slots, made + timedelta(days=1))

    def _remark(self, file: File, me: Member, other: Member, slots: dict[str, str], time: datetime) -> None:
        words, answered = (self._draw.choice(self._company.remarks[one.voice]).format(**slots) for one in (other, me))
        answers = [(me.address, answered)] if self._draw.random() < 0.6 else []
        remark(self._world, file, other.address, time, words, *answers, resolved=self._draw.random() < 0.3)

    def _authors(self, kind: Everyday) -> Sequence[Member]:
        """People who may write there: members of the shared drive, or anyone for files of one's own."""
        people = [one for one in self._company.people if one.active]
        if kind.place.startswith("@"):
            return people
        (space,) = (one for one in self._company.spaces if one.name == kind.place.partition(":")[0])
        return [one for one in people if self._writes(one, space)]

    def _writes(self, one: Member, space: Space) -> bool:
        writing = {who for who, role in space.members.items() if role not in ("reader", "commenter")}
        groups = {f"group:{team.address}" for team in self._company.teams if one.address in team.members}
        return bool(writing & {one.address, *groups})


# --- what follows from the files -------------------------------------------------------------------------------------


def finish(world: World) -> None:
    """Adds paths, links, changes and rows of services that only the server looks at."""
    for file in world.all(File):
        _place(world, file)
    _add_links(world)
    _add_changes(world)
    _add_services(world)
    for file in world.all(File)[5::7]:
        _add_thumbnail(world, file)


def _place(world: World, file: File) -> None:
    above, one = [file], file
    while one.parent_id is not None:
        (one,) = world.owned(File, "id", one.parent_id)
        above.append(one)
    for depth, ancestor in enumerate(above):
        world.add(PathClosure(ancestor_id=ancestor.id, descendant_id=file.id, depth=depth))
    file.shared = any(row.role != "owner" for row in world.permissions(file))
    if any(one.trashed for one in above[1:]):
        file.trashed, file.trashed_time = True, next(one.trashed_time for one in above[1:] if one.trashed)


def _add_links(world: World) -> None:
    for number, row in enumerate(world.all(Permission, type="anyone")):
        (file,) = world.owned(File, "id", row.file_id)
        link = ShareLink(file_id=file.id, permission_role=row.role, allow_discovery=row.allow_file_discovery)
        link.link_token, link.created_by = f"lnk-{world.company.keys}-{number:03d}", file.created_by
        world.add(stamped(link, row.created_time or world.now))


def _add_changes(world: World) -> None:
    files = sorted(world.all(File), key=lambda file: (file.modified_time, file.id))[-CHANGES:]
    last: dict[str, str] = {}
    for number, file in enumerate(files):
        made = file.modified_time == file.created_time
        change = Change(file_id=file.id, change_type="file_created" if made else "file_updated", removed=False)
        change.kind, change.change_time = "drive#change", file.modified_time
        drive = {"drive_id": file.drive_id} if file.drive_id else {}
        change.payload = json.dumps({"actor_id": file.modified_by, "action": "create" if made else "update", **drive})
        draw = random.Random(f"{world.company.keys} change {number}")  # noqa: S311 - no secret
        change.token = ulid(file.modified_time or world.now, number << 60 | draw.getrandbits(60))
        world.add(change)
        scopes = ["global", f"user:{file.modified_by}", *([f"drive:{file.drive_id}"] if file.drive_id else [])]
        last |= {scope: max(change.token, last.get(scope, "")) for scope in scopes}
    for scope, token in last.items():
        world.add(ChangeToken(scope=scope, last_token=token))


def _add_thumbnail(world: World, file: File) -> None:
    for revision in world.revisions(file)[-1:]:
        row = Thumbnail(file_id=file.id, revision_id=revision.id, kind="small", width=220, height=311)
        world.add(stamped(row, revision.created_time or world.now))


def _add_services(world: World) -> None:
    people = [world.user(one.address) for one in world.company.people if one.active]
    files = [file for file in world.all(File) if file.size_bytes]
    now, founded = world.now, world.company.founded
    for number, (name, words, types, extensions, default) in enumerate(APPS):
        world.add(_app(name, words, types, extensions, default, founded + timedelta(days=4, hours=number)))
    for number in range(14):
        world.add(PooledId(reserved=number % 3 == 0, reserved_time=founded if number % 3 == 0 else None))
    for number, file in enumerate(files[3:60:6]):
        _add_operation(world, number, file, people[number % len(people)].id)
    for number in range(9):
        gone = ulid(founded + timedelta(days=9 + number), number + (7 << 62))
        emptied = founded + timedelta(days=60 + 13 * number)
        world.add(TrashEntry(file_id=gone, emptied_time=emptied, actor_id=people[number % 5].id))
    for file in files[10:90:13]:
        made = (file.created_time or founded) - timedelta(minutes=4)
        row = Upload(file_id=file.id, intended_mime=file.mime_type, total_size=file.size_bytes, state="completed")
        row.received_bytes, row.chunk_size = file.size_bytes, 262144
        world.add(stamped(row, made))
    for number, drive in enumerate(world.all(SharedDrive)[:5]):
        _add_subscription(world, drive, now - timedelta(days=2 + number), number)
    for number, file in enumerate(files[20:24]):
        _add_channel(world, file, people[number].id, now - timedelta(hours=5 + number), number)


def _app(name: str, words: str, types: Sequence[str], extensions: Sequence[str], default: bool, made: datetime) -> App:
    values: dict[str, Any] = {
        "product_id": f"{name.lower()}-1",
        "product_url": f"https://apps.test/{name.lower()}", "supports_create": default,
        "supports_import": True, "supports_multi_open": False, "supports_offline_create": False, "installed": True,
        "has_drive_wide_scope": False, "authorized": default, "use_by_default": default, "object_type": "file",
        "primary_mime_types": json.dumps(types), "primary_file_extensions": json.dumps(extensions),
        "secondary_mime_types": "[]", "secondary_file_extensions": "[]", "icons": "[]",
        "short_description": words.capitalize(), "long_description": f"{name}: {words}.",
    }  # fmt: skip
    return stamped(App(name=name, **values), made)


def _add_operation(world: World, number: int, file: File, user: str) -> None:
    made = world.now - timedelta(days=number, hours=2)
    row = Operation(name=f"download_{number:02d}", operation_type="download", status="done", completed_at=made)
    row.operation_metadata = json.dumps({"file_id": file.id, "format": file.mime_type, "user_id": user})
    link = f"https://drive.google.com/uc?id={file.id}&export=download"
    row.response_data = json.dumps({"download_url": link, "size": file.size_bytes})
    world.add(stamped(row, made))


def _add_subscription(world: World, drive: SharedDrive, made: datetime, number: int) -> None:
    ends = made + timedelta(days=30)
    link = f"https://hooks.test/{world.company.keys}/{number}"
    channel = DriveChannel(resource_id=drive.id, address=link, type="web_hook", expiration=str(milliseconds(ends)))
    world.add(stamped(channel, made))
    row = Subscription(channel_id=channel.id, resource_type="drive", resource_id=drive.id, callback_url=link)
    row.expires_time, row.active = ends, True
    world.add(stamped(row, made))
    delivery = WebhookDelivery(subscription_id=row.id, channel_id=channel.id, status="delivered", attempts=1)
    delivery.change_token = world.newest_change()
    world.add(stamped(delivery, made + timedelta(hours=1)))


def _add_channel(world: World, file: File, user: str, made: datetime, number: int) -> None:
    row = Channel(id=f"watch-{world.company.keys}-{number}", resource_id=file.id, type="web_hook", active=True)
    row.resource_uri = f"https://www.googleapis.com/drive/v3/files/{file.id}?alt=json"
    row.address, row.payload, row.user_id = f"https://hooks.test/files/{number}", False, user
    row.expiration = str(milliseconds(made + timedelta(days=7)))
    world.add(stamped(row, made))
