"""End-to-end schemes of the years of the papers, for comparison: Vegas, BIC, HighSpeed TCP, H-TCP, Veno."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field, Strict

from airpath.quantities import Count, Flag, PositiveDuration
from airpath.schemes.scheme import Scheme, SchemeParameters, controller_plan, controller_table
from airpath.schemes.slow_start import SlowStart

Part = Annotated[float, Strict(), Field(gt=0, lt=1)]
"""A part of a whole, neither none nor all of it."""
NotNegative = Annotated[float, Strict(), Field(ge=0)]
Positive = Annotated[float, Strict(), Field(gt=0)]


class WithSlowStart(SchemeParameters):
    """What all have."""

    slow_start: SlowStart = "standard"
    """Slow start: `standard` (RFC 5681 with RFC 3465, L = 2), `per-acknowledgment` (L = 1, as ns-2 does),
    `every-other-round` (as Vegas was published), `hystart++` (RFC 9406) or `hoe` (towards a threshold that is
    estimated from three acknowledgments, Hoe 1996).
    """


class WithCounting(WithSlowStart):
    """What those have that grow as Reno does, if faster or slower."""

    counting: Literal["bytes", "acknowledgments"] = "bytes"
    """The unit by which the window grows in congestion avoidance: `bytes`, or `acknowledgments` as Linux
    2.6.22 does, which is half as fast with delayed acknowledgments.
    """


VegasParameters: Final = controller_table("vegas", "VegasParameters")


class BicParameters(WithSlowStart):
    """Parameters of BIC."""

    beta: Part = 0.7998046875
    """The part of the window that is kept at a loss (Linux: 819/1024; the paper removes 0.125)."""
    max_increment: Count = 16
    """The most segments that the window grows by in a round trip (Linux 16; S_max of the paper 32)."""
    low_window: Annotated[int, Strict(), Field(ge=0)] = 14
    """Up to this window, in segments, it is Reno."""
    smooth_part: Count = 20
    """Round trips for the last 4 segments below the maximum, and the first 4 above it."""
    fast_convergence: Flag = True
    """Release bandwidth faster when the maximum falls."""


class HighSpeedParameters(WithCounting):
    """Parameters of HighSpeed TCP, under their names in RFC 3649."""

    low_window: Annotated[float, Strict(), Field(ge=1)] = 38.0
    """Low_Window, in segments: up to here it is standard TCP."""
    high_window: Positive = 83000.0
    """High_Window, in segments, more than Low_Window."""
    low_p: Part = 1e-3
    """Low_P: the rate of losses at which the window is Low_Window."""
    high_p: Part = 1e-7
    """High_P: the rate of losses at which the window is High_Window; less than Low_P."""
    high_decrease: Annotated[float, Strict(), Field(gt=0, le=0.5)] = 0.1
    """High_Decrease: the part of the window that is removed at High_Window."""


class HtcpParameters(WithSlowStart):
    """Parameters of H-TCP."""

    delta_l: PositiveDuration = Field(default=1_000_000_000)
    """Δ_L: up to so long after a loss it grows as standard TCP does."""
    delta_b: NotNegative = 0.2
    """Δ_B: a relative change of throughput above it makes the next decrease the largest."""
    beta_min: Part = 0.5
    """The least part of the window that is kept at a loss."""
    beta_max: Part = 0.8
    """The most that is kept; at least beta_min."""
    rtt_scaling: Flag = True
    """Grow in proportion to the shortest round-trip time."""


class VenoParameters(WithCounting):
    """Parameters of Veno."""

    beta: Positive = 3.0
    """So many segments in the queue are congestion."""
    keep: Part = 0.8
    """The part of the window that is kept at a loss with fewer (the paper: 4/5)."""


def _build(kind: str, *settings: str) -> Any:
    """Return what hands the settings of that name, and the slow start, to the plan of that kind."""

    def build(parameters: WithSlowStart, _mss_bytes: int) -> dict[str, Any]:
        return {
            "kind": kind,
            **{setting: getattr(parameters, setting) for setting in (*settings, "slow_start")},
        }

    return build


def _htcp(parameters: HtcpParameters, mss_bytes: int) -> dict[str, Any]:
    plan: dict[str, Any] = _build("htcp", "delta_b", "beta_min", "beta_max", "rtt_scaling")(
        parameters, mss_bytes
    )
    return plan | {"delta_l_ns": parameters.delta_l}


ERA_BASELINES: Final = (
    Scheme(
        id="vegas",
        title="TCP Vegas",
        description="keeps 2 to 4 segments in the queue, found from the round-trip time (1995; as in Linux)",
        colour="#2CE0F5",
        marker="v",
        controller="vegas",
        parameters=VegasParameters,
        build=controller_plan,
    ),
    Scheme(
        id="bic",
        title="TCP BIC",
        description="binary search for the window of the last loss (2004; as in Linux)",
        colour="#7A0C2E",
        marker="P",
        controller="bic",
        parameters=BicParameters,
        build=_build("bic", "beta", "max_increment", "low_window", "smooth_part", "fast_convergence"),
    ),
    Scheme(
        id="highspeed",
        aliases=("hstcp",),
        title="HighSpeed TCP",
        description="increase grows and decrease shrinks with the window (RFC 3649)",
        colour="#FF8FB0",
        marker="X",
        controller="highspeed",
        parameters=HighSpeedParameters,
        build=_build(
            "highspeed", "low_window", "high_window", "low_p", "high_p", "high_decrease", "counting"
        ),
    ),
    Scheme(
        id="htcp",
        aliases=("h-tcp",),
        title="H-TCP",
        description="increase grows with the time since the last loss, decrease adapts to the queue (2004)",
        colour="#1F7A68",
        marker="h",
        controller="htcp",
        parameters=HtcpParameters,
        build=_htcp,
    ),
    Scheme(
        id="veno",
        title="TCP Veno",
        description="Reno that keeps 4/5 at a loss with a short queue, which it takes for random (2003)",
        colour="#3A12C8",
        marker="^",
        controller="veno",
        parameters=VenoParameters,
        build=_build("veno", "beta", "keep", "counting"),
    ),
)
"""The baselines of the papers' years, in the order of lists and legends."""
