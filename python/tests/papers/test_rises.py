"""XCP after the capacity rises, compared with ns-2's own: the stored ns-2 results are complete, and airpath
agrees with them.
"""

import numpy as np
import pytest
from scipy import stats

from airpath._run.workers import run_job
from airpath.results import RunResult
from airpath.scenario import Scenario
from airpath_papers.ebe_j.rises import FIRST_S, LATER_S, RISEN_MBPS
from airpath_papers.kept_run import job_of
from airpath_papers.measures import throughput_mbps, utilisation
from airpath_papers.ns2_runs import ns2_runs
from airpath_papers.run_data import extract
from airpath_papers.settings import dumbbell

RUNS = {"T": 10, "O": 3}
THEIRS = ns2_runs("airpath_papers.ebe_j")


def theirs(setting):
    return [run for run in THEIRS if run["setting"] == setting]


def test_the_measurements_of_ns_2_are_complete_and_within_the_schedule():
    plan = Scenario.load("ebe-dumbbell-t").plan()
    (bottleneck,) = (link for link in plan["links"] if link["name"] == "bottleneck")
    capacity = np.repeat([bps / 1e6 for bps in bottleneck["rate"]["rates"]], 10)
    assert {rise: capacity[rise] for rise in RISEN_MBPS} == RISEN_MBPS
    assert (len(theirs("T")), len(theirs("O"))) == (30, 10)
    for run in THEIRS:
        assert len(run["throughput_mbps"]) == len(run["queue_kb"]) == capacity.size
        # A packet may leave in the next second; and rounding.
        assert (np.array(run["throughput_mbps"]) <= capacity + 0.02).all()
        assert max(run["queue_kb"]) <= 575
    assert len({tuple(run["throughput_mbps"]) for run in THEIRS}) == len(THEIRS)


@pytest.mark.parametrize("setting", RUNS)
def test_ours_agrees_with_ns_2(setting):
    experiment = dumbbell(setting, "xcp", RUNS[setting])
    ours = [extract(RunResult(run_job(job_of(experiment, number)))) for number in range(RUNS[setting])]
    mean = np.mean([np.mean(run["throughput_mbps"]) for run in theirs(setting)])
    assert np.mean([throughput_mbps(run) for run in ours]) == pytest.approx(mean, rel=0.02)
    for rise, capacity in RISEN_MBPS.items():
        for begin, end in (FIRST_S, LATER_S):
            span = (rise + begin, rise + end)
            own = [utilisation(run, span) for run in ours]
            peer = [np.mean(run["throughput_mbps"][slice(*span)]) / capacity for run in theirs(setting)]
            if setting == "O":  # nearly full in all runs: only that can be tested
                assert np.mean(own) == pytest.approx(np.mean(peer), abs=0.02)
            else:
                assert stats.ttest_ind(own, peer, equal_var=False).pvalue > 0.01, (rise, span)
