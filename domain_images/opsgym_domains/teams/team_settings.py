"""Settings that a new team has.

Invariant: every group of settings is a column of the team's row, as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "member_settings": {
        "allowCreateUpdateChannels": True,
        "allowCreatePrivateChannels": True,
        "allowDeleteChannels": True,
        "allowAddRemoveApps": True,
        "allowCreateUpdateRemoveTabs": True,
        "allowCreateUpdateRemoveConnectors": True,
    },
    "guest_settings": {"allowCreateUpdateChannels": False, "allowDeleteChannels": False},
    "messaging_settings": {
        "allowUserEditMessages": True,
        "allowUserDeleteMessages": True,
        "allowOwnerDeleteMessages": True,
        "allowTeamMentions": True,
        "allowChannelMentions": True,
    },
    "fun_settings": {
        "allowGiphy": True,
        "giphyContentRating": "moderate",
        "allowStickersAndMemes": True,
        "allowCustomMemes": True,
    },
    "discovery_settings": {"showInTeamsSearchAndSuggestions": True},
}
"""Settings of a new team, by column."""
