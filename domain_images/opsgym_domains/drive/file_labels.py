"""Labels of files. A label has one field, whose id is the label's key and whose type is the label's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from sqlalchemy import or_

from opsgym_domains.drive.forms import loaded
from opsgym_domains.drive.history import record_file
from opsgym_domains.drive.pages import page
from opsgym_domains.drive.query import Kind, Term
from opsgym_domains.drive.reach import missing, reach
from opsgym_domains.drive.resources import Resource, label_resource
from opsgym_domains.drive.search import FIELDS
from opsgym_domains.drive.tables import FileLabel, Label
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.gym import Gym

VALUES = ("value_string", "value_number", "value_boolean", "value_date", "value_enum")
"""Columns of which a label of a file sets one."""


@tool(row=FileLabel)
async def list_files_labels(gym: Gym, file_id: str, max_results: int = 100, page_token: str | None = None) -> Resource:
    """List the labels of a file with their values.

    Returns `labels` and the token of the next page.
    """
    await reach(gym, file_id)
    rows = await gym.all(FileLabel, FileLabel.file_id == file_id)
    shown, more = page(rows, page_token, max_results)
    labels = [label_resource(row, await gym.fetch(Label, row.label_id)) for row in shown]
    return {"kind": "drive#labelList", "labels": labels, **more}


@tool(
    changes=FileLabel,
    words={
        "labelModifications": "Labels to set or to remove",
        "labelModifications.kind": "Has no effect",
        "labelId": "Label (its id or key)",
        "removeLabel": "Whether the label is removed",
        "fieldModifications": "Value of the label",
        "fieldId": "Field of the label: the label's key",
        "setDateValues": "Date, for instance 2026-11-16, for a label of the type date",
        "setTextValues": "Text, or the value of a label of any type",
        "setSelectionValues": "One of the options, or true or false, for a label of the type enum or boolean",
        "setIntegerValues": "Number, for a label of the type number",
        "setUserValues": "Email address of a user, kept as text",
        "unsetValues": "Whether the value is removed and the label stays",
    },
)
async def modify_files_labels(gym: Gym, file_id: str, label_modifications: Sequence[Mapping[str, Any]]) -> Resource:
    """Set labels of a file, change their values or remove them.

    A value must fit the label (INVALID_LABEL_VALUE). Returns the labels that were set or changed as `modifiedLabels`.
    """
    file = await reach(gym, file_id, "writer")
    modified = []
    for modification in label_modifications:
        label = await _label(gym, modification["labelId"])
        row = await gym.find(FileLabel, file_id=file_id, label_id=label.id)
        if modification.get("removeLabel"):
            if row is None:
                raise missing("Label of the file", "LABEL_NOT_FOUND", label.id, "labelId")
            await gym.delete([row])
        else:
            values = _values(label, modification.get("fieldModifications") or ())
            row = await _store(gym, file_id, label, row, values)
            modified.append(label_resource(row, label))
    await record_file(gym, "file_updated", file, action="modify_labels")
    return {"kind": "drive#modifyLabelsResponse", "modifiedLabels": modified}


async def _label(gym: Gym, key: str) -> Label:
    label = await gym.get(Label, key) or await gym.find(Label, key=key)
    if label is None:
        raise missing("Label", "LABEL_NOT_FOUND", key, "labelId")
    return label


async def _store(
    gym: Gym, file_id: str, label: Label, row: FileLabel | None, values: Mapping[str, Any] | None
) -> FileLabel:
    if row is None:
        return await gym.insert(FileLabel(file_id=file_id, label_id=label.id, **(values or {})))
    return row if values is None else await gym.update(row, {**dict.fromkeys(VALUES), **values})


# --- values ----------------------------------------------------------------------------------------------------------


def _values(label: Label, modifications: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Columns of a label's value; None if the modifications say nothing about it.

    Raises:
        ToolError: `INVALID_LABEL_FIELD`, `INVALID_LABEL_VALUE`.
    """
    values: dict[str, Any] | None = None
    for modification in modifications:
        if modification["fieldId"] not in _names(label):
            message = f"{short(modification['fieldId'])} is not a field of {label.key}; its field is {label.key}"
            raise ToolError("INVALID_LABEL_FIELD", message, "fieldId")
        if modification.get("unsetValues"):
            values = {}
        if (text := _given(label, modification)) is not None:
            column, read = _READERS.get(label.type or "string", _READERS["string"])
            value = read(text, label)
            if value is None:
                allowed = f"; options: {', '.join(map(str, options))}" if (options := loaded(label.options, [])) else ""
                message = f"{short(text)} is not a value of {label.key}, a label of the type {label.type}{allowed}"
                raise ToolError("INVALID_LABEL_VALUE", message, "fieldModifications")
            values = {column: value}
    return values


def _names(label: Label) -> tuple[str, ...]:
    """Ids of a label's only field."""
    return label.key, label.id, "value"


def _given(label: Label, modification: Mapping[str, Any]) -> str | None:
    lists = [
        modification[name]
        for name in ("setSelectionValues", "setDateValues", "setIntegerValues", "setTextValues", "setUserValues")
        if modification.get(name)
    ]
    if not lists:
        return None
    if len(lists) > 1 or len(lists[0]) > 1:
        raise ToolError("INVALID_LABEL_VALUE", f"{label.key} has one value", "fieldModifications")
    return str(lists[0][0])


def _date(text: str, _label: Label) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _number(text: str, _label: Label) -> float | None:
    return float(text) if re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,9})?", text) else None


_READERS: Mapping[str, tuple[str, Callable[[str, Label], Any]]] = {
    "enum": ("value_enum", lambda text, label: text if text in loaded(label.options, []) else None),
    "date": ("value_date", _date),
    "number": ("value_number", _number),
    "boolean": ("value_boolean", lambda text, _label: {"true": True, "false": False}.get(text.lower())),
    "string": ("value_string", lambda text, _label: text or None),
}
"""Column of a value and how it is read, by the label's type."""


# --- searches --------------------------------------------------------------------------------------------------------

_KINDS: Mapping[str, Kind] = {
    "enum": "choice field",
    "date": "date field",
    "number": "number field",
    "boolean": "flag field",
}
"""Kind of a search's term by the label's type; a label of another type has a text."""


async def field_terms(gym: Gym, search: str) -> dict[str, Term]:
    """Terms for the values of the labels that a search names: `labels/<label>.<field>`, the label by its id or key."""
    named = {match[0]: match for match in re.finditer(rf"{FIELDS}([A-Za-z0-9_-]+)\.([A-Za-z0-9_.-]+)", search)}
    if not named:
        return {}
    keys = {match[1] for match in named.values()}
    labels = await gym.all(Label, or_(Label.id.in_(keys), Label.key.in_(keys)))
    return {
        term: Term(_KINDS.get(label.type or "", "text field"), tuple(loaded(label.options, [])))
        for term, match in named.items()
        for label in labels
        if match[1] in (label.id, label.key) and match[2] in _names(label)
    }
