"""Built-in tasks that are files: what their references mean, and files that cannot become rows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.suites.conftest import Gyms
from tests.suites.rotation import is_proved
from tools.play_tasks import SuiteBuilder, values_read

from opsgym_api.errors import InputError
from opsgym_api.tasks.task_file import Step, TaskFile
from opsgym_runner.gyms.client import http_client
from opsgym_suites.hr.authored import CORE, TASKS
from opsgym_suites.kit.drafts import Draft
from opsgym_suites.kit.task_files import FOLDER, FileDraft, played_digest, read_task, values_of, values_played

PATHS: Sequence[Path] = sorted(FOLDER.glob("*/*/*.yaml"))
WORLD = next(part.world() for part in CORE.parts if part.seed == "hospital")
FILE: dict[str, Any] = {
    "id": "hr-core-an-account-changes",
    "world": "hr/hospital",
    "actor": "Ingrid Solheim",
    "request": "Arjun Pillai moves to another desk.",
    "solution": [
        {"get_user_using_name": {"first_name": "Arjun", "last_name": "Pillai"}, "as": "arjun"},
        {"update_user_details": {"user_id": "$arjun.user_id", "role": "manager"}},
    ],
    "answer": "Done for ${arjun.last_name}.",
    "report": {"names the person": {"fact": "$arjun.last_name", "rule": "REF-3"}},
    "wrong": {
        "asks as well": {"then": [{"get_user": {"user_id": "$arjun.user_id"}}]},
        "keeps the role": {"change": {"update_user_details": {"role": None}}, "refused": "USR-1"},
    },
}


def draft(**changed: Any) -> Draft:
    """The draft of a file, whose references mean a user of the seed."""
    values = {"$arjun.user_id": WORLD.user("Arjun Pillai").user_id, "$arjun.last_name": "Pillai"}
    return FileDraft(TASKS, WORLD, TaskFile.model_validate({**FILE, **changed}), values).draft()


def _name(path: Path) -> str:
    return f"{path.parent.parent.name}-core-{path.stem}"


@pytest.mark.parametrize("path", [path for path in PATHS if is_proved(_name(path))], ids=lambda path: path.stem)
def test_references_mean_what_a_play_of_the_task_reads(gyms: Gyms, path: Path) -> None:
    domain, file = path.parent.parent.name, read_task(path)
    url = gyms(domain).url

    async def play() -> dict[str, Any]:
        async with http_client() as http:
            builder = SuiteBuilder(http, {domain: url}, datetime.now(UTC).replace(tzinfo=None))
            return await values_read(builder, path, file)

    assert asyncio.run(play()) == values_of(path, file, values_played(FOLDER / domain))


def test_a_file_whose_calls_have_changed_since_it_was_played_is_refused() -> None:
    path = PATHS[0]
    file, played = read_task(path), values_played(path.parents[1])
    step = Step.model_validate({"get_user": {}})
    with pytest.raises(InputError, match=r"has changed since it was played; run `python -m tools\.play_tasks"):
        values_of(path, file.model_copy(update={"solution": [*file.solution, step]}), played)


def test_words_of_a_file_may_change_without_another_play() -> None:
    file = read_task(PATHS[0])
    assert played_digest(file) == played_digest(file.model_copy(update={"plan": ["Look"], "wordings": ["Please"]}))


def test_calls_answer_and_report_have_the_values_of_their_references() -> None:
    made = draft()
    user = WORLD.user("Arjun Pillai").user_id
    assert [call.arguments for call in made.gold][1] == {"user_id": str(user), "role": "manager"}
    assert made.answer == "Done for Pillai."
    (says,) = [check for check in made.verifiers if check.name == "names_the_person"]
    assert (says.description, says.answer_match.patterns) == (
        "The answer names the person [REF-3]", [r"(?<!\w)Pillai(?!\w)"])  # fmt: skip


def test_more_calls_are_a_mistake_and_other_ways_trajectories_of_their_own() -> None:
    made = draft()
    assert [call.name for call in made.mistakes["asks as well"]] == ["get_user"]
    trajectory = made.negative_trajectories["keeps the role"]
    assert (list(trajectory.calls[1].arguments), trajectory.rule) == (["user_id"], "USR-1")


def test_a_row_is_judged_by_what_its_step_accepts() -> None:
    steps = [FILE["solution"][0], {**FILE["solution"][1], "accept": {"role": {"any_of": ["manager", "agent"]}}}]
    (row,) = draft(solution=steps).verifiers[0].validation_config["rows"]
    assert row["values"]["role"] == {"any_of": ["manager", "agent"]}


def test_a_name_that_no_or_several_users_have_is_refused() -> None:
    with pytest.raises(LookupError, match="0 users of hr are called Ada Nowhere"):
        draft(actor="Ada Nowhere")
