"""VCP on the testbed, compared with a second program, written independently from the same rules."""

import math

import numpy as np
import pytest

from airpath_papers.kept_run import keep_run
from airpath_papers.measures import utilisation
from airpath_papers.store import RunStore
from airpath_papers.vcp_w.testbed_measures import group_mbps
from airpath_papers.vcp_w.testbed_settings import (
    AUTHOR,
    DELAYS_EACH_WAY,
    ENDLESS,
    GROUPS,
    GUARDED,
    QUARTER,
    VCP,
    in_small_packets,
    on_testbed,
)
from airpath_papers.work import read_runs

SPAN = (20.0, 50.0)
REPETITIONS = 10
SECOND = {
    (1500, AUTHOR, False): ((3.658, 0.084), (2.733, 0.086), (2.187, 0.046), 0.925),
    (1500, AUTHOR, True): ((4.651, 0.060), (2.003, 0.052), (1.503, 0.040), 0.881),
    (1500, GUARDED, False): ((3.959, 0.119), (2.314, 0.148), (1.622, 0.110), 0.856),
    (1500, GUARDED, True): ((5.108, 0.119), (1.573, 0.108), (0.856, 0.066), 0.819),
    (1040, AUTHOR, False): ((3.468, 0.063), (2.515, 0.084), (2.078, 0.084), 0.886),
    (1040, AUTHOR, True): ((4.620, 0.051), (1.722, 0.052), (1.218, 0.046), 0.833),
    (1040, GUARDED, True): ((4.906, 0.077), (1.524, 0.082), (0.795, 0.109), 0.799),
    (1040, QUARTER, True): ((4.857, 0.086), (1.168, 0.087), (0.664, 0.053), 0.744),
}
"""By packet size, rule and whether the side links' delays are added each way: Mbit/s of each group with its
standard error, and the utilization of the link. From `tools/second_programs`, argument `vcp`.
"""


@pytest.mark.parametrize(("packet", "rule", "each_way"), SECOND)
def test_rates_are_those_of_a_second_program(tmp_path, packet, rule, each_way):
    changes = {**ENDLESS, "duration": f"{SPAN[1]:.0f}s", **(DELAYS_EACH_WAY if each_way else {})}
    if packet == 1040:
        changes |= in_small_packets(VCP)
    experiment, store = on_testbed(VCP, changes, REPETITIONS, rule), RunStore(tmp_path)
    for repetition in range(REPETITIONS):
        keep_run(experiment, repetition, store, experiment.key())
    runs = read_runs(experiment, store)
    *groups, used = SECOND[packet, rule, each_way]
    for group, (theirs, error) in zip(GROUPS, groups, strict=True):
        ours = np.array([group_mbps(run, group, SPAN) for run in runs])
        own_error = ours.std(ddof=1) / math.sqrt(REPETITIONS)
        assert ours.mean() == pytest.approx(theirs, abs=3 * math.hypot(error, own_error)), group
    assert np.mean([utilisation(run, SPAN) for run in runs]) == pytest.approx(used, abs=0.035)
