"""`opsgym tasks show`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from textwrap import indent

import click

from opsgym.commands.suite_tasks import find_task
from opsgym.exits import Exit
from opsgym_api.tasks.task import Task, ToolCall


def show_task(name: str, suite: str | None, *, as_json: bool, with_policy: bool) -> int:
    """Prints one row.

    Args:
        name: Id of a task, or a file with one row.
        suite: Built-in suite, file or folder that the task is in; None for all built-in suites.
        as_json: Whether to print the row as JSON.
        with_policy: Whether to print the system prompt.

    Raises:
        InputError: The task is not found, or a row is not valid.
    """
    task, _ = find_task(name, suite)
    if as_json:
        click.echo(json.dumps(task.model_dump(mode="json", exclude_defaults=True), indent=2, ensure_ascii=False))
    else:
        for line in _lines(task, with_policy=with_policy):
            click.echo(line)
    return Exit.OK


def _lines(task: Task, *, with_policy: bool) -> Iterator[str]:
    steps = "" if task.steps is None else f", {task.steps} step{'' if task.steps == 1 else 's'}"
    yield f"{task.task_id}  ({task.domain_name}, {'feasible' if task.feasible else 'infeasible'}{steps}, {task.access})"
    for server in task.gym_servers_config:
        user = ", ".join(f"{name}: {value}" for name, value in server.headers.items())
        yield f"gym server  {server.mcp_server_name}  seed {server.seed_database_file}  {user}".rstrip()
    if with_policy:
        yield f"\nSystem prompt\n{indent(task.system_prompt, '  ')}"
    else:
        yield f"policy      {len(task.system_prompt.splitlines())} lines (--policy prints them)"
    yield f"\nRequest\n{indent(task.user_prompt, '  ')}"
    for number, day in enumerate(task.days, start=2):
        yield f"\nDay {number}, from {day.begins_at}\n{indent(day.message, '  ')}"
    yield from _listed("Events", (_compact(event.model_dump(exclude_defaults=True)) for event in task.events))
    yield from _listed("Tools", task.selected_tools or ["all"])
    yield from _listed("Gold actions", map(_action, task.gold_actions or []))
    yield from _listed("Gold answers", task.gold_answers or [task.gold_answer or "–"])
    yield from _listed(
        "Verifiers",
        (
            f"{index}  {verifier.name or 'unnamed'}  ({verifier.verifier_type}, {verifier.category})"
            + (f"\n{verifier.description}" if verifier.description else "")
            + f"\n{_compact(verifier.validation_config)}"
            for index, verifier in enumerate(task.verifiers)
        ),
    )


def _action(call: ToolCall) -> str:
    return f"{f'{call.gym}: ' if call.gym else ''}{call.name} {_compact(call.arguments)}"


def _listed(title: str, items: Iterable[str]) -> Iterator[str]:
    """A heading with its items, of which lines after the first are indented; nothing without items."""
    texts = list(items)
    if texts:
        yield f"\n{title}"
        yield from ("  " + text.replace("\n", "\n      ") for text in texts)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
