"""The published JSON schema of scenarios."""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema, WithDefaultSchema

from airpath._declared.json_schema import json_schema
from airpath.scenario.load import SCHEMA_KEY
from airpath.scenario.model import ScenarioDocument
from airpath.schemes import SCHEMES, Scheme


def scenario_schema() -> dict[str, Any]:
    """Return the JSON schema of a scenario, with a description, unit and default for every key."""
    return ScenarioDocument.model_json_schema(by_alias=True, schema_generator=_AsWritten)


def editor_schema() -> dict[str, Any]:
    """Return the schema of a scenario for editors, including the parameters of every scheme.

    Parameters in the name of a scheme (`fixed:window=10`) are not checked, nor is any required.
    """
    schema = scenario_schema()
    schema["$schema"] = GenerateJsonSchema.schema_dialect
    schema["properties"][SCHEMA_KEY] = {
        "type": "string",
        "description": "Schema for editors; airpath ignores it.",
    }
    schema["$defs"]["Flow"]["allOf"] = [
        {
            "if": {"required": ["scheme"], "properties": {"scheme": {"pattern": _names(scheme)}}},
            "then": {"properties": {"parameters": _parameters(scheme)}},
        }
        for scheme in SCHEMES
    ]
    return schema


def _names(scheme: Scheme) -> str:
    """Return the pattern of the names of a scheme, with or without options."""
    names = "|".join((scheme.id, *scheme.aliases)).replace("+", r"\+")
    return f"^({names})(:|$)"


def _parameters(scheme: Scheme) -> dict[str, Any]:
    schema = {"description": f"Parameters of {scheme.title}.", **json_schema(scheme.parameters.keys)}
    return {key: value for key, value in schema.items() if key != "required"}


class _AsWritten(GenerateJsonSchema):
    """A generator that describes keys by docstrings of fields, and shows defaults as a scenario writes them.

    pydantic can also read the docstrings (`use_attribute_docstrings`), but does so at every import of the
    models, which takes longer than most runs.
    """

    def get_default_value(self, schema: WithDefaultSchema) -> Any:
        default = super().get_default_value(schema)
        serialization: Any = schema["schema"].get("serialization")
        if default is not None and serialization is not None and serialization["type"] == "function-plain":
            return serialization["function"](default)
        return default

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        described = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        for name, text in field_docstrings(model).items():
            key = model.model_fields[name].alias or name
            described["properties"][key].setdefault("description", text)
        return described


def field_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstring of each field of a model."""
    texts = {name: text for base in reversed(model.__mro__) for name, text in _own_docstrings(base).items()}
    return {name: text for name, text in texts.items() if name in model.model_fields}


@cache  # finding the source text of a class is slow
def _own_docstrings(model: type) -> Mapping[str, str]:
    """Return the docstring of each annotated attribute in the body of a class."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    except (OSError, TypeError):
        return {}  # a class without source text: built in, or joined from others
    assert isinstance(tree, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, after in pairwise(tree.body):
        match field, after:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(value=ast.Constant(str(text))):
                texts[name] = inspect.cleandoc(text)
    return texts
