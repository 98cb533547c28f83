"""Differences of two results, from artificial numbers: shares, directions, order, labels."""

import math
from pathlib import Path

import pytest

from airpath.diff import MetricDifference, differences
from airpath.diff.differences import diff, seeds_text
from airpath.diff.sides import Side, Variant, flattened
from airpath.errors import OutputError, UsageError
from airpath.results.changes import Change
from airpath.statistics import MeanDifference, MeanEstimate

NAN = math.nan


def variant(seeds=(1, 2, 3), settings=None, facts=None, **metrics):
    values = {name: dict(zip(seeds, of, strict=False)) for name, of in metrics.items()}
    return Variant(settings or {}, {"world": "sim", "plan": "p"} | (facts or {}), tuple(seeds), values)


@pytest.fixture
def compare(monkeypatch):
    def compare(first, second, kinds=("runs", "runs"), traces=("t", "t")):
        sides = {
            Path(name): Side(Path(name), kind, {"sha256": {"inputs": {"my.trace": trace}}}, {}, of)
            for name, kind, of, trace in zip("ab", kinds, (first, second), traces, strict=True)
        }
        monkeypatch.setattr(differences, "read_side", sides.__getitem__)
        return diff("a", "b")

    return compare


def difference(metric, first, second):
    of_first, of_second = (MeanEstimate(value, value, value, 2) for value in (first, second))
    by = second - first
    return MetricDifference("x", metric, of_first, of_second, MeanDifference(by, by, by, 2))


def test_a_share_is_of_the_first_mean_whatever_its_sign():
    assert difference("utilisation", 0.5, 0.6).share == pytest.approx(0.2)
    assert difference("utilisation", 0.5, 0.4).share == pytest.approx(-0.2)
    assert difference("utilisation", -0.5, -0.4).share == pytest.approx(0.2)
    assert difference("timeouts", 0.0, 3.0).share == math.inf
    assert difference("timeouts", 0.0, -3.0).share == -math.inf
    assert difference("timeouts", 0.0, 0.0).share == 0.0
    assert math.isnan(difference("timeouts", NAN, 1.0).share)


@pytest.mark.parametrize(
    ("metric", "first", "second", "improves"),
    [
        ("utilisation", 0.5, 0.6, True),
        ("utilisation", 0.6, 0.5, False),
        ("queueing_p95_ms", 5.0, 6.0, False),
        ("queueing_p95_ms", 6.0, 5.5, True),
        ("capacity_mbps", 5.0, 6.0, None),
        ("utilisation", NAN, 0.5, None),
    ],
)
def test_the_better_direction_depends_on_the_metric(metric, first, second, improves):
    assert difference(metric, first, second).improves is improves


def test_significant_differences_come_first_then_by_share_and_those_without_a_share_lead(compare):
    doubtful = {"timeouts": (1.0, 9.0, 2.0), "goodput_mbps": (1.0, 1.1, 1.0)}
    first = {"cubic": variant(utilisation=(0.5,) * 3, queueing_p95_ms=(10.0,) * 3, **doubtful)}
    moved = {"timeouts": (9.0, 1.0, 9.0), "goodput_mbps": (1.1, 1.0, 1.1), "completions": (3.0,)}
    second = {"cubic": variant(utilisation=(0.6,) * 3, queueing_p95_ms=(5.0,) * 3, **moved)}
    found = compare(first, second)
    assert [one.metric for one in found.metrics] == [
        "queueing_p95_ms",
        "utilisation",
        "completions",
        "timeouts",
        "goodput_mbps",
    ]
    delay = found.metrics[0]
    assert (delay.first.mean, delay.second.mean, delay.difference.difference) == (10.0, 5.0, -5.0)
    assert (delay.difference.pairs, found.same, found.is_empty) == (3, 0, False)


