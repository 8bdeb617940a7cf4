"""Commands for the person who looks after runs in a cluster: `status`, `why` and `logs`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from opsgym.command_line.group import Command, cli

if TYPE_CHECKING:
    from opsgym.commands.cluster_run import Request

_NAMED = (
    click.argument("run"),
    click.argument("trial", required=False, metavar="[TASK/N]"),
    click.option("--cell", metavar="MODEL/AGENT/MODE/DOMAIN", help="Cell of the trial, if several run the task."),
    click.option("-n", "--namespace", help="Namespace of the EvalRun. Default: that of the context."),
    click.option("--context", metavar="NAME", help="Kube context of the cluster. Default: the current one."),
)


def _names_run(command: Command) -> Callable[..., int]:
    """Adds the arguments that name a run or a trial in a cluster; the command receives them as one `Request`."""

    @wraps(command)
    def with_request(
        run: str, trial: str | None, cell: str | None, namespace: str | None, context: str | None, **options: Any
    ) -> int:
        return command(_request(run, trial, cell, namespace, context), **options)

    for option in reversed(_NAMED):
        with_request = option(with_request)
    return with_request


def _request(run: str, trial: str | None, cell: str | None, namespace: str | None, context: str | None) -> Request:
    from opsgym.cluster import Cluster
    from opsgym.commands.cluster_run import Request

    return Request(run, trial, cell, Cluster(namespace, context))


@cli.command()
@_names_run
def status(request: Request) -> int:
    """Print the conditions and pods of an EvalRun, or the pods and attempts of a trial.

    RUN is the name of an EvalRun in a cluster; N counts from 0. Pods that need a look come first.

    \b
      kubectl opsgym status nightly -n evals
      kubectl opsgym status nightly itsm-014/0 -n evals
    """
    from opsgym.commands.cluster_run import status as command

    return command(request)


@cli.command()
@_names_run
def why(request: Request) -> int:
    """Print why an EvalRun or a trial is as it is, what to do next, and its entry in the runbook.

    RUN is the name of an EvalRun in a cluster; N counts from 0.

    \b
      kubectl opsgym why nightly -n evals
      kubectl opsgym why nightly itsm-014/0 -n evals
    """
    from opsgym.commands.cluster_run import why as command

    return command(request)


@cli.command()
@_names_run
@click.option("-c", "--container", metavar="NAME", help="agent, postgres, gym-DOMAIN. Default: each that has started.")
@click.option(
    "--tail", type=click.IntRange(-1), default=100, show_default=True, help="Lines of each container; -1 for all."
)
@click.option("-f", "--follow", is_flag=True, help="Go on with new lines of one container, by default the agent's.")
@click.option("--previous", is_flag=True, help="Print the log from before the last start of containers.")
def logs(request: Request, container: str | None, tail: int, follow: bool, previous: bool) -> int:
    """Print the logs of a trial's pod: agent, gym servers, Postgres.

    Each line begins with the name of its container. Without a trial, the pod is the one that needs a look most. RUN is
    the name of an EvalRun in a cluster; N counts from 0.

    \b
      kubectl opsgym logs nightly itsm-014/0 -n evals
      kubectl opsgym logs nightly itsm-014/0 -n evals --container agent --follow
    """
    from opsgym.commands.cluster_run import LogOptions
    from opsgym.commands.cluster_run import logs as command

    return command(request, LogOptions(container, tail, follow, previous))
