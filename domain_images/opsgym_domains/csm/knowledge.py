"""Knowledge articles, and their links to cases.

Invariant: the number of a new article contains its id, for instance KB000042. Numbers of seeded articles may have the
form KB-0000042.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypedDict, cast

from opsgym_domains.csm.article_ranking import score
from opsgym_domains.csm.enums import ArticleState, Visibility
from opsgym_domains.csm.tables import CaseKnowledge, Knowledge
from opsgym_domains.csm.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.filters import matching
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import Deleted
from opsgym_domains.kit.schema import columns_but

SEARCH = {
    "search_text": "Words to search for in titles and bodies; more words give better ranking",
    "limit": "Maximum number of articles to return; all if omitted",
}
IN_SEARCH = (*columns_but(Knowledge, "body", "sys_updated_on"), "body")


class ArticleHit(TypedDict, total=False):
    """An article in a search result."""

    knowledge_id: int
    kb_number: str
    title: str
    state: ArticleState
    visibility: Visibility
    product_id: int | None
    owner_id: int
    sys_created_on: datetime | None
    body: str
    score: float


# --- articles ------------------------------------------------------------------------------------------------------


@tool(row=Knowledge, words=SEARCH)
async def retrieve_knowledge(gym: Gym, **options: Any) -> Sequence[ArticleHit]:
    """Search knowledge articles, optionally filtered.

    Filters are combined with AND; the title matches a part, ignoring case; all other filters match exactly. With
    search_text, every article that passes the filters gets a score and the results are sorted by score, highest first:
    words count more in the title than in the body, and more if they occur in the given order. Articles without any of
    the words are returned too, so give a limit and check the scores. Without search_text, results are sorted newest
    first.
    """
    search, limit = options.pop("search_text", None), options.pop("limit", None)
    if limit is not None and limit < 0:
        raise ToolError("VALUE_TOO_SMALL", "limit must be at least 0", "limit")
    articles = await gym.all(Knowledge, *matching(Knowledge, options, partial=("title",)), newest_first=True)
    hits = [_hit(article, search) for article in articles]
    hits.sort(key=lambda article: article.get("score", 0.0), reverse=True)
    return hits[:limit]


@tool(adds=Knowledge)
async def create_knowledge(gym: Gym, **fields: Any) -> Knowledge:
    """Create a knowledge article.

    Id and number are generated. Owner and product must exist. Returns the new article.
    """
    return await gym.insert(Knowledge(**fields))


@tool(changes=Knowledge)
async def update_knowledge(gym: Gym, knowledge_id: int, **fields: Any) -> Knowledge:
    """Update fields of a knowledge article. Fields that are not given keep their value.

    The body cannot be updated: create a new article and retire the old one. Owner and product must exist, and the
    number must be unique (DUPLICATE_KB_NUMBER). Returns the updated article.
    """
    return await gym.change(Knowledge, knowledge_id, fields)


# --- links to cases ------------------------------------------------------------------------------------------------


@tool()
async def find_case_knowledge_linkages(gym: Gym, **filters: Any) -> Sequence[CaseKnowledge]:
    """List links between cases and knowledge articles, lowest id first.

    Filters are combined with AND and match exactly; without filters, every link is returned.
    """
    return await gym.list(CaseKnowledge, filters)


@tool(adds=CaseKnowledge)
async def link_case_knowledge(gym: Gym, **fields: Any) -> CaseKnowledge:
    """Link a knowledge article to a case: as suggested, applied, or as the resolution.

    Case and article must exist, and the article must not be linked to the case with the same use yet
    (DUPLICATE_CASE_KNOWLEDGE). Returns the link.
    """
    return await gym.insert(CaseKnowledge(**fields))


@tool(changes=CaseKnowledge)
async def updated_linked_case_knowledge(gym: Gym, case_kb_id: int, **fields: Any) -> CaseKnowledge:
    """Update a link between a case and a knowledge article. Fields that are not given keep their value.

    Case and article must exist, and they must not be linked with the same use by another link
    (DUPLICATE_CASE_KNOWLEDGE). Returns the updated link.
    """
    return await gym.change(CaseKnowledge, case_kb_id, fields)


@tool(removes=CaseKnowledge)
async def delete_case_knowledge_linkages(gym: Gym, **filters: Any) -> Deleted:
    """Delete links between cases and knowledge articles. Cases and articles are not deleted.

    Give at least one argument. Every link that matches all of them is deleted: give case_kb_id to delete exactly one.
    Returns the number of deleted links, which may be 0.
    """
    return {"deleted": len(await gym.remove(CaseKnowledge, filters))}


def _hit(article: Knowledge, search: str | None) -> ArticleHit:
    shown = {name: getattr(article, name) for name in IN_SEARCH}
    if search is not None:
        shown["score"] = score(search, title=article.title, body=article.body, state=article.state)
    return cast("ArticleHit", shown)
