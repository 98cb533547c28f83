"""Measures of GM's runs: estimates compared with the rate used, the link, and the available bandwidth.

Rates are in Mbit/s of whole packets. In runs with one flow, that flow has index 0.
"""

import math

import numpy as np

from airpath.metrics import OWN_ESTIMATOR
from airpath_papers.gm.paper import SETTLED_S, WIRE
from airpath_papers.run_data import Numbers, RunData

UDP_PERIOD_S = 100.0
"""Duration of each off and on phase of the datagram source, which begins with off."""
UDP_MBPS = 1.0


def settled(run: RunData) -> np.ndarray:
    """Return a mask of the intervals after the start-up phase."""
    later: np.ndarray = run.window_time_s > SETTLED_S + 1e-6
    return later


def used_mbps(run: RunData) -> Numbers:
    """Return the rate at which packets left the bottleneck in each interval: flows by times."""
    return run.departed_bytes * 8e-6 / _interval_s(run)


def mean_used(run: RunData) -> float:
    """Return the mean rate that the first flow used."""
    return float(np.nanmean(used_mbps(run)[0, settled(run)]))


def estimate_mbps(run: RunData, name: str = OWN_ESTIMATOR) -> Numbers:
    """Return the estimate at the end of each interval: flows by times."""
    return run.estimates[name].last_bps * 1e-6 * WIRE


def threshold_mbps(run: RunData) -> Numbers:
    """Return slow-start threshold / smallest RTT, the estimate of the available bandwidth: flows by times."""
    packet_mbit = 1500 * 8e-6
    return run.ssthresh_packets * packet_mbit / run.min_rtt_s[:, np.newaxis]


def mean_over_used(run: RunData, name: str) -> float:
    """Return the mean estimate of the first flow divided by the mean rate that it used."""
    return float(np.nanmean(estimate_mbps(run, name)[0, settled(run)])) / mean_used(run)


def mean_over_link(run: RunData, name: str, link_mbps: float) -> float:
    """Return the mean estimate of the first flow divided by the rate of the link."""
    return float(np.nanmean(estimate_mbps(run, name)[0, settled(run)])) / link_mbps


def largest_over_link(run: RunData, name: str, link_mbps: float) -> float:
    """Return the largest estimate of the first flow divided by the rate of the link."""
    return _largest(run.estimates[name].largest_bps[0, settled(run)]) / link_mbps


def largest_sample(run: RunData, name: str) -> float:
    """Return the largest of all samples of the first flow, in Mbit/s."""
    return _largest(run.estimates[name].largest_sample_bps[0, settled(run)])


def largest_in_order_sample(run: RunData, name: str) -> float:
    """Return the largest sample of an acknowledgment of data in order, outside recovery, in Mbit/s."""
    return _largest(run.estimates[name].in_order_sample_bps[0, settled(run)])


def available_mbps(time_s: Numbers, link_mbps: float) -> Numbers:
    """Return the bandwidth left by the datagram source in the interval that ends at each time."""
    on = np.floor((time_s - 1e-6) / UDP_PERIOD_S) % 2 == 1
    left: Numbers = link_mbps - UDP_MBPS * on
    return left


def error(run: RunData, values: Numbers, link_mbps: float) -> float:
    """Return the mean absolute error of the first flow's values, relative to the available bandwidth."""
    available = available_mbps(run.window_time_s, link_mbps)
    distance = np.abs(values[0] - available) / available
    return float(np.nanmean(distance[settled(run)]))


def mean_threshold(run: RunData) -> float:
    """Return the mean slow-start threshold of the first flow, in packets."""
    return float(np.nanmean(run.ssthresh_packets[0, settled(run)]))


def mean_value(run: RunData, values: Numbers) -> float:
    """Return the mean over flows and time."""
    return float(np.nanmean(values[:, settled(run)]))


def distance(run: RunData, values: Numbers, share_mbps: float) -> float:
    """Return the mean absolute distance from the fair share over time and flows, relative to it."""
    return float(np.nanmean(np.abs(values[:, settled(run)] - share_mbps))) / share_mbps


def variation(run: RunData, values: Numbers) -> float:
    """Return the coefficient of variation over time of each flow's values, averaged over the flows."""
    chosen = values[:, settled(run)]
    return float((np.nanstd(chosen, axis=1) / np.nanmean(chosen, axis=1)).mean())


def _largest(bps: Numbers) -> float:
    return math.nan if np.isnan(bps).all() else float(np.nanmax(bps)) * 1e-6 * WIRE


def _interval_s(run: RunData) -> float:
    return float(run.window_time_s[1] - run.window_time_s[0])
