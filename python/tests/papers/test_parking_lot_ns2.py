"""VCP-W's parking lot under ns-2's own XCP: the stored ns-2 results are complete, and airpath agrees with
them.
"""

import numpy as np
import pytest

from airpath._run.workers import run_job
from airpath.results import RunResult
from airpath_papers.kept_run import job_of
from airpath_papers.measures import mean_queue
from airpath_papers.ns2_runs import ns2_runs
from airpath_papers.run_data import extract
from airpath_papers.vcp_w.channel import DATA_BYTES
from airpath_papers.vcp_w.fig6 import AFTER as QUEUES_AFTER
from airpath_papers.vcp_w.fig6 import BEFORE as QUEUES_BEFORE
from airpath_papers.vcp_w.paper import SHORT_TIMEOUTS, XCP
from airpath_papers.vcp_w.parking_lot import AFTER, BEFORE, LINKS, PARKING_LOT, local_to_long, on
from airpath_papers.vcp_w.parking_lot_ns2 import LEAST_TIMEOUTS_S, ns2_values

DEFAULT, NEVER_EXPIRES = LEAST_TIMEOUTS_S.values()
RUNS = 6
LOCAL = [(link, after) for link in LINKS for after in (False, True) if (link, after) != ("CD", False)]
"""Links and times with local flows."""


def theirs(quantity, least):
    return np.array([np.mean(ns2_values(least, quantity, link, after)) for link, after in LOCAL])


def ours(runs, quantity):
    def one(run, link, after):
        if quantity == "local_over_long":
            return local_to_long(run, link, AFTER if after else BEFORE)
        packets = run.links[link].buffer_bytes / DATA_BYTES
        return mean_queue(run, QUEUES_AFTER if after else QUEUES_BEFORE, link) * packets

    return np.array([np.mean([one(run, link, after) for run in runs]) for link, after in LOCAL])


@pytest.fixture(scope="module")
def runs():
    """Return runs by the minimum timeout of the ns-2 runs that they are compared with.

    With short timeouts the queue of CD is 9 to 13 packets in single runs, so two runs are not enough.
    """

    def run(changes):
        experiment = on(PARKING_LOT, XCP, RUNS, changes)
        return [extract(RunResult(run_job(job_of(experiment, number)))) for number in range(RUNS)]

    return {NEVER_EXPIRES: run({}), DEFAULT: run(SHORT_TIMEOUTS)}


def test_the_measurements_of_ns_2_are_complete():
    for least, times_out in ((DEFAULT, True), (NEVER_EXPIRES, False)):
        some = [run for run in ns2_runs("airpath_papers.vcp_w") if run["least_timeout_s"] == least]
        assert len({run["seed"] for run in some}) == 10
        assert len({str(run["local_over_long"]) for run in some}) == 10
        for run in some:
            assert run["drops"] == [0, 0, 0, 0]
            assert (run["timeouts"] > 1000) is times_out
            assert list(run["local_over_long"]) == list(run["queue_packets"]) == list(LINKS)


@pytest.mark.parametrize(("least", "share"), [(NEVER_EXPIRES, 0.04), (DEFAULT, 0.1)])
def test_ours_agrees_with_ns_2(runs, least, share):
    quantities = ("local_over_long", "queue_packets")
    shares, queues = (ours(runs[least], quantity) / theirs(quantity, least) for quantity in quantities)
    assert abs(shares - 1).max() < share, shares
    assert abs(queues - 1).max() < 0.15, queues


def test_timeouts_without_losses_shorten_queues_here_and_in_ns_2(runs):
    after = [number for number, (_, later) in enumerate(LOCAL) if later]
    both = (
        ours(runs[DEFAULT], "queue_packets") / ours(runs[NEVER_EXPIRES], "queue_packets"),
        theirs("queue_packets", DEFAULT) / theirs("queue_packets", NEVER_EXPIRES),
    )
    for shorter in both:
        assert shorter[after].max() < 0.8, shorter


def test_flows_time_out_only_with_short_timeouts(runs):
    counts = {least: np.mean([run.timeouts.sum() for run in some]) for least, some in runs.items()}
    assert counts[DEFAULT] > 10 * counts[NEVER_EXPIRES], counts
