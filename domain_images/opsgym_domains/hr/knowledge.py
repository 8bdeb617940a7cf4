"""Knowledge articles, and their links to cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.hr.numbering import next_number
from opsgym_domains.hr.results import Shown, changed
from opsgym_domains.hr.tables import HrCase, HrCaseKnowledge, Knowledge
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import Deleted


@tool()
async def retrieve_knowledge_articles(gym: Gym, **filters: Any) -> Sequence[Knowledge]:
    """List knowledge articles, lowest id first, optionally filtered.

    Filters are combined with AND; title and text match a part, ignoring case; all other filters match exactly.
    """
    return await gym.list(Knowledge, filters)


@tool(adds=Knowledge)
async def create_knowledge_article(gym: Gym, **fields: Any) -> Knowledge:
    """Create a knowledge article in your organisation.

    Id and number are generated; the owner must exist. Returns the new article.
    """
    number = await next_number(gym, Knowledge.kb_number, "KB-", 3)
    return await gym.insert(Knowledge(**fields, kb_number=number))


@tool(
    changes=Knowledge,
    words={
        "knowledge_id": "Knowledge article id; or give kb_number",
        "kb_number": "Number of the article, for instance KB-001; or give knowledge_id",
    },
)
async def update_knowledge_article(
    gym: Gym, knowledge_id: int | None = None, kb_number: str | None = None, **fields: Any
) -> Shown:
    """Update a knowledge article. Fields that are not given keep their value.

    Identify it by exactly one of knowledge_id and kb_number (INVALID_IDENTIFIER). The owner must exist. Refused
    (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the article, and in `changes` the fields that
    changed.
    """
    given = changes(fields)
    key = None if knowledge_id is None else str(knowledge_id)
    article = await (
        gym.fetch(Knowledge, key)
        if key is not None and kb_number is None
        else gym.fetch_either(Knowledge, knowledge_id=key, kb_number=kb_number)
    )
    return await changed(gym, article, given)


# --- links to cases ------------------------------------------------------------------------------------------------


@tool(adds=HrCaseKnowledge)
async def link_knowledge_to_hr_case(gym: Gym, **fields: Any) -> HrCaseKnowledge:
    """Attach a knowledge article to an HR case: as suggested, applied, or as the resolution.

    Case and article must exist and must not be linked yet (DUPLICATE_KNOWLEDGE_LINK). Returns the link.
    """
    return await gym.insert(HrCaseKnowledge(**fields))


@tool(words={"hr_case_kb_id": "Link id"})
async def find_hr_case_knowledge_links(gym: Gym, **filters: Any) -> Sequence[HrCaseKnowledge]:
    """List links between HR cases and knowledge articles, lowest id first, optionally filtered.

    Filters are combined with AND and match exactly; without filters, every link is returned.
    """
    return await gym.list(HrCaseKnowledge, filters)


@tool(
    removes=HrCaseKnowledge,
    words={
        "hr_case_kb_id": "Link to remove (link id); takes precedence over all other arguments",
        "hr_case_id": "Case whose links are removed (HR case id)",
        "knowledge_id": "Remove only the case's link to this article (knowledge article id)",
        "used_as": "Has no effect",
    },
)
async def remove_knowledge_link_to_hr_case(gym: Gym, **keys: Any) -> Deleted:
    """Remove links between an HR case and knowledge articles. Case and articles stay.

    Give hr_case_kb_id to remove one link, hr_case_id and knowledge_id to remove the link between the two, or hr_case_id
    alone to remove all links of a case (INVALID_IDENTIFIER otherwise). Returns the number of removed links.
    """
    if "hr_case_kb_id" in keys:
        filters = {"hr_case_kb_id": keys["hr_case_kb_id"]}
    elif "hr_case_id" in keys:
        await gym.fetch(HrCase, keys["hr_case_id"])
        filters = {name: keys[name] for name in ("hr_case_id", "knowledge_id") if name in keys}
    else:
        raise ToolError("INVALID_IDENTIFIER", "give hr_case_kb_id, or hr_case_id", "hr_case_id")
    return {"deleted": len(await gym.remove(HrCaseKnowledge, filters))}
