"""Names, labels and annotations of what the operator makes.

Invariant: a name follows from the run's identity and a number or the content's digest. Two runs never share a name,
also not when one is made anew under the name of a deleted one.
"""

from __future__ import annotations

import hashlib
import re

from opsgym_operator.observed import ObservedRun

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
"""EvalModel whose slots are taken; absent for a model that the run writes out."""
LABEL_QUEUE = "kueue.x-k8s.io/queue-name"
ANNOTATION_CELL = "opsgym.dev/cell"
"""Key of the cell."""

MANAGER = "opsgym-operator"
TASK = "task"
PREFLIGHT = "preflight"

LONGEST_BASE = 38
"""Characters of a run's name in those of its objects. Pods have `-preflight-xxxxxxxx-xxxxx` after it, or less, and
63 in all, since Kubernetes makes their names host names."""


def base_of(name: str) -> str:
    """A run's name as the beginning of its objects' names."""
    return label_of(name, LONGEST_BASE)


def label_of(name: str, longest: int = 63) -> str:
    """A name as a DNS label: as it is if it is one and short enough, else cut, and told apart by a digest."""
    if len(name) <= longest and "." not in name:
        return name
    cut = re.sub(r"[^a-z0-9]+", "-", name)[: longest - 6].strip("-")
    return f"{cut}-{_hex(name, 5)}"


def job_prefix(run: ObservedRun, cell: str) -> str:
    """What the names of a cell's Jobs begin with; a number follows."""
    return f"{base_of(run.name)}-{_hex(f'{run.id} {cell}', 6)}-"


def preflight_name(run: ObservedRun, content: str) -> str:
    """Name of a preflight Job, by what it checks and how."""
    return f"{base_of(run.name)}-preflight-{_hex(content, 8)}"


def number_of(name: str) -> int:
    """Number of a task Job, from its name."""
    return int(name.rpartition("-")[2])


def _hex(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
