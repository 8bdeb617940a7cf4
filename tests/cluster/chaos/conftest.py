"""Which tests of this folder run: the faults only at length, or when a seed is chosen; their schedule always."""

from __future__ import annotations

import os

collect_ignore = [] if {"OPSGYM_SOAK", "OPSGYM_CHAOS_SEED"} & os.environ.keys() else ["test_chaos.py"]
