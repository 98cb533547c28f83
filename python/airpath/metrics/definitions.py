"""The metrics of a run: names, units and definitions, once for tables, terminal, report and documentation."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from airpath.metrics.ack_rate import BINS, ERRORS, EXCLUDED


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of a run.

    Attributes
    ----------
    name
        Column name, ending in the unit if it has one.
    title
        Human-readable name.
    unit
        The unit, empty for a plain ratio or count.
    definition
        How it is computed.
    headline
        Shown in short summaries.
    better
        The better direction, ``higher`` or ``lower``; empty for metrics that describe the link and for signed
        errors.
    """

    name: str
    title: str
    unit: str
    definition: str
    headline: bool = False
    better: Literal["higher", "lower", ""] = ""

    @property
    def heading(self) -> str:
        """Title with unit, for axes and table headings."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


_METRICS = (
    Metric(
        "throughput_mbps",
        "throughput",
        "Mbit/s",
        "wire bits of all flows under test that left the link under test, divided by the length of the "
        "measured interval; divided by the capacity, this is the utilisation if nothing else uses the link",
        headline=True,
        better="higher",
    ),
    Metric(
        "pantheon_throughput_mbps",
        "throughput as in Pantheon",
        "Mbit/s",
        "the same bits divided by the time from the first to the last departure of the flows under test",
        better="higher",
    ),
    Metric(
        "goodput_mbps",
        "goodput",
        "Mbit/s",
        "new payload that the receiving applications received in order, divided by the length of the "
        "measured interval",
        better="higher",
    ),
    Metric(
        "capacity_mbps",
        "capacity",
        "Mbit/s",
        "mean capacity of the link under test over the measured interval",
    ),
    Metric(
        "link_throughput_mbps",
        "link throughput",
        "Mbit/s",
        "mean departure rate of all packets, other traffic included, at the link under test over the "
        "measured interval",
        better="higher",
    ),
    Metric(
        "utilisation",
        "utilisation",
        "",
        "mean link throughput divided by mean capacity over the measured interval",
        headline=True,
        better="higher",
    ),
    Metric(
        "utilisation_binned",
        "utilisation, mean of bins",
        "",
        "mean over bins of 500 ms (the nearest whole number of recorded intervals, at least one) of link "
        "throughput divided by capacity in the bin; bins without capacity are excluded",
        better="higher",
    ),
    Metric(
        "arrival_rate_settling_s",
        "arrival rate, settling time",
        "s",
        "time from a step of the capacity until the rate at which packets arrive at the link under test is "
        "within 25 % of the capacity for at least 1 s, over recorded intervals; mean over the steps of more "
        "than 25 % in the measured interval after which the capacity is constant for at least 1 s; if the "
        "rate has not settled at the next step or at the end, the whole time until then counts; only for "
        "rates that step",
        better="lower",
    ),
    Metric(
        "loss_rate",
        "loss rate",
        "",
        "bytes lost at the link under test / (bytes lost + bytes that left without corruption); the sum of "
        "the congestion and the channel loss rate; packets still in the queue at the end are excluded",
        headline=True,
        better="lower",
    ),
    Metric(
        "congestion_loss_rate",
        "congestion loss rate",
        "",
        "bytes dropped by the queue (overflow or early), divided by the same sum",
        better="lower",
    ),
    Metric(
        "channel_loss_rate",
        "channel loss rate",
        "",
        "bytes corrupted by the channel, divided by the same sum",
        better="lower",
    ),
    Metric(
        "delay_mean_ms",
        "mean one-way delay",
        "ms",
        "mean over data packets of the flows under test received in the measured interval",
        better="lower",
    ),
    Metric(
        "delay_p95_ms",
        "p95 one-way delay",
        "ms",
        "95th percentile over the same packets, nearest rank, from bins at most 0.1 % wide",
        headline=True,
        better="lower",
    ),
    Metric(
        "queueing_mean_ms",
        "mean queueing delay",
        "ms",
        "mean over the same packets of the time spent waiting in queues",
        better="lower",
    ),
    Metric(
        "queueing_p95_ms",
        "p95 queueing delay",
        "ms",
        "its 95th percentile, nearest rank",
        headline=True,
        better="lower",
    ),
    Metric(
        "signal_delay_p95_ms",
        "p95 signal delay",
        "ms",
        "95th percentile, nearest rank, over each millisecond from the first to the last sending of the same "
        "packets, of the least time in which a message made then reaches the receiver; only with "
        "record.packets",
        better="lower",
    ),
    Metric(
        "end_to_end_delay_p95_ms",
        "p95 end-to-end delay",
        "ms",
        "95th percentile over time, from the first to the last reception of the same packets, of the age of "
        "the newest received packet (the time since it was sent); only with record.packets",
        better="lower",
    ),
    Metric(
        "self_inflicted_delay_ms",
        "self-inflicted delay",
        "ms",
        "p95 end-to-end delay minus that of a sender that knows the future of the link under test and fills "
        "it without queueing; only if all packets take one path of constant delays without losses by the "
        "channel, and the recorded intervals are short enough to show the changes of the capacity",
        better="lower",
    ),
    Metric(
        "queue_mean_bytes",
        "mean queue",
        "B",
        "time-weighted mean queue of the link under test over the measured interval",
        better="lower",
    ),
    Metric(
        "queue_p95_bytes",
        "p95 queue",
        "B",
        "95th percentile, nearest rank, of the mean queue in each recorded interval of the measured interval",
        better="lower",
    ),
    Metric(
        "jain_index",
        "Jain index",
        "",
        "(Σx)² / (n Σx²) over the throughputs of the long-lived flows under test that were active in the "
        "measured interval; at least two flows. A throughput is over the time from the first to the last "
        "departure; that of a single departure over the intervals in which the flow was active",
        headline=True,
        better="higher",
    ),
    Metric(
        "jain_index_windowed",
        "Jain index, 1 s windows",
        "",
        "mean over windows of 1 s (the nearest whole number of recorded intervals, at least one) of the "
        "index over the long-lived flows active throughout the window, flows that stop in it excluded; only "
        "windows with throughput and at least two such flows",
        better="higher",
    ),
    Metric(
        "completion_mean_s",
        "mean completion time",
        "s",
        "first packet to last byte acknowledged, mean over transfers that started in the measured interval "
        "and ended before the run did",
        better="lower",
    ),
    Metric(
        "completion_p50_s",
        "median completion time",
        "s",
        "50th percentile, nearest rank",
        better="lower",
    ),
    Metric(
        "completion_p95_s",
        "p95 completion time",
        "s",
        "95th percentile, nearest rank",
        better="lower",
    ),
    Metric(
        "completion_p99_s",
        "p99 completion time",
        "s",
        "99th percentile, nearest rank",
        better="lower",
    ),
    Metric(
        "completions",
        "completed transfers",
        "",
        "number of these transfers",
        better="higher",
    ),
    Metric(
        "cwnd_mean_bytes",
        "mean congestion window",
        "B",
        "mean over recorded intervals, from the end of the warm-up, of the congestion windows of the flows "
        "under test at the ends of the intervals",
    ),
    Metric(
        "retransmitted_packets",
        "retransmissions",
        "packets",
        "data packets that the flows under test retransmitted",
        headline=True,
        better="lower",
    ),
    Metric(
        "timeouts",
        "timeouts",
        "",
        "retransmission timeouts of the flows under test",
        headline=True,
        better="lower",
    ),
    Metric(
        "power_mbps_per_ms",
        "power",
        "Mbit/s/ms",
        "throughput divided by mean one-way delay",
        better="higher",
    ),
    Metric(
        "capacity_estimate_bias_mbps",
        "capacity estimate, bias",
        "Mbit/s",
        "mean over recorded intervals, from the end of the warm-up, of the capacity that the router at the "
        "link under test uses (its estimate, or the configured capacity) at the end of the interval, minus "
        "the capacity of the interval",
    ),
    Metric(
        "capacity_estimate_error_mean_percent",
        "capacity estimate, mean error",
        "%",
        "mean over the same intervals of the absolute error in percent of the capacity; intervals without "
        "capacity are excluded",
        headline=True,
        better="lower",
    ),
    Metric(
        "capacity_estimate_error_p95_percent",
        "capacity estimate, p95 error",
        "%",
        "95th percentile, nearest rank, of the same errors",
        better="lower",
    ),
    Metric(
        "capacity_estimate_settling_s",
        "capacity estimate, settling time",
        "s",
        "time from a step of the capacity until the estimate at the ends of recorded intervals is within "
        "10 % of the capacity for at least 1 s, mean over steps of more than 10 % in the measured interval; "
        "if the estimate has not settled at the next step or at the end, the whole time until then counts; "
        "only for rates that step",
        better="lower",
    ),
    Metric(
        "capacity_estimate_variation",
        "capacity estimate, variation in steady state",
        "",
        "standard deviation divided by mean of the estimate in the second half of each stretch of constant "
        "capacity, mean over stretches",
        better="lower",
    ),
    *(
        Metric(
            f"bandwidth_estimate_{name}",
            f"bandwidth estimate, {title}",
            "%",
            f"of controllers that estimate the bandwidth: {description}, over {BINS} of the measured"
            f" interval; the capacity is that for payload; {EXCLUDED}; mean over the flows under test; flows"
            " that share a link estimate their share",
            better="" if name == "bias_percent" else "lower",
        )
        for name, (title, description) in ERRORS.items()
    ),
)

METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _METRICS})
"""Every metric of a run, by name, in the order in which they are shown."""

SCOPE = (
    "The link under test is the one at which most controlled sources are measured. The flows under test "
    "are the controlled flows measured there or, if there are none, all flows measured there. Every metric "
    "covers the measured interval, from the end of the warm-up to the end of the run."
)
"""Definitions of the terms that the metrics refer to."""
