"""Colours of calendars and events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opsgym_domains.calendar.tables import Color
from opsgym_domains.calendar.toolbox import tool
from opsgym_domains.kit.gym import Gym

FOREGROUND = "#1d1d1d"
BACKGROUNDS: Mapping[str, str] = {
    "1": "#ac725e", "2": "#d06b64", "3": "#f83a22", "4": "#fa57c4", "5": "#9fc6e7",
    "6": "#9a9cff", "7": "#4986e7", "8": "#9aa116", "9": "#ef6c00", "10": "#ff7537",
    "11": "#42d692", "12": "#16a765", "13": "#7bd148", "14": "#b3dc6c", "15": "#fbe983",
    "16": "#fad165", "17": "#92e1c0", "18": "#9fe1e7", "19": "#9fc6e7", "20": "#4986e7",
    "21": "#9aa116", "22": "#16a765", "23": "#ff7537", "24": "#ffad46",
}  # fmt: skip
"""Background of a calendar by colour, which the published server sets with `colorId` whatever its table of colours
holds (sample data of OpenEnv's calendar server)."""


@tool()
async def get_colors(gym: Gym) -> dict[str, Any]:
    """List the colours that calendars and events may have.

    Returns background and foreground of each colour by its id, for calendars and for events.
    """
    colors = await gym.all(Color)
    updated = max((color.updated_at for color in colors if color.updated_at), default=None)
    return {
        "kind": "calendar#colors",
        "updated": updated.isoformat() if updated else f"{gym.now():%Y-%m-%dT%H:%M:%S.%f}.000Z",
        "calendar": _pairs(colors, "CALENDAR"),
        "event": _pairs(colors, "EVENT"),
    }


def _pairs(colors: Any, kind: str) -> dict[str, Any]:
    chosen = [color for color in colors if color.color_type == kind]
    return {color.color_id: {"background": color.background, "foreground": color.foreground} for color in chosen}
