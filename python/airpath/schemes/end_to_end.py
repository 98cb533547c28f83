"""End-to-end schemes: they need nothing from routers but that they carry and drop packets."""

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from pydantic import Field, Strict

from airpath.quantities import Flag, Rate, Window
from airpath.schemes.scheme import Scheme, SchemeParameters, window_bytes

SlowStart = Literal["standard", "per-acknowledgment", "hystart++", "hoe"]


class NewRenoParameters(SchemeParameters):
    """Parameters of NewReno."""

    counting: Literal["bytes", "acknowledgments"] = "bytes"
    """What growth in congestion avoidance counts: `bytes` (RFC 3465), or `acknowledgments` (RFC 5681,
    equation 3; as ns-2 does), which is half as fast under delayed acknowledgments.
    """
    slow_start: SlowStart = "standard"
    """Slow start: `standard` (RFC 5681 with RFC 3465, L = 2), `per-acknowledgment` (L = 1, as ns-2 does),
    `hystart++` (RFC 9406) or `hoe` (towards a threshold that three acknowledgments tell, Hoe 1996).
    """


class CubicParameters(SchemeParameters):
    """Parameters of CUBIC as of RFC 9438."""

    c: Annotated[float, Strict(), Field(gt=0)] = 0.4
    """C, in segments per second cubed (RFC 9438, section 5: 0.4)."""
    beta: Annotated[float, Strict(), Field(gt=0, lt=1)] = 0.7
    """The part of the window that is kept at a loss (RFC 9438, section 4.6: 0.7)."""
    fast_convergence: Flag = True
    """Release bandwidth faster when the saturation point falls (RFC 9438, section 4.7)."""
    reno_friendly: Flag = True
    """Be at least as fast as Reno would be (RFC 9438, section 4.3)."""
    slow_start: SlowStart = "hystart++"
    """Slow start: `standard` (RFC 5681 with RFC 3465, L = 2), `per-acknowledgment` (L = 1), `hystart++`
    (RFC 9406) or `hoe` (towards a threshold that three acknowledgments tell, Hoe 1996).
    """


class Cubic2008Parameters(CubicParameters):
    """Parameters of CUBIC as of 2008."""

    beta: Annotated[float, Strict(), Field(gt=0, lt=1)] = 0.8
    """The part of the window that is kept at a loss (Linux 2.6.22: 819/1024, the paper's decrease of 0.2)."""
    slow_start: SlowStart = "per-acknowledgment"
    """Slow start; byte counting was off in Linux then (`tcp_abc` = 0), and HyStart came later."""


class FixedParameters(SchemeParameters):
    """Parameters of the fixed window."""

    window: Window
    """The window of payload, in packets (of one maximum segment size) or bytes."""
    rate: Rate | None = None
    """Send at this rate of payload instead of in bursts."""


def _newreno(parameters: NewRenoParameters, _mss_bytes: int) -> dict[str, Any]:
    return {"kind": "newreno", "counting": parameters.counting, "slow_start": parameters.slow_start}


def _cubic(form: str) -> Callable[[CubicParameters, int], dict[str, Any]]:
    def build(parameters: CubicParameters, _mss_bytes: int) -> dict[str, Any]:
        return {
            "kind": "cubic",
            "c": float(parameters.c),
            "beta": float(parameters.beta),
            "fast_convergence": parameters.fast_convergence,
            "reno_friendly": parameters.reno_friendly,
            "form": form,
            "slow_start": parameters.slow_start,
        }

    return build


def _fixed(parameters: FixedParameters, mss_bytes: int) -> dict[str, Any]:
    return {
        "kind": "fixed",
        "window_bytes": window_bytes(parameters.window, mss_bytes),
        "pacing_bps": parameters.rate,
    }


END_TO_END: Final = (
    Scheme(
        id="newreno",
        aliases=("reno",),
        title="TCP NewReno",
        description="additive increase, multiplicative decrease (RFC 5681, RFC 6582)",
        colour="#0072B2",
        marker="o",
        controller="newreno",
        parameters=NewRenoParameters,
        build=_newreno,
    ),
    Scheme(
        id="cubic",
        title="TCP CUBIC",
        description="window grows as a cubic of the time since the last loss (RFC 9438), with HyStart++",
        colour="#D55E00",
        marker="s",
        controller="cubic",
        parameters=CubicParameters,
        build=_cubic("rfc9438"),
    ),
    Scheme(
        id="cubic-2008",
        title="TCP CUBIC (2008)",
        description="CUBIC as published and in Linux 2.6.22: keeps 0.8 at a loss, no HyStart",
        colour="#E69F00",
        marker="D",
        controller="cubic",
        parameters=Cubic2008Parameters,
        build=_cubic("2008"),
        # RFC 3390, section 1: three segments of 1460 bytes; ten (RFC 6928) came years later.
        transport={"initial_window": "3 packets"},
    ),
    Scheme(
        id="fixed",
        title="Fixed window",
        description="a window that never changes, for calibration (parameter window, optional rate)",
        colour="#000000",
        marker="x",
        controller="fixed",
        parameters=FixedParameters,
        build=_fixed,
    ),
)
"""Every end-to-end scheme, in the order of lists and legends. The colours are those of Okabe and Ito."""
