"""The one error of this layer: invalid input that the user can fix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing wrong in a document."""

    path: str
    """Where: a dotted path in the document, for instance `spec.models[0].name`, or `row 3: verifiers[0].query`."""
    message: str
    """What is wrong, and what is allowed instead."""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class InputError(Exception):
    """A file, row or argument that cannot be used; every problem found in it, not only the first.

    Attributes:
        source: The file or object at fault, as the user named it.
        problems: What is wrong, in document order; never empty.
    """

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))
