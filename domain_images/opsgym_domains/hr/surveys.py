"""Surveys, and the instances that users answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.hr.results import Shown, changed
from opsgym_domains.hr.tables import Survey, SurveyInstance
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym


@tool()
async def list_surveys(gym: Gym, **filters: Any) -> Sequence[Survey]:
    """List surveys with their questions, lowest id first, optionally filtered.

    Filters are combined with AND; questions match a part, ignoring case.
    """
    return await gym.list(Survey, filters)


@tool(adds=Survey)
async def create_survey(gym: Gym, **fields: Any) -> Survey:
    """Create a survey of up to five questions.

    Give at least one question (MISSING_QUESTION). Users are asked only when you create an
    instance. Returns the new survey.
    """
    if not any(str(question).strip() for question in fields.values()):
        raise ToolError("MISSING_QUESTION", "give at least one question", "question_1")
    return await gym.insert(Survey(**fields))


@tool(changes=Survey)
async def update_survey(gym: Gym, survey_id: int, **fields: Any) -> Shown:
    """Update questions of a survey. Questions that are not given stay.

    Answers that users gave before stay as they are. Refused (NO_CHANGES_DETECTED) if no question differs from the
    stored one. Returns the survey, and in `changes` the questions that changed.
    """
    given = changes(fields)
    return await changed(gym, await gym.fetch(Survey, survey_id), given)


# --- instances -----------------------------------------------------------------------------------------------------


@tool()
async def list_survey_instances(gym: Gym, **filters: Any) -> Sequence[SurveyInstance]:
    """List survey instances with their answers, lowest id first, optionally filtered.

    Filters are combined with AND; answers match a part, ignoring case. An instance without answers is still open.
    """
    return await gym.list(SurveyInstance, filters)


@tool(adds=SurveyInstance)
async def create_survey_instance(gym: Gym, **fields: Any) -> SurveyInstance:
    """Ask a user to answer a survey, for a task if one is given.

    Survey, task and user must exist. Answers may be given now or by update_survey_instance. Returns the new instance.
    """
    return await gym.insert(SurveyInstance(**fields))


@tool(changes=SurveyInstance)
async def update_survey_instance(gym: Gym, survey_instance_id: int, **fields: Any) -> Shown:
    """Update a survey instance: answers, the user who answers, or the task. Other fields keep their value.

    Survey, task and user must exist. Refused (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the
    instance, and in `changes` the fields that changed.
    """
    given = changes(fields)
    return await changed(gym, await gym.fetch(SurveyInstance, survey_instance_id), given)
