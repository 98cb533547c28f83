"""ACK-rate estimators as tables of parameters and as parts of a plan.

An estimator is a sampler and a filter. Every filter accepts samples from any sampler (`samples`).
"""

from collections.abc import Mapping
from typing import Any, Final

from airpath._declared.declarations import declaration, ids
from airpath._declared.tables import Parameters, Values, plan_values, table

BACK_TO_BACK: Final = "back-to-back"
"""The sampler that only estimators over packets sent back to back use."""

_SAMPLERS: Final = tuple(name for name in ids("sampler") if name != BACK_TO_BACK)


def _parameters(sampler: str) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = declaration("sampler", sampler).get("properties", {})
    return properties


def _samples(default: str, text: str) -> Mapping[str, Any]:
    return {"oneOf": [{"const": name} for name in _SAMPLERS], "default": default, "description": text}


def _nothing_without_meaning(values: Values) -> None:
    for sampler in _SAMPLERS:
        for key in _parameters(sampler):
            if key in values.given and values["samples"] != sampler:
                raise ValueError(f'"{key}" not applicable with samples = "{values["samples"]}"')


def _with_samplers() -> Parameters:
    """Return the choice of a sampler with the parameters of all samplers."""
    text = (
        "Where samples come from: `per-ack` (data of each acknowledgment over the time since the one before),"
        "\n`round-trip` (data of one RTT over that time, GM's anti-aliasing), `interval` (data of a fixed"
        " time),\n`receiver-clock` (data over the receiver's timestamps, as SARBE does) or"
        " `delivery-rate` (the\ntransport's own samples)."
    )
    chosen = Parameters({"samples": _samples("per-ack", text)}, checks=(_nothing_without_meaning,))
    for sampler in filter(_parameters, _SAMPLERS):
        texts = {name: str(one["description"]) for name, one in _parameters(sampler).items()}
        only = {
            name: f'For `samples = "{sampler}"`: {text[:1].lower()}{text[1:]}' for name, text in texts.items()
        }
        chosen = table("sampler", sampler, base=chosen, help_texts=only)
    return chosen


SAMPLING: Final = _with_samplers()
"""The parameters of samples without a filter."""


def filtered(name: str, *, samples: tuple[str, str] | None = None, **variant: Any) -> Parameters:
    """Return the parameters of a filter and of its sampler.

    Parameters
    ----------
    name
        The filter.
    samples
        The default sampler, and the help text of that parameter.
    **variant
        Options of `declared.table`.
    """
    more: dict[str, Any] = {"samples": _samples(*samples)} if samples else {}
    return table("filter", name, base=SAMPLING, **variant, **more)


def back_to_back(name: str, *, acks: int | None = None, **variant: Any) -> Parameters:
    """Return the parameters of a filter over samples of packets sent back to back."""
    fixed = {} if acks is None else {"acks": acks}
    return table("filter", name, base=table("sampler", BACK_TO_BACK, fixed=fixed, **variant))


def ack_rate_plan(parameters: Parameters, values: Values) -> dict[str, Any]:
    """Return an estimator in the form of a plan, from its parameters and their values.

    The values may belong to a larger table, such as that of a controller.
    """
    own = plan_values(values, {}, parameters.component)
    if parameters.component[0] == "ack-rate":
        return own
    pairs = ("sampler", BACK_TO_BACK) in parameters.fixed
    sampler = BACK_TO_BACK if pairs else values["samples"]
    return {"kind": "filtered", "sampler": plan_values(values, {}, ("sampler", sampler)), "filter": own}
