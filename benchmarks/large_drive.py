"""A seed of Drive with as many files as a benchmark needs: owners, nested folders, shared drives, labels, contents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

TOKEN = "token-0"
"""Identity of the user who searches, a member of every shared drive."""
RARE, HITS, HITS_FOLDER = "harbour", 20, "hits"
"""Word of the names of a few files, their number, and the folder that holds just them."""
USERS, DRIVES, FILES_IN_FOLDER, FOLDERS_IN_FOLDER = 40, 5, 25, 8
_SUBJECTS = ("Budget", "Minutes", "Contract", "Report", "Roadmap", "Invoice", "Plan", "Survey")
_FOLDER = "application/vnd.google-apps.folder"
_TIME = "2026-03-02 09:00:00"


def seed(files: int) -> str:
    """Seed script of a drive with this number of files, a third of them in shared drives."""
    return "\n".join(["-- now: 2026-11-16T10:00:00", *_people(), *_folders(files), *_files(files)])


def _insert(table: str, **values: Any) -> str:
    return f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join(map(_literal, values.values()))});"


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


def _people() -> Iterator[str]:
    for number in range(USERS):
        yield _insert("users", id=f"u{number}", email=f"user{number}@acme.test", auth_token=f"token-{number}")
    for number in range(DRIVES):
        yield _insert("drives", id=f"d{number}", name=f"Department {number}", created_time=_TIME)
        for user in (0, number + 1):
            yield _insert("drive_memberships", id=f"m{number}-{user}", drive_id=f"d{number}", type="user",
                          user_id=f"u{user}", role="writer")  # fmt: skip
    yield _insert("labels", id="sensitivity", key="sensitivity", type="enum", options='["internal", "confidential"]')


def _folders(files: int) -> Iterator[str]:
    for number in range(files // FILES_IN_FOLDER + 1):
        above = f"o{(number - 1) // FOLDERS_IN_FOLDER}" if number else None
        yield from _file(f"o{number}", f"Folder {number}", _FOLDER, above, 0)
    yield from _file(HITS_FOLDER, "Hits", _FOLDER, "o0", 0)


def _files(files: int) -> Iterator[str]:
    for number in range(files):
        subject, owner = _SUBJECTS[number % len(_SUBJECTS)], number % USERS
        name, folder = f"{subject} {number} of department {owner}", f"o{number // FILES_IN_FOLDER}"
        if number < HITS:
            name, folder, owner = f"{name} {RARE.title()}", HITS_FOLDER, 0
        drive = f"d{number % DRIVES}" if number % 3 == 2 and number >= HITS else None
        yield from _file(f"f{number}", f"{name}.txt", "text/plain", None if drive else folder, owner, drive)
        text = f"Notes on the {subject.lower()} of {number}; " * 20
        yield _insert("blobs", id=f"b{number}", storage="DB", key=text, size_bytes=len(text))
        yield _insert("revisions", id=f"r{number}", file_id=f"f{number}", revision_number=1, blob_id=f"b{number}")


def _file(key: str, name: str, kind: str, parent: str | None, owner: int, drive: str | None = None) -> Iterator[str]:
    yield _insert(
        "files", id=key, name=name, mime_type=kind, parent_id=parent, parent_ids=f'["{parent}"]' if parent else "[]",
        drive_id=drive, created_by=f"u{owner}", created_time=_TIME, modified_time=_TIME, space="drive", trashed=False,
        head_revision_id=None if kind == _FOLDER else key.replace("f", "r"), version=1,
    )  # fmt: skip
    if drive is None:
        yield _insert("permissions", id=f"p-{key}", file_id=key, role="owner", type="user", user_id=f"u{owner}")
        yield _insert(
            "permissions", id=f"q-{key}", file_id=key, role="reader", type="user", user_id=f"u{(owner + 1) % USERS}"
        )
    if key.endswith("7"):
        yield _insert("file_labels", id=f"l-{key}", file_id=key, label_id="sensitivity", value_enum="internal")
