"""Senders of router-assisted schemes: their parameters, and how they stand in a plan."""

from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from airpath.quantities import Flag
from airpath.schemes.end_to_end import CubicParameters
from airpath.schemes.protocols import (
    Fraction,
    Gain,
    GainOrNone,
    LoadFactorTiming,
    LoadWordLength,
    Share,
    XcpComputation,
)
from airpath.schemes.scheme import SchemeParameters, controller_plan


class XcpSender(SchemeParameters, XcpComputation):
    """Parameters of XCP's sender."""

    halve_on_loss: Flag = True
    """A loss halves the window, as in ns-2; otherwise it is only repaired."""
    inter_packet: Literal["whole-packets", "window"] = "whole-packets"
    """By what the RTT is divided to give X: `whole-packets` of the window, which is what leaves in a round
    trip (ns-2), or the `window` with its fractions (draft-falk-xcp-spec-03).
    """


class LoadFactorSender(SchemeParameters, LoadFactorTiming):
    """What the senders of VCP and MPCP have in common (Xia et al. 2005)."""

    rtt_scaling: Literal["minimum", "smoothed", "unscaled"] = "minimum"
    """Which round-trip time scales increases: the `minimum` seen, the `smoothed` one (the queue then feeds
    its own growth), or none: `unscaled` increases are per round trip.
    """
    additive_scaling: Literal["square", "linear", "none"] = "square"
    """How the additive increase follows the RTT: with its `square` (the same rates for all), in proportion
    (`linear`), or not (`none`).
    """
    bounds: Literal["spec", "author"] = "spec"
    """To which RTT the additive increase refers: `spec` (t_rho) or `author` (the authors' code: 100 ms)."""
    rtt_cap: Flag = True
    """Stop scaling at 500 ms, as the authors' code does."""
    freeze: Literal["all", "decreases-only"] = "all"
    """What an overload freezes for t_rho: `all` changes of the window (the paper), or further decreases only
    (the authors' code).
    """
    after_freeze: Literal["author", "guarded", "obey"] = "author"
    """What an overload does in the RTT of additive increase after the freeze: nothing (`author`, the authors'
    code), a further decrease where that takes no more than the increase gives (`guarded`, ours), or always
    (`obey`: codes rule as soon as the freeze ends).
    """
    alpha: Gain = 1.0
    """alpha: additive increase in packets for each t_rho (Xia et al. 2005: 1)."""
    loss_factor: Fraction = 0.5
    """The part of the window that a loss leaves: a half as under Reno, or that of an overload, 0.875, where a
    loss is to be one.
    """
    pace_small_windows: Flag = True
    """Spread small windows over the round trip, as the authors' code does."""


class VcpSender(LoadFactorSender):
    """Parameters of VCP's sender (Xia et al. 2005)."""

    kappa: Share = 0.25
    """kappa: gain of the multiplicative increase, at most 1 (Xia et al. 2005: 0.25)."""
    beta: Fraction = 0.875
    """beta: the part of the window that an overload leaves (Xia et al. 2005: 0.875)."""


class MpcpSender(LoadFactorSender, LoadWordLength):
    """Parameters of MPCP's sender (Li and Yousefi'zadeh 2009, reconstructed): VCP's where both have one."""


class QfcpSender(SchemeParameters):
    """QFCP's sender has no parameters: it sends at the rate that it is told."""


class AbcSender(SchemeParameters):
    """Parameters of ABC's sender (Goyal et al. 2020; the authors' code)."""

    additive_increase: GainOrNone = 1.0
    """Packets that additive increase adds in a round trip, so that flows come to equal shares (Goyal et al.
    2020: 1).
    """
    minimum_window: Annotated[float, Strict(), Field(ge=1)] = 5.0
    """Packets below which brakes do not take the window (the authors' code: 5)."""
    pacing_gain: Gain = 2.0
    """Packets leave at this many windows in a round trip (the authors' code: 2)."""
    second_window: Literal["none", "cubic"] = "none"
    """A second window that answers losses, for bottlenecks that are not ABC's; the smaller one counts (Goyal
    et al. 2020, section 4.1): `none` (the authors' `tcp_abc.c`, which answers no loss) or that of `cubic`
    (their `tcp_abccubic.c`; RFC 9438 here).
    """


def xcp_sender(sender: XcpSender, _mss_bytes: int) -> dict[str, Any]:
    """Return XCP's sender as in a plan."""
    return {
        "kind": "xcp",
        "halve_on_loss": sender.halve_on_loss,
        "form": sender.form,
        "inter_packet": sender.inter_packet,
    }


def vcp_sender(sender: VcpSender, _mss_bytes: int) -> dict[str, Any]:
    """Return VCP's sender as in a plan."""
    return {"kind": "vcp", **_response(sender), "kappa": float(sender.kappa), "beta": float(sender.beta)}


def mpcp_sender(sender: MpcpSender, _mss_bytes: int) -> dict[str, Any]:
    """Return MPCP's sender as in a plan."""
    return {"kind": "mpcp", **_response(sender), "digits": sender.digits}


def abc_sender(sender: AbcSender, mss_bytes: int) -> dict[str, Any]:
    """Return ABC's sender as in a plan."""
    has_second = sender.second_window == "cubic"
    second = controller_plan(CubicParameters(), mss_bytes) if has_second else None
    return {
        "kind": "abc",
        "additive_increase": float(sender.additive_increase),
        "minimum_window": float(sender.minimum_window),
        "pacing_gain": float(sender.pacing_gain),
        "second": second,
    }


def _response(sender: LoadFactorSender) -> dict[str, Any]:
    return {
        "rtt_scaling": sender.rtt_scaling,
        "additive_scaling": sender.additive_scaling,
        "bounds": sender.bounds,
        "rtt_cap": sender.rtt_cap,
        "freeze": sender.freeze,
        "after_freeze": sender.after_freeze,
        "alpha": float(sender.alpha),
        "interval_ns": sender.load_factor_interval,
        "loss_factor": float(sender.loss_factor),
        "pace_small_windows": sender.pace_small_windows,
    }


def qfcp_sender(_sender: QfcpSender, _mss_bytes: int) -> dict[str, Any]:
    """Return QFCP's sender as in a plan."""
    return {"kind": "qfcp"}
