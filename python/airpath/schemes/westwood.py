"""Westwood over each of its estimators: a loss sets the window to what the acknowledgments measured."""

from typing import Any, Final, Literal

from airpath.quantities import Flag
from airpath.schemes import ack_rate
from airpath.schemes.estimators import find_estimator
from airpath.schemes.scheme import Scheme, SchemeParameters
from airpath.schemes.slow_start import SlowStart


class WestwoodSender(SchemeParameters):
    """What every Westwood has in common."""

    guard: Flag = True
    """A loss only lowers the window (Westwood 2001, the ns-2 module of 2002, SARBE); otherwise it may raise
    it to bandwidth times RTT (the text of GM; Linux).
    """
    reduction: Literal["at-loss", "after-recovery"] = "at-loss"
    """When a loss sets the window: `at-loss`, or `after-recovery`, with half of the flight until then
    (Linux).
    """
    minimum_rtt: Literal["of-flow", "since-timeout"] = "of-flow"
    """Which RTT makes a window of the bandwidth: the smallest `of-flow`, or the smallest `since-timeout`, as
    the path may be another then (Linux). Westwood+ keeps its own.
    """
    threshold_unit: Literal["segments", "bytes"] = "segments"
    """In what bandwidth times RTT is counted: whole `segments`, rounded down (the ns-2 module of 2002,
    Linux), or `bytes`, without rounding (the papers' formula).
    """
    counting: Literal["bytes", "acknowledgments"] = "bytes"
    """The unit by which the window grows in congestion avoidance, as for NewReno."""
    slow_start: SlowStart = "standard"
    """Slow start: `standard` (RFC 5681 with RFC 3465, L = 2), `per-acknowledgment` (L = 1, as ns-2 does),
    `every-other-round` (as Vegas was published), `hystart++` (RFC 9406) or `hoe` (towards a threshold that is
    estimated from three acknowledgments, Hoe 1996).
    """


class WestwoodParameters(WestwoodSender, ack_rate.Bilinear):
    """Parameters of Westwood as of 2001."""


class ZeroOrderHoldParameters(WestwoodSender, ack_rate.ZeroOrderHold):
    """Parameters of Westwood over GM's filter (2)."""


class TimeInvariantParameters(WestwoodSender, ack_rate.TimeInvariant):
    """Parameters of Westwood over GM's filter (3)."""


class AntiAliasedParameters(WestwoodSender, ack_rate.AntiAliasedBilinear):
    """Parameters of Westwood over anti-aliased samples."""


class WestwoodPlusParameters(WestwoodSender, ack_rate.WestwoodPlus):
    """Parameters of Westwood+ as in Linux."""

    guard: Flag = False
    """A loss only lowers the window; in Linux it may raise it."""
    reduction: Literal["at-loss", "after-recovery"] = "after-recovery"
    """When a loss sets the window: `at-loss`, or `after-recovery`, with half of the flight until then (as
    Linux does).
    """


class DynaParaParameters(WestwoodSender, ack_rate.TwoState):
    """Parameters of Westwood over the stand-in for DynaPara."""


class TimedDynaParaParameters(WestwoodSender, ack_rate.TimedTwoState):
    """Parameters of Westwood over the timed stand-in for DynaPara."""


class SarbeParameters(WestwoodSender, ack_rate.Stability):
    """Parameters of SARBE."""


def over(
    name: str, marker: str, description: str, parameters: type[WestwoodSender], **changes: Any
) -> Scheme:
    """Return Westwood over the estimator of that name, under the same name.

    Parameters
    ----------
    name
        The estimator.
    marker
        Its marker in figures.
    description
        What the scheme is, in one line.
    parameters
        Those of Westwood and of the estimator together.
    **changes
        Other fields of `Scheme` that differ.
    """
    estimator = find_estimator(name)

    def build(given: Any, _mss_bytes: int) -> dict[str, Any]:
        return {
            "kind": "westwood",
            "estimator": estimator.build(given),
            "reduction": given.reduction,
            "may_raise": not given.guard,
            "minimum_rtt": given.minimum_rtt,
            "threshold_unit": given.threshold_unit,
            "counting": given.counting,
            "slow_start": given.slow_start,
        }

    fields: dict[str, Any] = {
        "id": name,
        "title": estimator.title,
        "description": description,
        "colour": estimator.colour,
        "marker": marker,
        "controller": "westwood",
        "parameters": parameters,
        "build": build,
        "estimator": name,
    }
    return Scheme(**{**fields, **changes})


WESTWOOD: Final = (
    over(
        "westwood",
        "^",
        "a loss sets the window to measured bandwidth times RTT; per-ACK samples, filter of 2001",
        WestwoodParameters,
        title="TCP Westwood",
    ),
    over("westwood-zoh", "<", "Westwood over GM's filter (2), per-ACK samples", ZeroOrderHoldParameters),
    over("westwood-ti", ">", "Westwood over GM's filter (3), per-ACK samples", TimeInvariantParameters),
    over(
        "westwood-aa",
        "v",
        "Westwood over one sample for each RTT (GM's anti-aliasing)",
        AntiAliasedParameters,
    ),
    over(
        "westwood+",
        "P",
        "Westwood+ as in Linux: one sample for each RTT, window set after recovery",
        WestwoodPlusParameters,
        title="TCP Westwood+",
    ),
    over("dynapara", "X", "Westwood over a stand-in for DynaPara, whose text we lack", DynaParaParameters),
    over(
        "dynapara-timed", "d", "Westwood over the stand-in for DynaPara, over RTTs", TimedDynaParaParameters
    ),
    over("sarbe", "h", "bandwidth of the forward path by the receiver's timestamps", SarbeParameters),
)
"""Every Westwood that is listed, in the order of lists and legends. The colours are Paul Tol's muted ones."""
