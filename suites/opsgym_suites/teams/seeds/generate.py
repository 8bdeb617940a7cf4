"""The rows that follow from the description of an organisation.

Invariant: no row is made later than the world's time, every random choice depends on the description alone, and
messages are written by those who are in the channel or chat.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from opsgym_domains.teams.access import PERMISSIONS
from opsgym_domains.teams.graph import MEMBER_TYPE, dumped, shown_time
from opsgym_domains.teams.people import as_sender
from opsgym_domains.teams.tables import (
    App,
    AudioRoutingGroup,
    Call,
    CallRecord,
    Channel,
    ChannelMember,
    ChannelMessage,
    ChannelTab,
    Chat,
    ChatApp,
    ChatMember,
    ChatMessage,
    ChatTab,
    FilesFolder,
    Group,
    InstalledApp,
    Invited,
    Meeting,
    ModulePermission,
    Org,
    Participant,
    Permission,
    PinnedMessage,
    Presence,
    SharedTeam,
    Tag,
    TagMember,
    Team,
    Teamwork,
    Template,
    TownHall,
    TownHallCoOrganizer,
    User,
    UserPermission,
    UserRole,
    Webinar,
    WebinarCoOrganizer,
    WebinarPresenter,
)
from opsgym_domains.teams.team_settings import SETTINGS
from opsgym_suites.teams.seeds.description import (
    STANDARD,
    ChannelPlan,
    ChatPlan,
    EventPlan,
    Organisation,
    Person,
    Post,
    TeamPlan,
)
from opsgym_suites.teams.seeds.further import add_further_rows
from opsgym_suites.teams.seeds.world import World, row_key, user_key

READ_BY_ALL = ("users", "chats", "chat_messages", "channels", "channel_messages", "files_folders", "tabs", "teams")
WRITTEN_BY_MEMBERS = ("chats", "chat_messages", "channels", "channel_messages", "tabs", "tags", "presence")
WRITTEN_BY_LEADS = (*WRITTEN_BY_MEMBERS, "teams", "team_members", "groups", "calls", "webinars", "townhalls")
RIGHTS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "admin": (tuple(PERMISSIONS), tuple(PERMISSIONS)),
    "lead": (tuple(PERMISSIONS), WRITTEN_BY_LEADS),
    "member": ((*READ_BY_ALL, "team_members", "apps", "tags", "groups", "webinars", "townhalls"), WRITTEN_BY_MEMBERS),
    "guest": (("users", "chats", "chat_messages", "channels", "channel_messages"), ("chat_messages",)),
    "service": ((), ()),
}
"""By rank: resources that a person may read, and those that the person may change."""
SERVICE_PERMISSIONS = ("Calls.Initiate.All", "CallRecords.Read.All", "Team.Create", "TeamMember.ReadWrite.All")
"""What applications may do."""
TEMPLATES = {"standard": "Standard", "retailStore": "Manage a store", "healthcareWard": "Collaborate on a ward"}
"""Templates of the service, by key."""
W = TypeVar("W", bound=World)
REACTIONS = ("like", "heart", "laugh", "surprised")
_FIRST_TAB = 10000100


def generate(plan: Organisation) -> World:
    """The rows of an organisation."""
    return fill(World(plan.now), plan)


def fill(world: W, plan: Organisation) -> W:
    """An empty world with the rows of an organisation added."""
    _Writer(plan, world).write()
    return world


class _Writer:
    def __init__(self, plan: Organisation, world: World) -> None:
        self.plan, self.world = plan, world
        self.draw = random.Random(plan.key)  # noqa: S311 - the same every time; nothing here is secret
        self.people = {person.key: person for person in plan.people}
        self.tenant = row_key(plan.key, "tenant")
        self.taken: set[int] = set()
        self.made = 0

    def write(self) -> None:
        """All rows, in an order in which each refers to earlier ones."""
        self._organisation()
        for number, person in enumerate(self.plan.people):
            self._person(person, number)
        self._permissions()
        for name, way in self.plan.apps.items():
            self._app(name, way)
        for team in self.plan.teams:
            self._team(team)
        for name, (owner, members) in self.plan.groups.items():
            self._group(self.key("group", name), name, [owner], members, f"{name}, for mail")
        for number, chat in enumerate(self.plan.chats):
            self._chat(chat, number)
        for post in self.plan.posts:
            self._post(post)
        self._calls()
        for event in self.plan.webinars:
            self._webinar(event)
        for event in self.plan.town_halls:
            self._town_hall(event)
        add_further_rows(self.plan, self.world)

    # --- small parts -------------------------------------------------------------------------------------------------

    def key(self, *what: object) -> str:
        return row_key(self.plan.key, *what)

    def team_key(self, name: str) -> str:
        return user_key(self.plan.key, f"team {name}")

    def hex(self, *what: object) -> str:
        return self.key(*what).replace("-", "")

    def id(self, name: str) -> str:
        return user_key(self.plan.key, name)

    def stamp(self) -> datetime:
        """When an older row was made: each four hours after the one before."""
        self.made += 1
        return self.plan.founded + timedelta(hours=4 * self.made)

    def at_work(self, latest: datetime) -> datetime:
        """A time in working hours of the months before another time."""
        day = latest - timedelta(days=self.draw.randint(1, 110))
        day -= timedelta(days=max(0, day.weekday() - 4))
        return day.replace(
            hour=self.draw.randint(7, 16), minute=self.draw.randint(0, 59), second=self.draw.randint(0, 59)
        )

    def moment(self, time: datetime) -> int:
        """Milliseconds since 1970 that no other message has."""
        number = int((time - datetime(1970, 1, 1)).total_seconds() * 1000)  # noqa: DTZ001 - as stored
        while number in self.taken:
            number += 1000
        self.taken.add(number)
        return number

    def sender(self, name: str) -> str:
        return str(dumped(as_sender(self.id(name), self.people[name].name)))

    def filled(self, text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda slot: self.draw.choice(self.plan.slots[slot[1]]), text)

    # --- the organisation --------------------------------------------------------------------------------------------

    def _organisation(self) -> None:
        plan, add = self.plan, self.world.add
        add(
            Org(
                org_id=plan.key,
                tenant_id=self.tenant,
                display_name=plan.name,
                domain_name=plan.host,
                country_letter_code=plan.country[1],
                preferred_language="en",
                created_at=plan.founded,
                updated_at=plan.founded,
                soft_deleted=False,
            )
        )
        add(Teamwork(org_id=plan.key, teamwork_id="teamwork", is_teams_enabled=True, region="EMEA"))
        for key, name in TEMPLATES.items():
            add(
                Template(
                    org_id="default",
                    template_id=key,
                    display_name=name,
                    short_description=name,
                    visibility="public",
                    categories="[]",
                    channel_count=1,
                    app_count=0,
                    is_system_template=True,
                    created_date_time=self.stamp(),
                    soft_delete=False,
                )
            )

    def _person(self, person: Person, number: int) -> None:
        plan, made, key = self.plan, self.stamp(), self.id(person.key)
        given, _, family = person.name.partition(" ")
        is_guest, is_service = person.rank == "guest", person.rank == "service"
        host = f"{re.sub('[^a-z]', '', person.company.lower())}.example" if person.company else plan.host
        mail = f"{person.key}@{host}"
        self.world.add(
            User(
                org_id=plan.key,
                user_id=key,
                user_principal_name=mail if not is_guest else f"{person.key}_{host}#EXT#@{plan.host}",
                display_name=person.name,
                job_title=person.title,
                mail=None if is_service else mail,
                given_name=None if is_service else given,
                surname=None if is_service else family,
                mail_nickname=person.key,
                account_enabled=person.active,
                business_phones=dumped([f"+{plan.phone} 555 0{1000 + 7 * number}"]),
                office_location=f"{person.city} {2 + number % 5}.{1 + number % 12:02d}",
                preferred_language="en",
                department=person.department,
                company_name=person.company or plan.name,
                usage_location=plan.country[1],
                city=person.city,
                country=plan.country[0],
                employee_id=None if is_guest or is_service else f"{2100 + 13 * number}",
                user_type="Guest" if is_guest else "Member",
                is_resource_account=is_service,
                static_token=f"teams_token_{person.key.replace('.', '_')}",
                created_at=made,
                updated_at=made,
                soft_deleted=False,
            )
        )
        if person.rank in ("admin", "service"):
            name = "Teams Administrator" if person.rank == "admin" else "Application"
            self.world.add(
                UserRole(
                    org_id=plan.key,
                    user_id=key,
                    role_id=name.lower().replace(" ", "-"),
                    role_name=name,
                    role_description=f"{name} of {plan.name}",
                    assigned_at=made,
                )
            )
        if number % 2 == 0 and not is_service:
            self._presence(person, made)

    def _presence(self, person: Person, made: datetime) -> None:
        text = self.draw.choice(("", "", "Back on Thursday", "On site, call me", "In meetings until noon"))
        message = {"message": {"content": text, "contentType": "text"}} if text else None
        self.world.add(
            Presence(
                user_id=self.id(person.key),
                org_id=self.plan.key,
                session_id=self.key("presence", person.key),
                availability=self.draw.choice(("Available", "Busy", "Away", "Offline")),
                activity="Available",
                status_message=dumped(message),
                created_at=made,
                updated_at=self.plan.now - timedelta(hours=self.draw.randint(1, 90)),
            )
        )

    def _permissions(self) -> None:
        names = {name: part for part, both in PERMISSIONS.items() for names in both for name in names}
        for name, part in names.items():
            made = self.stamp()
            for way in ("delegated", "application"):
                self.world.add(
                    Permission(
                        id=f"{name}:{way}",
                        name=name,
                        type=way,
                        admin_consent_required=way == "application",
                        description=f"{name} of the directory",
                        resource=part,
                        operation="write" if "Write" in name or "Create" in name or "Send" in name else "read",
                        permission_level_rank=1,
                        requires_resource_ownership=False,
                        applies_to_scope="organization",
                        created_at=made,
                        updated_at=made,
                    )
                )
            self.world.add(ModulePermission(module_name=part, permission_id=f"{name}:delegated", created_at=made))
        for person in self.plan.people:
            self._grants(person)

    def _grants(self, person: Person) -> None:
        readable, writable = RIGHTS[person.rank]
        granted = [f"{PERMISSIONS[part][0][0]}:delegated" for part in readable if PERMISSIONS[part][0]]
        granted += [f"{PERMISSIONS[part][1][0]}:delegated" for part in writable if PERMISSIONS[part][1]]
        if person.rank == "service":
            granted = [f"{name}:application" for name in SERVICE_PERMISSIONS]
        for name in dict.fromkeys(granted):
            self.world.add(
                UserPermission(
                    org_id=self.plan.key,
                    user_id=self.id(person.key),
                    permission_id=name,
                    resource_scope="organization",
                    granted_by=self.id(self.plan.people[0].key),
                    granted_at=self.plan.founded,
                )
            )

    def _app(self, name: str, way: str) -> None:
        made = self.stamp()
        self.world.add(
            App(
                org_id=self.plan.key,
                app_id=self.key("app", name),
                display_name=name,
                external_id=self.key("external app", name),
                distribution_method=way,
                description=f"{name} in Teams",
                version=f"{self.draw.randint(1, 4)}.{self.draw.randint(0, 9)}.0",
                developer_name=name.split(maxsplit=1)[0] if way == "store" else self.plan.name,
                publishing_state="published",
                teams_app_id=self.key("app definition", name),
                created_at=made,
                updated_at=made,
            )
        )

    # --- teams -------------------------------------------------------------------------------------------------------

    def _group(self, key: str, name: str, owners: Sequence[str], members: Sequence[str], text: str) -> None:
        made = self.stamp()
        slug = re.sub(r"[^a-z0-9]+", "", name.lower())
        self.world.add(
            Group(
                org_id=self.plan.key,
                group_id=key,
                display_name=name,
                description=text,
                mail_nickname=slug,
                mail=f"{slug}@{self.plan.host}",
                visibility="Private",
                group_types=dumped(["Unified"]),
                security_enabled=False,
                mail_enabled=True,
                members=dumped([self._as_object(one) for one in members]),
                owners=dumped([self._as_object(one) for one in owners]),
                created_date_time=made,
                updated_date_time=made,
                soft_delete=False,
            )
        )

    def _as_object(self, name: str) -> dict[str, Any]:
        user = self.world.user(name)
        return {
            "@odata.type": "#microsoft.graph.user",
            "id": user.user_id,
            "displayName": user.display_name,
            "userPrincipalName": user.user_principal_name,
            "mail": user.mail,
        }

    def _team(self, team: TeamPlan) -> None:
        key, made = self.team_key(team.name), self.stamp()
        everybody = [*team.owners, *team.members, *team.guests]
        self._group(key, team.name, team.owners, everybody, team.description)
        roles = {**dict.fromkeys(team.guests, "guest"), **dict.fromkeys(team.owners, "owner")}
        settings = {
            column: dumped({**default, **team.settings.get(column, {})}) for column, default in SETTINGS.items()
        }
        self.world.add(
            Team(
                org_id=self.plan.key,
                team_id=key,
                group_id=key,
                template_id="standard",
                display_name=team.name,
                description=team.description,
                visibility=team.visibility,
                specialization="none",
                internal_id=f"19:{self.hex('internal', team.name)}@thread.tacv2",
                incoming_channels=dumped(self._incoming(team)),
                members=dumped([self._member(team, name, roles.get(name, "member"), made) for name in everybody]),
                is_archived=team.archived,
                migration_mode=False,
                web_url=f"https://teams.microsoft.com/l/team/{key}",
                created_date_time=made,
                updated_date_time=made,
                soft_delete=False,
                **settings,
            )
        )
        for name in team.apps:
            self._installed(key, name)
        general = ChannelPlan("General", f"Everything about {team.name}", tabs=(), threads=12)
        for place, channel in enumerate((general, *team.channels)):
            self._channel(team, key, channel, place)
        for name, people in team.tags.items():
            self._tag(key, team, name, people)

    def _incoming(self, team: TeamPlan) -> list[dict[str, Any]]:
        """Channels that other teams share with a team."""
        return [
            {
                "id": self.channel_key(host, channel),
                "createdDateTime": shown_time(self.plan.founded),
                "displayName": channel.name,
                "description": channel.description,
                "membershipType": "shared",
                "tenantId": self.tenant,
                "isArchived": channel.archived,
            }
            for host in self.plan.teams
            for channel in host.channels
            if team.name in channel.shared_with
        ]

    def channel_key(self, team: TeamPlan, channel: ChannelPlan) -> str:
        return f"19:{self.hex('channel', team.name, channel.name)}@thread.tacv2"

    def _member(self, team: TeamPlan, name: str, role: str, made: datetime) -> dict[str, Any]:
        user = self.world.user(name)
        return {
            "@odata.type": MEMBER_TYPE,
            "id": f"membership_{self.hex('member', team.name, name)}",
            "roles": [role],
            "displayName": user.display_name,
            "userId": user.user_id,
            "email": user.mail,
            "tenantId": self.tenant,
            "visibleHistoryStartDateTime": shown_time(made),
        }

    def _installed(self, team: str, name: str) -> None:
        app = self.world.app(name)
        self.world.add(
            InstalledApp(
                org_id=self.plan.key,
                team_id=team,
                installation_id=self.key("installed", team, name),
                teams_app_id=app.app_id,
                teams_app_external_id=app.external_id,
                teams_app_display_name=name,
                teams_app_distribution_method=app.distribution_method,
                teams_app_definition_id=app.teams_app_id,
                teams_app_definition_version=app.version,
                publishing_state="published",
                created_date_time=self.stamp(),
                soft_delete=False,
            )
        )

    def _channel(self, team: TeamPlan, team_key: str, channel: ChannelPlan, place: int) -> None:
        key, made = self.channel_key(team, channel), self.stamp()
        slug = re.sub(r"[^a-z0-9]+", "-", channel.name.lower()).strip("-")
        self.world.add(
            Channel(
                channel_id=key,
                org_id=self.plan.key,
                team_id=team_key,
                display_name=channel.name,
                description=channel.description or None,
                email=f"{slug}.{team_key[:8]}@{self.plan.key}.teams.ms" if channel.email else None,
                membership_type=channel.kind,
                is_favorite_by_default=place == 0,
                is_archived=channel.archived or team.archived,
                created_date_time=made,
                soft_delete=False,
            )
        )
        for index, name in enumerate(channel.members):
            user = self.world.user(name)
            self.world.add(
                ChannelMember(
                    channel_id=key,
                    user_id=user.user_id,
                    roles="owner" if index == 0 else "member",
                    display_name=user.display_name,
                    email=user.mail,
                    added_at=made,
                )
            )
        for other in channel.shared_with:
            self.world.add(
                SharedTeam(
                    shared_team_id=self.key("shared", team.name, channel.name, other),
                    channel_id=key,
                    team_id=self.team_key(other),
                    tenant_id=self.tenant,
                    display_name=other,
                    is_host_team=False,
                    created_at=made,
                    updated_at=made,
                    soft_delete=False,
                )
            )
        for index, (name, app) in enumerate(channel.tabs):
            self._tab(team_key, key, name, app, index)
        self._folder(team, team_key, channel, key, made)
        people = list(channel.members) if channel.kind != STANDARD else [*team.owners, *team.members, *team.guests]
        latest = self.plan.now - timedelta(days=200 if team.archived else 40 if channel.archived else 0)
        for _ in range(channel.threads):
            self._thread(team_key, key, people, self.at_work(latest))

    def _tab(self, team: str, channel: str, name: str, app: str, index: int) -> None:
        key, made, of = f"tab_{self.hex('tab', channel, name)[:16]}", self.stamp(), self.world.app(app)
        address = f"https://{self.plan.host}/{re.sub('[^a-z0-9]+', '-', name.lower())}"
        self.world.add(
            ChannelTab(
                org_id=self.plan.key,
                team_id=team,
                channel_id=channel,
                tab_id=key,
                display_name=name,
                web_url=f"https://teams.microsoft.com/_#/apps/{of.app_id}/sections/{key}",
                app_id=of.app_id,
                sort_order_index=str(_FIRST_TAB + 100 * index),
                configuration_json=dumped({"entityId": key[4:], "contentUrl": address, "websiteUrl": address}),
                created_at=made,
                updated_at=made,
            )
        )

    def _folder(self, team: TeamPlan, team_key: str, channel: ChannelPlan, key: str, made: datetime) -> None:
        slug = re.sub(r"[^A-Za-z0-9]+", "", team.name)
        address = (
            f"https://{self.plan.key}.sharepoint.com/sites/{slug}/Shared%20Documents/{channel.name.replace(' ', '%20')}"
        )
        author = dumped({"user": {"id": self.id(team.owners[0]), "displayName": self.people[team.owners[0]].name}})
        self.world.add(
            FilesFolder(
                channel_id=key,
                team_id=team_key,
                drive_item_id=f"01{self.hex('folder', key)[:30].upper()}",
                name=channel.name,
                created_date_time=made,
                last_modified_date_time=made + timedelta(hours=2),
                web_url=address,
                size=self.draw.randint(0, 90_000_000),
                created_by_json=author,
                last_modified_by_json=author,
                drive_id=f"b!{self.hex('drive', team_key)}",
                drive_type="documentLibrary",
                parent_name="Shared Documents",
                child_count=self.draw.randint(0, 40),
                fs_created_date_time=made,
                fs_last_modified_date_time=made + timedelta(hours=2),
            )
        )

    def _tag(self, team_key: str, team: TeamPlan, name: str, people: Sequence[str]) -> None:
        key, made = self.key("tag", team.name, name), self.stamp()
        self.world.add(
            Tag(
                id=key,
                team_id=team_key,
                display_name=name,
                description=f"{name} of {team.name}",
                tag_type="standard",
                created_at=made,
                updated_at=made,
            )
        )
        for one in people:
            user = self.world.user(one)
            self.world.add(
                TagMember(
                    id=self.key("tagged", team.name, name, one),
                    tagId=key,
                    teamId=team_key,
                    userId=user.user_id,
                    displayName=user.display_name,
                    tenantId=self.tenant,
                )
            )

    # --- posts -------------------------------------------------------------------------------------------------------

    def _thread(self, team: str, channel: str, people: Sequence[str], time: datetime) -> None:
        first, *rest = self.draw.choice(self.plan.talk)
        authors = self.draw.sample(list(people), min(len(people), 1 + len(rest)))
        liked = [(name, self.draw.choice(REACTIONS)) for name in authors[1:] if self.draw.random() < 0.4]
        post = self._message(team, channel, authors[0], self.filled(first), time, reactions=liked)
        for author, text in zip(authors[1:], rest, strict=False):
            time += timedelta(minutes=self.draw.randint(4, 300))
            if time < self.plan.now:
                self._message(team, channel, author, self.filled(text), time, reply_to=post.message_id)

    def _message(
        self,
        team: str,
        channel: str,
        author: str,
        text: str,
        time: datetime,
        *,
        subject: str = "",
        reply_to: str | None = None,
        reactions: Sequence[tuple[str, str]] = (),
        deleted: bool = False,
        as_written: bool = False,
    ) -> ChannelMessage:
        number = self.moment(time)
        key = str(number)
        given = [self._reaction(name, reaction, time) for name, reaction in reactions]
        return self.world.add(
            ChannelMessage(
                message_id=key,
                channel_id=channel,
                team_id=team,
                reply_to_id=reply_to,
                etag=key,
                message_type="message",
                created_datetime=time,
                last_modified_datetime=time,
                deleted_datetime=time + timedelta(hours=1) if deleted else None,
                subject=subject or None,
                importance="normal",
                locale="en-us",
                web_url=f"https://teams.microsoft.com/l/message/{channel}/{key}",
                channel_identity_json=dumped({"teamId": team, "channelId": channel}),
                from_json=self.sender(author),
                body_json=self._body(author, text, as_written=as_written),
                attachments_json="[]",
                mentions_json="[]",
                reactions_json=dumped(given),
                message_history_json="[]",
            )
        )

    def _reaction(self, name: str, reaction: str, time: datetime) -> dict[str, Any]:
        user = as_sender(self.id(name), self.people[name].name)["user"]
        return {"reactionType": reaction, "createdDateTime": shown_time(time), "user": {"user": user}}

    def _body(self, author: str, text: str, *, as_written: bool) -> str:
        """A text in the voice of its author."""
        person = self.people[author]
        given = person.name.partition(" ")[0]
        if as_written:
            spoken, kind = text, "text"
        else:
            spoken, kind = (
                (text, "text"),
                (text.lower().rstrip(".").replace(" and ", " + "), "text"),
                (f"<p>Good day,</p><p>{text}</p><p>Kind regards<br>{given}</p>", "html"),
                (f"{text.rstrip('.')}! Thanks, {given}", "text"),
                (f"<p>{text}</p>", "html"),
            )[person.voice]
        return str(dumped({"contentType": kind, "content": spoken}))

    def _post(self, post: Post) -> None:
        team = self.world.team(post.team)
        channel = self.world.channel(team, post.channel)
        time = post.time
        first = self._message(
            team.team_id,
            channel.channel_id,
            post.author,
            post.text,
            time,
            subject=post.subject,
            reactions=post.reactions,
            deleted=post.deleted,
            as_written=True,
        )
        for number, (author, text) in enumerate(post.replies, start=1):
            later = time + timedelta(minutes=9 * number)
            self._message(
                team.team_id, channel.channel_id, author, text, later, reply_to=first.message_id, as_written=True
            )

    # --- chats -------------------------------------------------------------------------------------------------------

    def _chat(self, chat: ChatPlan, number: int) -> None:
        ids = sorted(self.id(name) for name in chat.members)
        is_pair = not chat.topic
        key = "_".join(ids) if is_pair else f"19:{self.hex('chat', chat.topic)}@thread.v2"
        made = self.plan.founded + timedelta(days=5 * number, hours=number % 7)
        times = sorted(self.at_work(self.plan.now) for _ in range(chat.everyday))
        last = self.plan.now - timedelta(hours=3 * (number + 1))
        written = [
            (time, self.draw.choice(chat.members), self.filled(self.draw.choice(self.plan.chatter))) for time in times
        ]
        written = [one for one in written if one[0] < last - timedelta(days=2)]
        own = [(last + timedelta(minutes=4 * place), *line) for place, line in enumerate(chat.lines)]
        self.world.add(
            Chat(
                chat_id=key,
                org_id=self.plan.key,
                topic=chat.topic or None,
                chat_type="oneOnOne" if is_pair else "group",
                created_at=made,
                updated_at=(own or written or [(made, "", "")])[-1][0],
                soft_delete=False,
            )
        )
        for name in chat.members:
            user = self.world.user(name)
            self.world.add(
                ChatMember(
                    chat_id=key,
                    org_id=self.plan.key,
                    user_id=user.user_id,
                    roles="guest" if user.user_type == "Guest" else "owner",
                    tenant_id=self.plan.key,
                    display_name=user.display_name,
                    is_hidden=False,
                    added_at=made,
                )
            )
        rows = [self._line(key, *one, as_written=False) for one in written]
        rows += [self._line(key, *one, as_written=True) for one in own]
        if not is_pair and rows:
            self._extras(key, rows[0], chat, number)

    def _line(self, chat: str, time: datetime, author: str, text: str, *, as_written: bool) -> ChatMessage:
        key = str(self.moment(time))
        return self.world.add(
            ChatMessage(
                message_id=key,
                chat_id=chat,
                etag=key,
                message_type="message",
                created_datetime=time,
                last_modified_datetime=time,
                importance="normal",
                locale="en-us",
                from_json=self.sender(author),
                body_json=self._body(author, text, as_written=as_written),
                attachments_json="[]",
                mentions_json="[]",
                reactions_json="[]",
                message_history_json="[]",
            )
        )

    def _extras(self, chat: str, first: ChatMessage, plan: ChatPlan, number: int) -> None:
        made = first.created_datetime
        self.world.add(
            PinnedMessage(
                pinned_message_id=self.key("pin", chat),
                chat_id=chat,
                message_id=first.message_id,
                created_datetime=made,
            )
        )
        app = self.world.app(list(self.plan.apps)[number % 3])
        tab = f"tab_{self.hex('chat tab', chat)[:16]}"
        self.world.add(
            ChatTab(
                chat_id=chat,
                tab_id=tab,
                display_name=app.display_name,
                web_url=f"https://teams.microsoft.com/_#/apps/{app.app_id}/sections/{tab}",
                app_id=app.app_id,
                sort_order_index=str(_FIRST_TAB),
                created_at=made,
                updated_at=made,
            )
        )
        self.world.add(
            ChatApp(
                installation_id=self.key("chat app", chat),
                chat_id=chat,
                org_id=self.plan.key,
                app_id=app.app_id,
                app_display_name=app.display_name,
                app_external_id=app.external_id,
                app_distribution_method=app.distribution_method,
                installed_by_user_id=self.id(plan.members[0]),
                installed_at=made,
            )
        )

    # --- calls and events --------------------------------------------------------------------------------------------

    def _calls(self) -> None:
        callers = [
            person for person in self.plan.people if person.rank in ("admin", "lead", "member") and person.active
        ]
        for number in range(self.plan.calls):
            start = self.plan.now - timedelta(days=number // 2, hours=1 + number % 6, minutes=13 * (number % 4))
            people = self.draw.sample(callers, 2 + number % 3)
            self._record(number, people, start)
        services = [person for person in self.plan.people if person.rank == "service"]
        for number, hours in enumerate((6, 30, 54)):
            self._call(services[0], self.draw.sample(callers, 3), self.plan.now - timedelta(hours=hours), number)

    def _record(self, number: int, people: Sequence[Person], start: datetime) -> None:
        end = start + timedelta(minutes=self.draw.randint(3, 55))
        key = self.key("call record", number)
        self.world.add(
            CallRecord(
                id=key,
                org_id=self.plan.key,
                version=1,
                type="peerToPeer" if len(people) == 2 else "groupCall",
                modalities=dumped(["audio", "video"] if number % 3 else ["audio"]),
                organizer=dumped(self._identity(people[0])),
                participants=dumped([self._identity(one) for one in people]),
                start_date_time=start,
                end_date_time=end,
                last_modified_date_time=end + timedelta(minutes=5),
                join_web_url=f"https://teams.microsoft.com/l/meetup-join/{key}",
                created_at=end + timedelta(minutes=5) if end + timedelta(minutes=5) < self.plan.now else start,
                updated_at=start,
            )
        )
        self.world.add(
            Meeting(
                id=self.key("meeting", number),
                org_id=self.plan.key,
                user_id=self.id(people[0].key),
                subject=self.filled("{thing}"),
                start_date_time=start,
                end_date_time=end,
                creation_date_time=start - timedelta(days=1),
                join_web_url=f"https://teams.microsoft.com/l/meetup-join/{key}",
                allow_meeting_chat="enabled",
                created_at=start - timedelta(days=1),
                updated_at=start - timedelta(days=1),
            )
        )

    def _identity(self, person: Person) -> dict[str, Any]:
        return {"user": {"id": self.id(person.key), "displayName": person.name, "tenantId": self.tenant}}

    def _call(self, service: Person, people: Sequence[Person], start: datetime, number: int) -> None:
        key = self.key("call", number)
        self.world.add(
            Call(
                id=key,
                org_id=self.plan.key,
                callback_uri=f"https://{self.plan.host}/callback",
                call_chain_id=self.key("chain", number),
                direction="outgoing",
                state=("established", "terminated", "terminated")[number],
                subject=("Alarm drill", "Morning check", "Night check")[number],
                source=dumped(
                    {"identity": {"applicationInstance": {"id": self.id(service.key), "displayName": service.name}}}
                ),
                targets=dumped([{"identity": self._identity(one)} for one in people]),
                my_participant_id=self.key("own part", number),
                requested_modalities=dumped(["audio"]),
                media_config=dumped({"_odata_type": "#microsoft.graph.serviceHostedMediaConfig"}),
                created_at=start,
                updated_at=start,
                soft_delete=False,
            )
        )
        for one in people:
            self.world.add(
                Participant(
                    id=self.key("participant", number, one.key),
                    org_id=self.plan.key,
                    call_id=key,
                    info=dumped({"identity": self._identity(one)}),
                    media_streams="[]",
                    is_muted=False,
                    is_in_lobby=False,
                    created_at=start + timedelta(seconds=len(one.key)),
                    updated_at=start,
                )
            )
        self.world.add(
            AudioRoutingGroup(
                id=self.key("routing", number),
                org_id=self.plan.key,
                call_id=key,
                routing_mode="oneToOne",
                sources=dumped([self.id(people[0].key)]),
                receivers=dumped([self.id(people[1].key)]),
                created_at=start,
                updated_at=start,
            )
        )

    def _event(self, event: EventPlan) -> dict[str, Any]:
        made = self.stamp()
        organizer = self.people[event.organizer]
        return {
            "org_id": self.plan.key,
            "id": f"{self.key('event', event.name)}@{self.tenant}",
            "display_name": event.name,
            "description_content_type": "text",
            "description_content": event.text,
            "start_date_time": event.start,
            "start_time_zone": event.zone,
            "end_date_time": event.start + timedelta(minutes=event.minutes),
            "end_time_zone": event.zone,
            "audience": event.audience,
            "status": event.status,
            "created_by_user_id": self.id(organizer.key),
            "created_by_display_name": organizer.name,
            "created_by_tenant_id": self.tenant,
            "is_attendee_email_notification_enabled": True,
            "external_event_information": "[]",
            "created_at": made,
            "updated_at": made,
        }

    def _webinar(self, event: EventPlan) -> None:
        columns = self._event(event)
        self.world.add(Webinar(**columns))
        for name in event.helpers:
            self.world.add(
                WebinarCoOrganizer(
                    org_id=self.plan.key,
                    webinar_id=columns["id"],
                    user_id=self.id(name),
                    added_at=columns["created_at"],
                )
            )
        speaker = self.people[event.organizer]
        if event.audience == "everyone":
            self.world.add(
                WebinarPresenter(
                    org_id=self.plan.key,
                    webinar_id=columns["id"],
                    presenter_id=self.key("presenter", event.name),
                    identity_type="communicationsUserIdentity",
                    identity_id=self.id(speaker.key),
                    email=f"{speaker.key}@{self.plan.host}",
                    display_name=speaker.name,
                    added_at=columns["created_at"],
                )
            )

    def _town_hall(self, event: EventPlan) -> None:
        columns = self._event(event)
        self.world.add(TownHall(**columns, is_invite_only=event.invited is not None))
        for name in event.helpers:
            self.world.add(
                TownHallCoOrganizer(
                    org_id=self.plan.key,
                    townhall_id=columns["id"],
                    user_id=self.id(name),
                    added_at=columns["created_at"],
                )
            )
        for name in event.invited or ():
            self.world.add(
                Invited(
                    org_id=self.plan.key,
                    townhall_id=columns["id"],
                    identity_id=self.id(name),
                    identity_type="communicationsUserIdentity",
                    display_name=self.people[name].name,
                    tenant_id=self.tenant,
                    added_at=columns["created_at"],
                )
            )
