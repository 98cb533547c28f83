"""Packet corruption on a link, as written in a scenario."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import ConfigDict, TypeAdapter, ValidatorFunctionWrapHandler, WrapValidator

from airpath._declared.quantities import Probability
from airpath._declared.tables import Tagged, Values, plan_values, tables, without_context

LOSSES: Final = {
    name: without_context(one) for name, one in tables("loss", "Loss", "The kind of losses.").items()
}
"""The tables of losses in bursts by their kind."""

_Bursts = Annotated[Values, Tagged(LOSSES)]

_PROBABILITY: TypeAdapter[float] = TypeAdapter(Probability, config=ConfigDict(defer_build=True))
_BURSTS: TypeAdapter[Values] = TypeAdapter(_Bursts)


def _number_or_table(value: Any, _either: ValidatorFunctionWrapHandler) -> float | Values:
    """Validate a number as a probability and all else as a table, so that messages name the right range."""
    if isinstance(value, float | int):
        return _PROBABILITY.validate_python(value)
    if isinstance(value, Mapping):
        return _BURSTS.validate_python(value)
    raise ValueError(f'found "{value}"; accepted: a number from 0 to 1, or a table with the key "kind"')


Loss = Annotated[Probability | _Bursts, WrapValidator(_number_or_table)]
"""A probability for each packet independently, or losses in bursts: a table with a `kind`."""


def loss_plan(loss: float | Values) -> dict[str, Any]:
    """Return the two keys of a link's plan that describe corruption."""
    if isinstance(loss, float | int):
        return {"loss": float(loss), "bursts": None}
    return {"loss": 0.0, "bursts": plan_values(loss, {})}
