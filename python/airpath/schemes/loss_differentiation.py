"""Loss differentiation around any scheme: `vcp-ld` is VCP that answers losses only on a congested path."""

from dataclasses import replace
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, Strict, model_validator

from airpath.schemes.protocols import Fraction
from airpath.schemes.scheme import Scheme, SchemeParameters, joined

SUFFIX: Final = "-ld"
"""What makes of a scheme's name that of the same scheme with loss differentiation."""

ENDING: Final = f"each also with the ending {SUFFIX}, which tells losses apart by their cause"
"""What a list of schemes says of it."""

Bits = Annotated[int, Strict(), Field(ge=1, le=64)]
"""A number of acknowledgments that a history can hold."""


class LossDifferentiation(SchemeParameters):
    """Parameters of the loss-differentiation heuristic (VCP-W, section IV-C)."""

    history: Bits = 32
    """N: acknowledgments that are remembered, 1 to 64 (VCP-W: 32)."""
    history_threshold: Bits = 16
    """T: how many of them must tell of congestion for a loss to be congestion, at most N (VCP-W: 16)."""
    history_rule: Literal["consecutive", "total"] = "consecutive"
    """Which T: the newest ones, `consecutive`, or any of the N (`total`)."""
    evidence: Literal["feedback", "queueing-delay"] = "feedback"
    """What in an acknowledgment tells of congestion, beside an ECN echo: the routers' `feedback` (overload,
    negative feedback), or a `queueing-delay` above its share of the largest seen.
    """
    delay_share: Fraction = 0.5
    """That share (ours)."""

    @model_validator(mode="after")
    def _threshold_within_history(self) -> Self:
        if self.history_threshold > self.history:
            raise ValueError(
                f'"history_threshold" ({self.history_threshold}) must be at most "history" ({self.history})'
            )
        return self


class WithoutRouters(LossDifferentiation):
    """Parameters of the heuristic where no router says anything."""

    evidence: Literal["feedback", "queueing-delay"] = "queueing-delay"
    """What in an acknowledgment tells of congestion, beside an ECN echo: a `queueing-delay` above its share
    of the largest seen, or nothing (`feedback`, for ECN).
    """


def differentiated(scheme: Scheme) -> Scheme:
    """Return a scheme whose sender tells losses apart by their cause."""
    heuristic = LossDifferentiation if scheme.router is not None else WithoutRouters
    build = scheme.build

    def around(parameters: Any, mss_bytes: int) -> dict[str, Any]:
        return {
            "kind": "loss-differentiation",
            "controller": build(parameters, mss_bytes),
            "history": parameters.history,
            "threshold": parameters.history_threshold,
            "rule": parameters.history_rule,
            "evidence": _evidence(parameters),
        }

    return replace(
        scheme,
        id=f"{scheme.id}{SUFFIX}",
        title=f"{scheme.title}-LD",
        description=f"{scheme.description}; losses without signs of congestion leave the window",
        colour=_other_shade(scheme.colour),
        parameters=joined(
            f"{scheme.parameters.__name__}LossDifferentiation",
            f"Parameters of {scheme.title} with loss differentiation.",
            (scheme.parameters, heuristic),
        ),
        build=around,
        aliases=(),
    )


def _evidence(parameters: LossDifferentiation) -> dict[str, Any]:
    if parameters.evidence == "feedback":
        return {"kind": "feedback"}
    return {"kind": "queueing-delay", "share": float(parameters.delay_share)}


def _other_shade(colour: str) -> str:
    """Return a darker shade of a light colour, a lighter one of a dark."""
    channels = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
    end = 0 if sum(channels) > 3 * 100 else 255
    return "#" + "".join(f"{round((one + end) / 2):02x}" for one in channels)
