"""Parquet, which needs pyarrow, an optional package."""

from __future__ import annotations

import io
from typing import Any

from opsgym_api.errors import InputError, Problem
from opsgym_core.common.extras import install_command


def pyarrow() -> Any:
    """The module `pyarrow`.

    Raises:
        InputError: It is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError:
        problem = f"needs pyarrow, which is not installed: {install_command('opsgym', 'data')}"
        raise InputError("--format parquet", [Problem("", problem)]) from None
    return pa


def parquet_bytes(table: Any) -> bytes:
    """A table of pyarrow as a Parquet file."""
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()
