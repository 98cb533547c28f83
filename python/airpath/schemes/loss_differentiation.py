"""Loss differentiation around any scheme: `vcp-ld` is VCP that responds to losses only under congestion."""

from dataclasses import replace
from typing import Any, Final

from airpath._declared.tables import Parameters, Values, plan_values, table
from airpath.schemes.scheme import Scheme

SUFFIX: Final = "-ld"
"""Suffix of a scheme's name that adds loss differentiation."""

ENDING: Final = f"each also with the ending {SUFFIX}, which tells losses apart by their cause"
"""The note on the suffix in lists of schemes."""

_ID: Final = "loss-differentiation"

LossDifferentiation: Final = table("controller", _ID, without=("controller",))
"""Parameters of the loss-differentiation heuristic (VCP-W, section IV-C)."""

WithoutRouters: Final = table(
    "controller",
    _ID,
    without=("controller",),
    defaults={"evidence": "queueing-delay"},
    help_texts={
        "evidence": "Evidence of congestion in an acknowledgment, in addition to an ECN echo: a"
        " `queueing-delay` above its share\nof the largest seen, or none (`feedback`, for ECN)."
    },
)
"""Parameters of the heuristic if no router gives feedback."""


def differentiated(scheme: Scheme) -> Scheme:
    """Return a scheme whose sender distinguishes losses by their cause."""
    heuristic = LossDifferentiation if scheme.router is not None else WithoutRouters
    build = scheme.build

    def around(parameters: Values, mss_bytes: int) -> dict[str, Any]:
        inner = {"controller": build(parameters, mss_bytes)}
        return plan_values(parameters, {"mss": mss_bytes}, ("controller", _ID), inner)

    return replace(
        scheme,
        id=f"{scheme.id}{SUFFIX}",
        title=f"{scheme.title}-LD",
        description=f"{scheme.description}; losses without signs of congestion leave the window",
        colour=_other_shade(scheme.colour),
        parameters=Parameters.joined(scheme.parameters, heuristic),
        build=around,
        aliases=(),
    )


def _other_shade(colour: str) -> str:
    """Return a darker shade of a light colour, or a lighter shade of a dark one."""
    channels = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
    end = 0 if sum(channels) > 3 * 100 else 255
    return "#" + "".join(f"{round((one + end) / 2):02x}" for one in channels)
