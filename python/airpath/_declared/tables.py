"""Tables of components, read by the schemas that the components declare in the engine.

A component has one declaration, next to its algorithm. From its schema follow the keys of its table (units,
ranges, choices, defaults, help texts) and the form of its values in a plan.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import core_schema

from airpath import _core
from airpath._declared.declarations import declaration, declared_keys, ids, is_added, plan_keys
from airpath._declared.json_schema import json_schema
from airpath._declared.messages import Fault, ValueOfKeyError, show, validation_error
from airpath._declared.quantities import Constant, Exponential, Uniform, draw_plan
from airpath._declared.reader import Keys, read, written
from airpath.errors import UsageError
from airpath.units import Amount, format_duration, format_rate, format_size, window_bytes

Component = tuple[str, str]
"""Kind and id of a component."""

_FORMATS: Final = {
    "ns": format_duration,
    "bit/s": format_rate,
    "B": format_size,
    "threshold": "{:g}".format,
    "window": format_size,
}


class ParameterError(UsageError):
    """The values of the keys in the table."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter}: {problem}" if parameter else problem)
        self.parameter = parameter
        self.problem = problem


class TableError(Exception):
    """A table is rejected."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(faults[0].message)
        self.faults = faults


@dataclass(frozen=True)
class Values(Mapping[str, Any]):
    """A table that was read: given values in base units, and the defaults of the others."""

    table: "Parameters"
    """The table that was read."""
    given: Mapping[str, Any]
    """The values of the keys that the table had."""

    def __getitem__(self, key: str) -> Any:
        schema = self.table.keys[key]
        return self.given[key] if key in self.given else schema.get("default")

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.keys)

    def __len__(self) -> int:
        return len(self.table.keys)


@dataclass(frozen=True, eq=False)
class Parameters:
    """The parameters of a component, or of several together, as the table that a user writes."""

    keys: Keys = field(default_factory=dict)
    """The schema of each key: that of the declaration, with default and help text of this table."""
    component: Component = ("", "")
    """The component whose parameters they are; of several the one that a plan has by default."""
    fixed: Mapping[Component, Mapping[str, Any]] = field(default_factory=dict)
    """Parameters with constant values for each component; the table lacks them."""
    checks: tuple[Callable[[Values], None], ...] = ()
    """Raise `ValueError` or `ValueOfKeyError` if values contradict each other."""
    title: str = ""
    """Its name in the schema of scenarios."""

    @classmethod
    def joined(cls, *parts: "Parameters") -> Self:
        """Return the parameters of several tables together; the first has precedence."""
        first, *_ = parts
        backwards = parts[::-1]
        return cls(
            keys={key: schema for part in backwards for key, schema in part.keys.items()},
            component=first.component,
            fixed={component: fixed for part in backwards for component, fixed in part.fixed.items()},
            checks=tuple(dict.fromkeys(check for part in parts for check in part.checks)),
        )

    def read(self, given: Mapping[str, Any], path: str = "") -> Values:
        """Return the table at `path` with its values in base units.

        Raises
        ------
        TableError
            If values are wrong, keys are unknown or missing, or values contradict each other.
        """
        values, faults = read(self.keys, given, path)
        if faults:
            raise TableError(faults)
        result = Values(self, values)
        for check in self.checks:
            try:
                check(result)
            except ValueError as error:
                here = f"{path}.{error.key}" if isinstance(error, ValueOfKeyError) else path
                raise TableError([Fault(here, str(error))]) from None
        return result

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.validate,
            ref=f"airpath.{self.title}:{id(self)}",
            serialization=core_schema.plain_serializer_function_ser_schema(_written),
        )

    def __get_pydantic_json_schema__(
        self, _: core_schema.CoreSchema, __: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        description = declaration(*self.component)["description"]
        return {"title": self.title, "description": description, **json_schema(self.keys)}

    def validate(self, value: Any) -> Values:
        """Return a table of a scenario; pydantic adds the path of the table to that of each fault."""
        if isinstance(value, Values):
            return value
        if not isinstance(value, Mapping):
            raise validation_error([Fault("", f"found {show(value)}; accepted: a table")], value)
        try:
            return self.read(value)
        except TableError as error:
            raise validation_error(error.faults, value) from None


def _written(values: Values) -> dict[str, Any]:
    return written(values.table.keys, values.given)


def table(
    kind: str,
    name: str,
    *,
    base: Parameters | None = None,
    fixed: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    help_texts: Mapping[str, str] | None = None,
    without: Collection[str] = (),
    title: str = "",
    **more: Mapping[str, Any],
) -> Parameters:
    """Return the table of a component.

    Parameters
    ----------
    kind, name
        Kind and id of the component.
    base
        A table whose keys come first; it may have some of the parameters.
    fixed
        Parameters with a constant value; the table does not have these keys.
    defaults
        Defaults that differ from those of the component, as in a plan.
    help_texts
        Help texts that differ from those of the component.
    without
        Parameters for which the caller of `plan_values` has a value (`resolved`).
    title
        Its name in the schema of scenarios.
    **more
        The schemas of further keys.
    """
    base = base or Parameters()
    keys = dict(base.keys)
    for key, schema in declared_keys(kind, name).items():
        if key not in (fixed or {}) and key not in without and key not in keys:
            changes = {
                **({"default": defaults[key]} if defaults and key in defaults else {}),
                **({"description": help_texts[key]} if help_texts and key in help_texts else {}),
            }
            if "x-draw" in schema and schema.get("default") is not None:
                changes["default"] = Constant(int(schema["default"]["value"]))
            keys[key] = {**schema, **changes} if changes else schema
    return Parameters(
        {**keys, **more}, (kind, name), {**base.fixed, (kind, name): fixed or {}}, base.checks, title
    )


def tables(kind: str, ending: str, help_text: str) -> dict[str, Parameters]:
    """Return the tables of all components of a kind by id, each with the key `kind`.

    Parameters
    ----------
    kind
        Kind of the components.
    ending
        Ending of the names of their tables in the schema of scenarios.
    help_text
        Help text of the key `kind`.
    """
    return {
        name: table(
            kind, name, base=Parameters({"kind": kind_key(name, help_text)}), title=title_of(name, ending)
        )
        for name in ids(kind)
    }


def kind_key(name: str, help_text: str) -> Mapping[str, Any]:
    """Return the schema of the key `kind` of a table."""
    return {"oneOf": [{"const": name}], "description": help_text}


def title_of(name: str, ending: str) -> str:
    """Return the name of the table of a component in the schema of scenarios."""
    return f"{name.title().replace('-', '')}{ending}"


@dataclass(frozen=True, eq=False)
class Tagged:
    """An annotation for pydantic: a table with a `kind` is read as the table of that kind."""

    tables: Mapping[str, Any]
    """Tables of parameters, or models, by kind."""
    or_name: bool = False
    """The name of the kind alone is a table without other keys."""
    of_user: Callable[[str], Parameters | None] = lambda _: None
    """Returns the table of a kind that is a file of the user; `None` for other kinds."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        choices = {name: handler.generate_schema(one) for name, one in self.tables.items()}
        tagged = core_schema.tagged_union_schema(choices, "kind")
        if all(isinstance(one, Parameters) for one in self.tables.values()):
            writing: Any = core_schema.plain_serializer_function_ser_schema(_written)
        else:
            writing = core_schema.wrap_serializer_function_ser_schema(_written_or, schema=tagged)
        names_too = core_schema.union_schema([core_schema.str_schema(), tagged]) if self.or_name else None
        return core_schema.no_info_wrap_validator_function(
            self._validate,
            tagged,
            json_schema_input_schema=names_too,
            serialization=writing,
        )

    def _validate(self, value: Any, read: Callable[[Any], Any]) -> Any:
        """Return a table of a scenario."""
        if self.or_name and isinstance(value, str):
            value = {"kind": value}
        kind = value.get("kind") if isinstance(value, Mapping) else None
        try:
            table = self.of_user(kind) if isinstance(kind, str) and kind not in self.tables else None
        except UsageError as error:
            raise validation_error([Fault("", str(error))], value) from None
        if table is None:
            return read(value)
        # A path has several spellings (`./mine.so`).
        return table.validate({**value, "kind": table.component[1]})


