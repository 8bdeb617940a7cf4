"""Names, labels and annotations of the objects that the operator creates.

Invariant: a name follows from the identity of its owner and a number or a digest of the content. Two runs never share a
name, even if one is created under the name of a deleted one.
"""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from functools import lru_cache

from opsgym_operator.observe.objects import ObservedRun

LABEL_MANAGED_BY = "app.kubernetes.io/managed-by"
LABEL_PART_OF = "app.kubernetes.io/part-of"
LABEL_RUN = "opsgym.dev/run"
"""Name of the EvalRun."""
LABEL_RUN_UID = "opsgym.dev/run-uid"
LABEL_ROLE = "opsgym.dev/role"
"""`task` or `preflight`."""
LABEL_MODEL = "opsgym.dev/model"
"""Name of the model in its run."""
LABEL_EVAL_MODEL = "opsgym.dev/eval-model"
"""EvalModel whose slots are taken; absent for a model that is declared inline."""
LABEL_QUEUE = "kueue.x-k8s.io/queue-name"
LABEL_QUEUE_PRIORITY = "kueue.x-k8s.io/priority-class"
LABEL_SCHEDULE = "opsgym.dev/schedule"
"""Name of the EvalSchedule that created an EvalRun."""
LABEL_JOB_NAME = "batch.kubernetes.io/job-name"
"""Label of a pod, set by the Job controller: name of its Job."""
LABEL_INDEX = "batch.kubernetes.io/job-completion-index"
"""Label of a pod, set by the Job controller: its completion index."""
ANNOTATION_MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
ANNOTATION_CELL = "opsgym.dev/cell"
"""Key of the cell."""
ANNOTATION_SCHEDULED_AT = "opsgym.dev/scheduled-at"
"""Time that a scheduled EvalRun is for, RFC 3339."""

MANAGER = "opsgym-operator"
PART_OF = "opsgym"
TASK = "task"
PREFLIGHT = "preflight"

JOB_SPEC_KEY = "job.json"
"""Key of a Job's ConfigMap that holds what its pods run."""

LONGEST_BASE = 38
"""Characters of a run's name that the names of its objects begin with. Pods append `-preflight-xxxxxxxx-xxxxx` or less,
and Kubernetes limits the names of pods to 63 characters, since they are host names."""


def base_of(name: str) -> str:
    """A run's name as the beginning of its objects' names."""
    return label_of(name, LONGEST_BASE)


def label_of(name: str, longest: int = 63) -> str:
    """A name as a DNS label: unchanged if it is one and short enough, else cut and made unique by a digest."""
    if len(name) <= longest and "." not in name:
        return name
    cut = re.sub(r"[^a-z0-9]+", "-", name)[: longest - 6].strip("-")
    return f"{cut}-{_hex(name, 5)}"


def job_prefix(run: ObservedRun, cell: str) -> str:
    """Prefix of the names of a cell's Jobs; the number of the Job follows.

    Args:
        run: The run.
        cell: Key of the cell.
    """
    return f"{base_of(run.name)}-{_hex(f'{run.id} {cell}', 6)}-"


def preflight_name(run: ObservedRun, content: str) -> str:
    """Name of a preflight Job, which depends on what it checks and how."""
    return f"{base_of(run.name)}-preflight-{_hex(content, 8)}"


def scheduled_run_name(schedule: str, at: datetime) -> str:
    """Name of the EvalRun that a schedule creates for a time."""
    return f"{schedule}-{int(at.timestamp()) // 60}"


_TASK_NAME = re.compile(r"-[0-9a-f]{6}-(0|[1-9][0-9]*)")
_PREFLIGHT_NAME = re.compile(r"-preflight-[0-9a-f]{8}")


@lru_cache(maxsize=8192)
def role_of(name: str, run: str) -> str:
    """Role of an object that the operator created for a run, by its name; empty for a name that it does not give.

    Args:
        name: Name of a Job or ConfigMap.
        run: Name of the EvalRun.
    """
    base = base_of(run)
    if not name.startswith(base):
        return ""
    rest = name.removeprefix(base)
    if _TASK_NAME.fullmatch(rest):
        return TASK
    return PREFLIGHT if _PREFLIGHT_NAME.fullmatch(rest) else ""


def prefix_of(job: str) -> str:
    """Prefix of a task Job's name, as `job_prefix` makes it."""
    return f"{job.rpartition('-')[0]}-"


def number_of(job: str) -> int:
    """Number of a task Job, from its name; -1 for a name that the operator did not give."""
    number = job.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def _hex(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
