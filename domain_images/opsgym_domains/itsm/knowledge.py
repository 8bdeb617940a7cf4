"""Knowledge articles, and their links to incidents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from opsgym_domains.itsm.enums import UsedAs
from opsgym_domains.itsm.tables import IncidentKnowledge, Knowledge
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import Counted, counted, deleted

# --- articles ------------------------------------------------------------------------------------------------------


@tool()
async def retrieve_knowledge_articles(gym: Gym, **filters: Any) -> Counted[Knowledge]:
    """List knowledge articles, newest first, optionally filtered.

    Filters are combined with AND; title and body match a part of the text, ignoring case; all other filters match
    exactly. Without filters, every article is returned, including its body. Returns knowledge_articles and total_count.
    """
    return counted("knowledge_articles", await gym.list(Knowledge, filters))


@tool(adds=Knowledge)
async def create_knowledge_article(gym: Gym, **fields: Any) -> Knowledge:
    """Create a knowledge article in your own organisation.

    Id and number are generated; state defaults to published and visibility to internal. The owner must exist and must
    not own another article with this title (DUPLICATE_ARTICLE). Returns the new article.
    """
    return await gym.insert(Knowledge(**fields))


@tool(
    changes=Knowledge,
    words={
        "knowledge_id": "Article to update (knowledge id); give this or kb_number",
        "kb_number": "Number of the article to update; give this or knowledge_id",
    },
)
async def update_knowledge_article(
    gym: Gym, knowledge_id: str | None = None, kb_number: str | None = None, **fields: Any
) -> Knowledge:
    """Update fields of a knowledge article. Fields that are not given keep their value.

    Identify the article by id or by number, not both. An empty body clears it. Its owner must not own another article
    with the same title (DUPLICATE_ARTICLE). Refused (NO_CHANGES_DETECTED) if no value differs from the stored one. To
    withdraw an article, set its state to retired. Returns the updated article.
    """
    return await gym.change(Knowledge, {"knowledge_id": knowledge_id, "kb_number": kb_number}, fields)


# --- links to incidents --------------------------------------------------------------------------------------------


@tool(words={"used_as": "Uses, separated by commas: suggested, applied, resolution"})
async def find_incident_knowledge_links(gym: Gym, used_as: str = "", **filters: Any) -> Sequence[IncidentKnowledge]:
    """List links between incidents and knowledge articles, newest first.

    Filters are combined with AND; used_as matches any of the given uses. Without filters, every link is returned.
    """
    uses = [use.strip() for use in used_as.split(",") if use.strip()]
    for use in uses:
        if use not in get_args(UsedAs):
            allowed = ", ".join(get_args(UsedAs))
            raise ToolError("INVALID_ENUM_VALUE", f"{short(use)} is not allowed; allowed: {allowed}", "used_as")
    return await gym.list(IncidentKnowledge, {**filters, "used_as": uses})


@tool(adds=IncidentKnowledge)
async def link_knowledge_to_incident(gym: Gym, **fields: Any) -> IncidentKnowledge:
    """Link a knowledge article to an incident: as suggested, applied, or as the resolution.

    Incident and article must exist, and the article must not be linked to the incident yet
    (DUPLICATE_INCIDENT_KNOWLEDGE). Returns the link.
    """
    return await gym.insert(IncidentKnowledge(**fields))


@tool(
    removes=IncidentKnowledge,
    words={
        "incident_id": "Incident id; requires knowledge_id",
        "knowledge_id": "Article id (knowledge id); requires incident_id",
        "used_as": "Remove the link only if it has this use",
    },
)
async def remove_knowledge_link_to_incident(gym: Gym, **keys: Any) -> Counted[IncidentKnowledge]:
    """Remove the link between an incident and a knowledge article. Incident and article are not deleted.

    Identify the link by its id, or by incident and article. Refused (INCIDENT_KNOWLEDGE_LINK_NOT_FOUND) if the link
    does not exist, or if its use differs from used_as. Returns the removed link.
    """
    given = {name: value for name, value in keys.items() if value}
    if "incident_kb_id" not in given and not {"incident_id", "knowledge_id"} <= set(given):
        raise ToolError("MISSING_FIELD", "give incident_kb_id, or both incident_id and knowledge_id", "incident_kb_id")
    return deleted("deleted_links", await gym.remove(IncidentKnowledge, given))