def _written_or(value: Any, write: Callable[[Any], Any]) -> Any:
    """Return a table as a scenario writes it."""
    return _written(value) if isinstance(value, Values) else write(value)


def plan_values(
    given: Values | None,
    context: Mapping[str, Any],
    component: Component | None = None,
    resolved: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a component as in a plan: its kind and all its values.

    Parameters
    ----------
    given
        The table of the component; without it, all values are the defaults.
    context
        Properties of its link or flow: `packet`, `mean_bps`, `mss`, `protocol`.
    component
        Kind and id of the component, if it is not the one of the table.
    resolved
        Values that replace those of the table: amounts whose unit depends on the link.

    Raises
    ------
    ParameterError
        If parameters contradict each other or the context.
    """
    given = Values(Parameters(), {}) if given is None else given
    component = component or given.table.component
    kind, name = component
    resolved = resolved or {}
    values = {
        in_plan: _in_plan(given[key], context)
        for key, in_plan in plan_keys(kind, name).items()
        if key in given and in_plan not in resolved and given[key] is not None
    }
    plan = {"kind": name, **given.table.fixed.get(component, {}), **values, **resolved}
    if is_added(kind, name):
        return plan
    try:
        completed = _core.complete_component(kind, json.dumps(plan), json.dumps(context))
    except _core.ComponentError as error:
        parameter, problem, found = error.args
        problem = _with_values(kind, name, problem, json.loads(found))
        names = {in_plan: key for key, in_plan in plan_keys(kind, name).items()}
        raise ParameterError(names.get(parameter, parameter), problem) from None
    return {"kind": name, **json.loads(completed)}


def without_context(parameters: Parameters) -> Parameters:
    """Return the table of a component without context: contradictions are found when it is read."""
    return replace(parameters, checks=(*parameters.checks, _check_in_engine))


def _check_in_engine(values: Values) -> None:
    """Raise if values of a component contradict each other."""
    try:
        plan_values(values, {})
    except ParameterError as error:
        if not error.parameter:
            raise ValueError(error.problem) from None
        raise ValueOfKeyError(error.parameter, error.problem) from None


def _in_plan(value: Any, context: Mapping[str, Any]) -> Any:
    """Return a value as in a plan: windows, also those of nested components, are in bytes."""
    match value:
        case Amount():
            return window_bytes(value, context["mss"])
        case Constant() | Uniform() | Exponential():
            return draw_plan(value)
        case Mapping():
            return {key: _in_plan(inner, context) for key, inner in value.items()}
        case _:
            return value


def _with_values(kind: str, name: str, problem: str, values: Mapping[str, Any]) -> str:
    """Return a problem with the values of parameters in place of their placeholders, with units."""
    for key, value in values.items():
        if (placeholder := f"{{{key}}}") in problem:
            problem = problem.replace(placeholder, str(formatted(kind, name, key, value)))
    return problem


def formatted(kind: str, name: str, parameter: str, value: Any) -> Any:
    """Return a value of a plan as users write it: a quantity with its unit, all else unchanged."""
    return formatted_in(declaration(kind, name).get("properties", {}).get(parameter, {}), value)


def formatted_in(schema: Mapping[str, Any], value: Any) -> Any:
    """Return a value of the parameter with this schema, as `formatted` does."""
    unit = schema.get("x-unit")
    return _FORMATS[unit](value) if unit else value
