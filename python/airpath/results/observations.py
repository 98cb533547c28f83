"""Quantities that algorithms report, in the tables `link_observations` and `flow_observations`."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Observation:
    """One quantity that a queue, a router protocol, a capacity source, or a controller reports.

    Attributes
    ----------
    name
        Its name in the column `quantity`.
    unit
        The unit, empty for a plain number.
    description
        Its meaning.
    """

    name: str
    unit: str
    description: str


_OBSERVATIONS = (
    Observation("capacity_estimate_bps", "bit/s", "the source's estimate of the capacity"),
    Observation("capacity_estimate", "B/s", "the same in the unit of the protocols' equations"),
    Observation("input_rate_bps", "bit/s", "arrivals over the protocol's last interval"),
    Observation("load_factor", "", "VCP, MPCP: load over target utilisation, 1 at full load"),
    Observation("steady_queue_bytes", "B", "VCP, MPCP: sampled queue, low-pass filtered over intervals"),
    Observation(
        "feedback", "B/s", "XCP: aggregate feedback, alpha times spare bandwidth minus the queue's part"
    ),
    Observation("persistent_queue_bytes", "B", "XCP: shortest queue over its own timer"),
    Observation("mean_rtt_s", "s", "XCP: mean round-trip time of the flows"),
    Observation("control_interval_s", "s", "XCP: length of the control interval"),
    Observation("fair_rate_bps", "bit/s", "QFCP: the fair rate of a flow"),
    Observation("flow_count", "", "QFCP: input rate over fair rate"),
    Observation("target_rate_bps", "bit/s", "ABC: target rate at the last departure"),
    Observation("dequeue_rate_bps", "bit/s", "ABC: rate of departures over the last `rate_window`"),
    Observation("accelerate_fraction", "", "ABC: share of packets that may carry an accelerate"),
    Observation("x1", "packets", "EBE: the filter's queue, a posteriori"),
    Observation("x2", "packets/s", "EBE: the filter's arrival rate, a posteriori"),
    Observation("p11", "packets²", "EBE: error variance of `x1`"),
    Observation("p12", "packets²/s", "EBE: error covariance of `x1` and `x2`"),
    Observation("p22", "packets²/s²", "EBE: error variance of `x2`"),
    Observation("k1", "", "EBE: Kalman gain of `x1`"),
    Observation("k2", "1/s", "EBE: Kalman gain of `x2`"),
    Observation("maintainer_on", "", "EBE: 1 while the queue maintainer probes, else 0"),
    Observation(
        "queue_mean_packets", "packets", "EBE: the filter's measurement z, the mean of samples by default"
    ),
    Observation("arrival_rate_pps", "packets/s", "EBE: arrivals over the estimation interval"),
    Observation("spare_bandwidth", "B/s", "XCP-b: the last computed spare bandwidth"),
    Observation("empty_intervals", "", "XCP-b: consecutive control intervals with an empty queue"),
    Observation("average_queue_packets", "packets", "RED: average queue"),
    Observation("probability", "", "RED, REM, PIE: probability to mark or drop"),
    Observation("max_probability", "", "RED: probability at the upper threshold, possibly adaptive"),
    Observation("price", "", "REM: price of the link"),
    Observation("virtual_capacity_bps", "bit/s", "AVQ: capacity of the virtual queue"),
    Observation("virtual_queue_bytes", "B", "AVQ: length of the virtual queue"),
    Observation("bucket_bytes", "B", "policer: tokens in its bucket at the last arrival"),
    Observation("sojourn_s", "s", "CoDel: queueing delay of the last departure"),
    Observation("dropping", "", "CoDel: 1 while it drops or marks, else 0"),
    Observation("drop_count", "", "CoDel, FQ-CoDel: consecutive drops, the maximum over the queues"),
    Observation("busy_queues", "", "FQ-CoDel, priority, DRR: number of queues with packets"),
    Observation("queue_delay_s", "s", "PIE: delay at the last update"),
    Observation("burst_allowance_s", "s", "PIE: remaining time without drops or marks"),
    Observation("base_probability", "", "DualPI2: p', whose square applies to classic packets"),
    Observation("classic_delay_s", "s", "DualPI2: delay of the classic queue at the last update"),
    Observation("low_latency_delay_s", "s", "DualPI2: delay of the low-latency queue at the last update"),
)

_FLOW_OBSERVATIONS = (
    Observation("alpha", "", "Prague, DCTCP: the mean share of marked data over rounds"),
    Observation("w_max", "segments", "CUBIC: the plateau of its curve"),
    Observation("load_code", "", "VCP: 0 low load, 1 high load, 2 overload"),
    Observation("load_factor", "", "MPCP: load over target utilisation, as read from the marks"),
    Observation("losses_dismissed", "", "loss differentiation: losses attributed to errors since the start"),
    Observation(
        "losses_answered", "", "loss differentiation: losses attributed to congestion since the start"
    ),
    Observation("x1", "segments", "EBE: the filter's W_max, a posteriori"),
    Observation("x2", "s", "EBE: the filter's round-trip time, a posteriori"),
    Observation("p11", "segments²", "EBE: error variance of `x1`"),
    Observation("p12", "segments s", "EBE: error covariance of `x1` and `x2`"),
    Observation("p22", "s²", "EBE: error variance of `x2`"),
    Observation("k1", "", "EBE: Kalman gain of `x1`"),
    Observation("k2", "s/segment", "EBE: Kalman gain of `x2`"),
    Observation("maintainer_on", "", "EBE: 1 while the RTT maintainer probes, else 0"),
    Observation("interval_rtt_s", "s", "EBE: mean round-trip time of the estimation interval"),
    Observation("rtt_max_s", "s", "EBE: R_max, the round-trip time at the last loss"),
)

FLOW_OBSERVATIONS: Mapping[str, Observation] = MappingProxyType({one.name: one for one in _FLOW_OBSERVATIONS})
"""The known quantities of `flow_observations`, by name."""

OBSERVATIONS: Mapping[str, Observation] = MappingProxyType({one.name: one for one in _OBSERVATIONS})
"""The known quantities of `link_observations`, by name; an engine may report others."""