def test_differences_per_seed_count_even_with_equal_means(compare):
    same = compare({"cubic": variant(timeouts=(1.0, 2.0))}, {"cubic": variant(timeouts=(1.0, 2.0))})
    assert (same.metrics, same.same, same.is_empty) == ((), 1, True)
    swapped = compare({"cubic": variant(timeouts=(1.0, 2.0))}, {"cubic": variant(timeouts=(2.0, 1.0))})
    assert [one.difference.difference for one in swapped.metrics] == [0.0]
    # For one run, and for runs that have no seed in common, the means are compared.
    one = compare({"cubic": variant((1,), timeouts=(1.0,))}, {"cubic": variant((1,), timeouts=(1.0,))})
    assert one.is_empty
    others = compare({"cubic": variant((1, 2), timeouts=(1, 2))}, {"cubic": variant((3, 4), timeouts=(2, 1))})
    assert (others.metrics, others.changes) == ((), (Change("seeds", "1, 2", "3, 4"),))


def test_pairs_of_compared_results(compare):
    found = compare(
        {"cubic": variant(timeouts=(1.0,)), "bbr": variant(timeouts=(1.0,))},
        {"copa": variant(timeouts=(2.0,)), "cubic": variant(timeouts=(1.0,))},
    )
    assert [one.label for one in found.metrics] == ["bbr → copa"]
    assert (found.only_first, found.only_second, found.same) == ((), (), 1)
    found = compare({"a": variant(), "b": variant()}, {"c": variant(), "b": variant()} | {"d": variant()})
    assert (found.only_first, found.only_second) == (("a",), ("c", "d"))
    assert (found.first, found.second, found.is_empty) == (Path("a"), Path("b"), False)
    few = compare({"a": variant(), "b": variant()}, {"c": variant()})
    assert (few.only_first, few.only_second) == (("a", "b"), ("c",))
    assert not compare({"a": variant()}, {}).is_empty
    assert not compare({}, {"a": variant()}).is_empty
    with pytest.raises(UsageError, match="found runs in a and a sweep in b; accepted: two results"):
        compare({}, {}, ("runs", "sweep"))


def test_changed_schemes_are_named_and_a_plan_only_if_nothing_else_differs(compare):
    key = {"duration": '"1s"'}, {"duration": '"2s"'}
    plans = [{"plan": "p"}, {"plan": "q"}]
    first = {"cubic": variant(settings=key[0], facts=plans[0]), "bbr": variant(settings=key[0])}
    second = {"cubic": variant(settings=key[1], facts=plans[1]), "bbr": variant(settings=key[0])}
    assert compare(first, second).changes == (Change("duration (cubic)", '"1s"', '"2s"'),)
    second["bbr"] = variant(settings=key[1])
    assert compare(first, second).changes == (Change("duration", '"1s"', '"2s"'),)
    plain = compare({"cubic": variant(facts=plans[0])}, {"cubic": variant(facts=plans[1])})
    assert plain.changes == (Change("plan of the same scenario", "one", "another"),)
    assert not plain.is_empty
    renamed = {"cubic": variant(), "bbr": variant(settings=key[0])}, {"cubic": variant(), "copa": variant()}
    assert compare(*renamed).changes == (Change("duration (bbr → copa)", '"1s"', None),)
    trace = compare({"cubic": variant()}, {"cubic": variant()}, traces=("t", "u"))
    assert trace.changes == (Change("input my.trace", "t", "u"),)
    world = compare({"cubic": variant()}, {"cubic": variant(facts={"world": "quic"})})
    assert world.changes == (Change("world", "sim", "quic"),)


@pytest.mark.parametrize(
    ("seeds", "said"),
    [((7,), "7"), ((1, 2), "1, 2"), ((1, 2, 3), "1 to 3"), ((2, 4, 6), "2, 4, 6"), ((3, 2, 1), "3, 2, 1")],
)
def test_seeds_are_written_as_ranges(seeds, said):
    assert seeds_text(seeds) == said


def test_keys_of_a_scenario_are_its_leaves():
    text = (
        'name = "a"\nempty = {}\nlist = [1, 2]\n[x.y]\nz = 1.5\n[[flows]]\nscheme = "cubic"\n[[flows]]\nn = 2'
    )
    assert flattened(text, Path("p")) == {
        "name": '"a"',
        "empty": "{}",
        "list": "[1, 2]",
        "x.y.z": "1.5",
        "flows.0.scheme": '"cubic"',
        "flows.1.n": "2",
    }
    with pytest.raises(OutputError, match="p: a stored scenario is not valid TOML"):
        flattened("=", Path("p"))
