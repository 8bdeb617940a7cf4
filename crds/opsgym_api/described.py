"""JSON schemas whose fields are described by the docstrings of their models' attributes.

Invariant: only what generates a schema reads source code. pydantic's `use_attribute_docstrings` would parse the source
of every model in every process that imports it, a third of the CPU time of a task pod's imports.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema


class DescribedSchema(GenerateJsonSchema):
    """Generator that describes each field by its docstring, unless the field has a description of its own."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """The schema of one model, see `GenerateJsonSchema`."""
        made = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        for name, text in docstrings(model).items():
            field = model.model_fields.get(name)
            if field is not None:
                shown = field.alias if self.by_alias and field.alias else name
                made["properties"][shown].setdefault("description", text)
        return made

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """The schema of one record, see `GenerateJsonSchema`."""
        made = super().dataclass_schema(schema)
        for name, text in docstrings(schema["cls"]).items():
            if name in made["properties"]:
                made["properties"][name].setdefault("description", text)
        return made


def docstrings(model: type[Any]) -> dict[str, str]:
    """Docstrings of a class's annotated attributes by name; those of its bases are included."""
    texts: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if base.__module__.startswith("opsgym"):
            texts |= _own_docstrings(base)
    return texts


def _own_docstrings(owner: type[Any]) -> dict[str, str]:
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(definition, ast.ClassDef)
    return {
        attribute.target.id: inspect.cleandoc(text.value.value)
        for attribute, text in pairwise(definition.body)
        if isinstance(attribute, ast.AnnAssign)
        and isinstance(attribute.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
