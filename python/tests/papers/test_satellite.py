"""The satellite case: losses of its scenarios, and times of which some are only known to exceed a limit."""

import math

import numpy as np
import pytest

from airpath.scenario import Scenario
from airpath_papers.satellite import FIGURES
from airpath_papers.satellite.censored import faster, median, paired_ratios

(FIGURE,) = FIGURES
NEVER = math.inf


def test_the_two_variants_differ_in_their_losses_only():
    plans = [Scenario.load(f"satellite-bursts-{clock}").plan() for clock in ("time", "packet")]
    losses = [plan["links"][0].pop("bursts") for plan in plans]
    assert plans[0] == plans[1]
    by_time, by_packet = losses
    clock = {"clock": "time", "step": 1_000_000}
    assert by_time == {"kind": "gilbert", "mean_loss": 0.0256, "mean_burst": 16.7, **clock}
    assert (by_packet["kind"], by_packet["p"], by_packet["r"]) == ("netem-gemodel", 0.01, 0.167)
    link = plans[0]["links"][0]
    # 12 Mbit/s times 600 ms are 900 kB.
    assert link["queue"]["limit_bytes"] == pytest.approx(1.2 * 900_000, abs=1)
    assert plans[0]["links"][1]["loss"] == 0.0
    assert plans[0]["links"][1]["bursts"] is None


def test_both_variants_run_the_same_schemes():
    by_time, by_packet = FIGURE.experiments.values()
    assert list(by_time) == list(by_packet)
    assert {
        "cubic",
        "newreno",
        "bbr",
        "copa",
        "ledbat++",
        "westwood",
        "xcp-ebe",
        "vcp-ebe",
        "mpcp",
        "qfcp",
    } < set(by_time)


def test_a_median_needs_no_value_for_unfinished_transfers():
    assert median([3.0, 1.0, NEVER]).value == 3.0
    assert median([1.0, 2.0, NEVER, NEVER]).value == NEVER
    assert median([1.0, 2.0, 4.0, NEVER]).value == 3.0
    assert math.isnan(median([]).value)


def test_the_interval_of_a_median_covers_it_19_times_in_20():
    # 30 numbers: from the 10th to the 21st (95.7 %).
    of_thirty = median(list(map(float, range(1, 31))))
    assert (of_thirty.low, of_thirty.high) == (10.0, 21.0)
    random = np.random.default_rng(1)
    covered = 0
    for _ in range(2000):
        interval = median(random.exponential(size=30).tolist())
        covered += interval.low <= math.log(2) <= interval.high
    # Three standard errors of 2000 tries.
    assert abs(covered / 2000 - 0.957) < 3 * math.sqrt(0.957 * 0.043 / 2000)


def test_pairs_are_compared_by_the_first_to_finish():
    ours, theirs = (10.0, NEVER, 30.0, NEVER, 5.0), (20.0, 100.0, NEVER, NEVER, 5.0)
    compared = faster(ours, theirs)
    assert compared.values == (1.0, -1.0, 1.0, 0.0, 0.0)
    assert compared.p_value == 1.0
    assert faster((1.0,) * 10, (2.0,) * 10).p_value == pytest.approx(2 / 1024)
    assert paired_ratios(ours, theirs) == (0.5, NEVER, 0.0, 1.0)
