"""Plans every EvalRun of a namespace: assess each run, allocate slots over all runs, conclude each run.

Invariant: a plan is a function of its arguments. The same observation gives the same plan, so the operator may stop at
any point; and repeated plans of what they bring about come to an end.

One call plans the whole namespace because its runs share models: two plans made apart would allocate a free slot twice.
"""

from __future__ import annotations

from datetime import datetime

from opsgym_operator.config import OperatorConfig
from opsgym_operator.observe.objects import ObservedNamespace
from opsgym_operator.plan.assess import assess
from opsgym_operator.plan.conclude import conclude
from opsgym_operator.plan.desired import Desired
from opsgym_operator.plan.slots import allocate


def plan(namespace: ObservedNamespace, config: OperatorConfig, now: datetime, version: str) -> dict[str, Desired]:
    """What should be done for each EvalRun, by its uid; runs that are being deleted are left out.

    Args:
        namespace: The observation.
        config: The operator's configuration.
        now: The time, with its zone.
        version: Version of opsgym, for `run.json`.
    """
    runs = sorted((run for run in namespace.runs if not run.deleting), key=lambda run: (run.created_at, run.uid))
    assessed = {run.uid: assess(run, namespace, config, now, version) for run in runs}
    demands = {uid: item.frozen.demands for uid, item in assessed.items() if item.frozen is not None}
    allocations = allocate(demands, namespace)
    return {uid: conclude(item, allocations.get(uid, ()), config, now) for uid, item in assessed.items()}
