"""Builder of the verifiers of calendar tasks."""

from __future__ import annotations

from opsgym_domains.calendar.tables import AclRule, Calendar, Event, User, WatchChannel
from opsgym_suites.calendar.effects import EFFECTS
from opsgym_suites.kit.derived_verifiers import OfActor, VerifierBuilder

VERIFIERS = VerifierBuilder(
    EFFECTS,
    rules={
        "create_calendar": "ID-4",
        "patch_calendar": "ID-4",
        "update_calendar": "ID-4",
        "clear_calendar": "ID-4",
        "delete_calendar": "ID-4",
        "update_calendar_in_list": "ID-4",
        "replace_calendar_in_list": "ID-4",
        "remove_calendar_from_list": "ID-4",
        "add_calendar_to_list": "ID-4",
        "watch_acl": "ID-4",
        "watch_events": "ID-4",
        "watch_settings": "ID-4",
        "watch_calendar_list": "ID-4",
        "update_acl_rule": "SHR-1, SHR-3",
        "update_event": "EVT-4, EVT-6",
        "insert_acl_rule": "SHR-1, SHR-3",
        "patch_acl_rule": "SHR-1, SHR-3",
        "delete_acl_rule": "SHR-2",
        "create_event": "EVT-1, EVT-2, EVT-3",
        "quick_add_event": "EVT-1",
        "import_event": "EVT-1, ID-4",
        "patch_event": "EVT-4, EVT-5, EVT-6",
        "move_event": "EVT-4",
        "delete_event": "EVT-5",
    },
    free_text={"description"},
    defaults={
        Calendar: {"user_id": OfActor("user_id")},
        AclRule: {"user_id": OfActor("user_id"), "scope_id": OfActor("scope_id")},
        WatchChannel: {"user_id": OfActor("user_id")},
        Event: {
            "user_id": OfActor("user_id"),
            "organizer_id": OfActor("user_id"),
            "organizer_email": OfActor("email"),
            "organizer_display_name": OfActor("name"),
            "organizer_self": True,
        },
    },
    shown_keys={Event: "id", Calendar: "id", AclRule: "id", User: "id"},
)
with_verifiers, with_scenario_verifiers = VERIFIERS.with_verifiers, VERIFIERS.with_scenario_verifiers
