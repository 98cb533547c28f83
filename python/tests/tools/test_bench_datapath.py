"""How `make bench-datapath` evaluates its measurements."""

import bench_datapath as bench
import pytest


def rounds(*shares: float) -> list[dict[str, dict[str, float]]]:
    return [
        {"reno": {"mbps": 4000.0, "resent": 0.0}, "ours": {"mbps": 4000.0 * share, "resent": 0.0}}
        for share in shares
    ]


def test_the_interval_of_a_median_is_that_of_the_binomial_distribution() -> None:
    # Tables of the sign test: 40 values, and 10, of which the second to the ninth.
    assert bench.enclosing(40) == (13, 26)
    assert bench.enclosing(10) == (1, 8)
    assert bench.enclosing(3) == (0, 2)
    assert bench.enclosing(1) == (0, 0)


@pytest.mark.parametrize(
    ("shares", "in_doubt", "slow"),
    [
        ([0.96] * 40, False, False),
        # The median is below the limit, though part of the interval is not: that was accepted once.
        ([0.90] * 24 + [0.99] * 16, True, True),
        ([0.90] * 16 + [0.99] * 24, False, False),
        ([0.90] * 40, False, True),
    ],
)
def test_the_median_decides(shares: list[float], in_doubt: bool, slow: bool) -> None:
    measured = bench.summary(rounds(*shares), "ours")
    assert bench.in_doubt(measured, 0.95) == in_doubt
    assert bench.too_slow([measured], 0.95) == slow


def test_if_chance_may_have_decided_the_second_attempt_counts_and_both_are_reported() -> None:
    below, above = (bench.summary(rounds(*[share] * 5), "ours") for share in (0.94, 0.97))
    assert not bench.too_slow([below, above], 0.95)
    assert bench.too_slow([below, below], 0.95)
    first, second = bench.report("ours", [below, above], 0.95)
    assert first.startswith("ours  ")
    assert "0.94 of reno" in first
    assert first.endswith("less than 0.95")
    assert second.startswith("ours (again)")
    assert "0.97 of reno" in second
    assert not second.endswith("0.95")
