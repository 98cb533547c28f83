"""Westwood over each of its estimators: a loss sets the window from the measured bandwidth."""

from typing import Any, Final

from airpath._declared.tables import Parameters, Values, plan_values, table
from airpath.schemes.estimators import Estimator, find_estimator
from airpath.schemes.scheme import Scheme

_SENDER: Final = table("controller", "westwood", without=("estimator",))
_LINUX: Final = table(
    "controller",
    "westwood",
    without=("estimator",),
    defaults={"guard": False, "reduction": "after-recovery"},
    help_texts={
        "guard": "A loss only lowers the window; in Linux it may raise it.",
        "reduction": "When a loss sets the window: `at-loss`, or `after-recovery`, with half of the flight"
        " until then (as\nLinux does).",
    },
)


def over(name: str, marker: str, description: str, sender: Parameters = _SENDER, **changes: Any) -> Scheme:
    """Return Westwood over the estimator of that name, under the same name.

    Parameters
    ----------
    name
        The estimator.
    marker
        Its marker in figures.
    description
        What the scheme is, in one line.
    sender
        The parameters of Westwood.
    **changes
        Other fields of `Scheme` that differ.
    """
    return over_estimator(find_estimator(name), marker, description, sender, **changes)


def over_estimator(
    estimator: Estimator, marker: str, description: str, sender: Parameters = _SENDER, **changes: Any
) -> Scheme:
    """Return Westwood over an estimator, as `over` does."""

    def build(given: Values, mss_bytes: int) -> dict[str, Any]:
        # The engine would complete Westwood with a built-in estimator, because it does not know those in
        # files.
        plan = plan_values(given, {"mss": mss_bytes}, ("controller", "westwood"), {"estimator": "filtered"})
        return {**plan, "estimator": estimator.build(given)}

    fields: dict[str, Any] = {
        "id": estimator.id,
        "title": estimator.title,
        "description": description,
        "colour": estimator.colour,
        "marker": marker,
        "controller": "westwood",
        "parameters": Parameters.joined(sender, estimator.parameters),
        "build": build,
        "estimator": estimator.id,
    }
    return Scheme(**{**fields, **changes})


WESTWOOD: Final = (
    over(
        "westwood",
        "^",
        "a loss sets the window to measured bandwidth times RTT; per-ACK samples, filter of 2001",
        title="TCP Westwood",
    ),
    over("westwood-zoh", "<", "Westwood over GM's filter (2), per-ACK samples"),
    over("westwood-ti", ">", "Westwood over GM's filter (3), per-ACK samples"),
    over(
        "westwood-aa",
        "v",
        "Westwood over one sample for each RTT (GM's anti-aliasing)",
    ),
    over(
        "westwood+",
        "P",
        "Westwood+ as in Linux: one sample for each RTT, window set after recovery",
        _LINUX,
        title="TCP Westwood+",
    ),
    over("dynapara", "X", "Westwood over a stand-in for DynaPara, whose text we lack"),
    over("dynapara-timed", "d", "Westwood over the stand-in for DynaPara, over RTTs"),
    over("sarbe", "h", "bandwidth of the forward path by the receiver's timestamps"),
)
"""Every listed variant of Westwood, in the order of lists and legends, in Paul Tol's muted colours."""
