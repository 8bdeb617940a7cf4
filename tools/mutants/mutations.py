"""Faults that can be put into a line of Python: one operator, constant or condition changed.

Invariant: a mutation changes the code of one line and nothing else; docstrings, annotations and log messages have none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
}
_BOOLEAN: dict[type[ast.boolop], tuple[str, str]] = {ast.And: ("and", "or"), ast.Or: ("or", "and")}


@dataclass(frozen=True)
class Mutation:
    """A change of one place of a file."""

    line: int
    """Counted from 1."""
    start: int
    """Column of the first character that is replaced, counted from 0."""
    end: int
    new: str

    def on(self, source: str) -> str:
        """The file with the change."""
        lines = source.splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.start] + self.new + line[self.end :]
        return "".join(lines)


def mutations_of(source: str) -> list[Mutation]:
    """All mutations of a file, by place.

    Args:
        source: Text of the file. Lines with characters outside ASCII have none.
    """
    lines = source.splitlines()
    mutations = {mutation for node in _code(ast.parse(source)) for mutation in _of(node, lines)}
    plain = [mutation for mutation in mutations if lines[mutation.line - 1].isascii()]
    return sorted(plain, key=lambda mutation: (mutation.line, mutation.start, mutation.new))


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes without annotations and decorators."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child
                yield from _code(child)


def _of(node: ast.AST, lines: list[str]) -> Iterator[Mutation]:
    match node:
        case ast.Compare():
            for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                yield from _between(left, right, _COMPARISONS[type(operator)], lines)
        case ast.BoolOp():
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from _between(left, right, _BOOLEAN[type(node.op)], lines)
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            yield from _between(node.left, node.right, _ARITHMETIC[type(node.op)], lines)
        case ast.UnaryOp(op=ast.Not()):
            yield Mutation(node.lineno, node.col_offset, node.operand.col_offset, "")
        case ast.Constant(value=bool() as value):
            yield Mutation(node.lineno, node.col_offset, node.col_offset + len(str(value)), str(not value))
        case ast.Constant(value=int() as value) if node.end_col_offset is not None:
            yield Mutation(node.lineno, node.col_offset, node.end_col_offset, str(value + 1))


def _between(left: ast.expr, right: ast.expr, change: tuple[str, str], lines: list[str]) -> Iterator[Mutation]:
    """The change of an operator that stands between two expressions on one line."""
    old, new = change
    end = left.end_col_offset
    if left.end_lineno != right.lineno or end is None:
        return
    gap = lines[right.lineno - 1][end : right.col_offset]
    place = gap.find(old)
    if place >= 0:
        yield Mutation(right.lineno, end + place, end + place + len(old), new)
