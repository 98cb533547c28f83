"""How `make bench` evaluates its measurements."""

import bench


def costs(*cpu_s: float) -> list[bench.Cost]:
    return [bench.Cost(1, 1000, seconds, 0.001, 4.0) for seconds in cpu_s]


def test_a_slow_period_shared_by_a_pair_does_not_change_the_ratio() -> None:
    # Three of five pairs run twice as slowly, one while the machine changes its speed.
    ours, theirs = costs(1.0, 1.0, 2.0, 2.0, 2.0), costs(5.0, 5.0, 5.0, 10.0, 10.0)
    assert bench.ratios(theirs, ours) == [2.5, 5.0, 5.0, 5.0, 5.0]
    assert bench.middle(bench.ratios(theirs, ours)) == 5.0
    # The ratio of the two medians differs.
    assert bench.medians(theirs).cpu_s / bench.medians(ours).cpu_s == 2.5


def test_skipped_runs_have_no_ratio() -> None:
    assert bench.middle([]) is None
