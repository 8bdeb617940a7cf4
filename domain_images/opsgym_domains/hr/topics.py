"""Topics of the catalogue: details, and the categories that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func

from opsgym_domains.hr.filters import refuse_no_filters
from opsgym_domains.hr.references import CATEGORY, by_names, resolve
from opsgym_domains.hr.results import Shown, changed, shown, shown_all
from opsgym_domains.hr.tables import TopicCategory, TopicDetail
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym

NAMES = {"topic_category": CATEGORY}
WORDS = {"topic_category": "Full name of an existing topic category"}


@tool(row=TopicDetail, words={"topic_category": "Name of the topic category; a part of it, in any case"})
async def get_topic_details(gym: Gym, **filters: Any) -> list[Shown]:
    """List topic details that match all filters, lowest id first, each with its category.

    Give at least one filter (MISSING_FILTER).
    """
    refuse_no_filters(filters)
    category = {"topic_category": (CATEGORY, TopicDetail.topic_category)}
    conditions = await by_names(gym, filters, category, partial=True)
    return await shown_all(gym, await gym.list(TopicDetail, filters, *conditions))


@tool(row=TopicCategory)
async def get_topic_categories(gym: Gym, **filters: Any) -> list[Shown]:
    """List topic categories that match all filters, lowest id first.

    Give at least one filter (MISSING_FILTER). Each is returned with topic_details_count, the number of its details.
    """
    refuse_no_filters(filters)
    categories: Sequence[TopicCategory] = await gym.list(TopicCategory, filters)
    counts = await gym.grouped(TopicDetail.topic_category, func.count())
    listed = await shown_all(gym, categories)
    return [one | {"topic_details_count": counts.get(one["topic_category_id"], 0)} for one in listed]


@tool(adds=TopicDetail, words=WORDS)
async def add_new_topic_detail(gym: Gym, **fields: Any) -> Shown:
    """Add a topic to the catalogue.

    The name must be unique (DUPLICATE_TOPIC_DETAIL_NAME), and the category must exist. Returns the new topic detail.
    """
    return await shown(gym, await gym.insert(TopicDetail(**await resolve(gym, fields, NAMES))))


@tool(changes=TopicDetail, words=WORDS)
async def update_topic_detail(gym: Gym, topic_detail_id: str, **fields: Any) -> Shown:
    """Update a topic detail. Fields that are not given keep their value; give the name in any case.

    The name must be unique (DUPLICATE_TOPIC_DETAIL_NAME), and the category must exist. Refused (NO_CHANGES_DETECTED) if
    no value differs from the stored one. Returns the topic detail, and in `changes` the fields that changed.
    """
    given = await resolve(gym, changes(fields), NAMES)
    return await changed(gym, await gym.fetch(TopicDetail, topic_detail_id), given)


@tool(adds=TopicCategory)
async def add_new_topic_category(gym: Gym, **fields: Any) -> TopicCategory:
    """Add a topic category to the catalogue.

    The name must be unique (DUPLICATE_TOPIC_CATEGORY_NAME). Returns the new category.
    """
    return await gym.insert(TopicCategory(**fields))


@tool(changes=TopicCategory)
async def update_topic_category(gym: Gym, topic_category_id: str, **fields: Any) -> Shown:
    """Update a topic category. Fields that are not given keep their value; give the name in any case.

    The name must be unique (DUPLICATE_TOPIC_CATEGORY_NAME). Refused (NO_CHANGES_DETECTED) if no value differs from the
    stored one. Returns the category, and in `changes` the fields that changed.
    """
    return await changed(gym, await gym.fetch(TopicCategory, topic_category_id), changes(fields))
