"""`opsgym models import`: converts model configurations of the published harness."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import yaml

from opsgym.exits import Exit
from opsgym.modelimport.convert import ConvertedModel, import_pool
from opsgym.modelimport.published import read_published
from opsgym_api.errors import InputError, Problem
from opsgym_runner.models.prices import known_prices


def import_models(files: Sequence[Path], out: Path | None) -> int:
    """Writes EvalModels for model configurations of the published harness.

    Raises:
        InputError: A file cannot be converted, or the output exists already; nothing is written.
    """
    if out is not None and out.exists():
        raise InputError(str(out), [Problem("", "exists already; name another file or remove it")])
    imported = {file: import_pool(file, read_published(file), known_prices) for file in files}
    _require_distinct_names(imported)
    text = "---\n".join(document_text(file, model) for file, model in imported.items())
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text)
    for file, model in imported.items():
        for note in model.notes:
            click.echo(f"{file}: {note}", err=True)
    return Exit.OK


def _require_distinct_names(imported: dict[Path, ConvertedModel]) -> None:
    files: dict[str, Path] = {}
    for file, model in imported.items():
        other = files.setdefault(model.document.metadata.name, file)
        if other is not file:
            problem = f"has the same model name as {other}, {model.document.metadata.name}; rename one of the files"
            raise InputError(str(file), [Problem("", problem)])


def document_text(file: Path, imported: ConvertedModel) -> str:
    """An EvalModel as YAML, with its comments."""
    lines = [f"From {file.name}, a model configuration of the published harness.", *imported.comments]
    document = imported.document.model_dump(mode="json", by_alias=True, exclude_unset=True)
    comments = "".join(f"# {line}\n" for line in lines)
    return comments + yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
