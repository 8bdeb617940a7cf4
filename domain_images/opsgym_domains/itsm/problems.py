"""Problems: the underlying causes of incidents."""

from __future__ import annotations

from typing import Any

from opsgym_domains.itsm.assignments import list_assigned
from opsgym_domains.itsm.tables import Problem
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import Counted, counted


@tool(adds=Problem)
async def create_problem(gym: Gym, **fields: Any) -> Problem:
    """Open a problem in your own organisation; opened_by is set to the acting user.

    Id and number are generated. Give the incident from which you open the problem in original_task. All referenced
    records must exist. Returns the new problem.
    """
    return await gym.insert(Problem(**fields))


@tool(
    changes=Problem,
    words={
        "problem_id": "Problem to update (problem id); give this or number",
        "number": "Number of the problem to update; give this or problem_id",
    },
)
async def update_problem(gym: Gym, problem_id: str | None = None, number: str | None = None, **fields: Any) -> Problem:
    """Update fields of a problem. Fields that are not given keep their value.

    Identify the problem by id or by number, not both. An empty string clears a text or a reference. Refused
    (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the updated problem.
    """
    return await gym.change(Problem, {"problem_id": problem_id, "number": number}, fields)


@tool(words={"number": "Full number, for instance PRB0000042"})
async def find_problem_by_number(gym: Gym, number: str) -> Problem:
    """Look up one problem by its number.

    Returns every field of the problem, including the id that other tools require. Refused (PROBLEM_NOT_FOUND) if no
    problem has this number.
    """
    return await gym.fetch_by(Problem, number=number.strip())


@tool()
async def list_problems(gym: Gym, **filters: Any) -> Counted[Problem]:
    """List problems, newest first, optionally filtered.

    Filters are combined with AND; text filters match a part of the text, ignoring case; all other filters match
    exactly. Without filters, every problem is returned. Returns problems and total_count.
    """
    return counted("problems", await gym.list(Problem, filters))


@tool()
async def get_problems_assigned_to(gym: Gym, **assignment: Any) -> Counted[Problem]:
    """List the problems that are assigned to a group or a user, newest first.

    Give a group, a user, or both; with both, only problems assigned to the user and to the group are returned. Returns
    problems and total_count.
    """
    return counted("problems", await list_assigned(gym, Problem, assignment))
