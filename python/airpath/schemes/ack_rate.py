"""ACK-rate estimators as tables of parameters and as parts of a plan.

An estimator is a sampler and a filter. Every filter can take its samples from any sampler (`samples`).
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, Self

from pydantic import Field, model_validator

from airpath.declarations import declaration, ids
from airpath.declared import plan_values, table
from airpath.quantities import Table

BACK_TO_BACK: Final = "back-to-back"
"""The sampler that only estimators by packets that left together use."""

_SAMPLERS: Final = tuple(name for name in ids("sampler") if name != BACK_TO_BACK)
Samples: Any = Literal[_SAMPLERS]


def _parameters(sampler: str) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = declaration("sampler", sampler).get("properties", {})
    return properties


def _samples(default: str, text: str) -> Any:
    return Field(default=default, description=text)


class _Samples(Table):
    samples: Samples = _samples(
        "per-ack",
        "Where samples come from: `per-ack` (data of each acknowledgment over the time since the one before),"
        "\n`round-trip` (data of one RTT over that time, GM's anti-aliasing), `interval` (data of a fixed"
        " time),\n`receiver-clock` (data over the receiver's timestamps, as SARBE does) or"
        " `delivery-rate` (the\ntransport's own samples).",
    )

    @model_validator(mode="after")
    def _nothing_without_meaning(self) -> Self:
        for sampler in _SAMPLERS:
            for key in _parameters(sampler):
                if key in self.model_fields_set and self.samples != sampler:
                    raise ValueError(f'"{key}" not applicable with samples = "{self.samples}"')
        return self


def _with_samplers() -> type[Table]:
    """Return the class of the choice of a sampler with the parameters of all samplers."""
    chosen: Any = _Samples
    for sampler in filter(_parameters, _SAMPLERS):
        texts = {name: str(one["description"]) for name, one in _parameters(sampler).items()}
        only = {
            name: f'For `samples = "{sampler}"`: {text[:1].lower()}{text[1:]}' for name, text in texts.items()
        }
        chosen = table("sampler", sampler, "Sampling", base=chosen, help_texts=only)
    result: type[Table] = chosen
    return result


SAMPLING: Final = _with_samplers()
"""The class of the parameters of samples without a filter."""


def filtered(name: str, title: str, *, samples: tuple[str, str] | None = None, **variant: Any) -> type[Table]:
    """Return the class of the parameters of a filter and of the sampler that it takes its samples from.

    Parameters
    ----------
    name
        The filter.
    title
        The name of the class.
    samples
        The sampler unless told otherwise, and the help text of that parameter.
    **variant
        Options of `declared.table`.
    """
    more: dict[str, Any] = {"samples": (Samples, _samples(*samples))} if samples else {}
    made: type[Table] = table("filter", name, title, base=SAMPLING, **variant, **more)
    return made


def back_to_back(name: str, title: str, *, acks: int | None = None, **variant: Any) -> type[Table]:
    """Return the class of the parameters of a filter over samples of packets that left back to back."""
    fixed = {} if acks is None else {"acks": acks}
    made = table("filter", name, title, base=table("sampler", BACK_TO_BACK, title, fixed=fixed, **variant))
    made.back_to_back = fixed
    result: type[Table] = made
    return result


def ack_rate_plan(parameters_of: Any, parameters: Any) -> dict[str, Any]:
    """Return an estimator as in a plan, from the class of its parameters and their values.

    The values may belong to a larger table, such as that of a controller.
    """
    kind, name, fixed = parameters_of.component
    own = plan_values(parameters, {}, (kind, name), fixed)
    if kind == "ack-rate":
        return own
    if hasattr(parameters_of, "back_to_back"):
        sampler, fixed = BACK_TO_BACK, parameters_of.back_to_back
    else:
        sampler, fixed = parameters.samples, {}
    return {
        "kind": "filtered",
        "sampler": plan_values(parameters, {}, ("sampler", sampler), fixed),
        "filter": own,
    }
