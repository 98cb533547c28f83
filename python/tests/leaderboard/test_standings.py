"""Ranks: scores by hand, the bound, cases for tuning, missing values, and the Pareto front."""

import math

import pytest

from airpath.leaderboard import Scores, standings
from airpath.leaderboard.standings import of_case

BOARD = {
    "name": "small",
    "columns": ["score", "utilisation", "queueing_p95_ms", "jain_index"],
    "repetitions": 2,
    "entries": ["cubic", "vegas"],
    "cases": [
        {"name": "one", "link": "10mbps"},
        {"name": "four", "link": "20mbps", "flows": 4},
        {"name": "practice", "link": "5mbps", "tuning": True},
    ],
}


def values(used, queueing_p95=10.0, jain=None, mean=30.0, queueing=10.0, p95=40.0):
    one = {
        "utilisation": used,
        "queueing_p95_ms": queueing_p95,
        "jain_index": jain,
        "delay_p95_ms": p95,
        "delay_mean_ms": mean,
        "queueing_mean_ms": queueing,
    }
    return {name: value if isinstance(value, list) else [value, value] for name, value in one.items()}


def scored(board=BOARD, **cases) -> Scores:
    scores = Scores(board)
    for case, entries in cases.items():
        for entry, found in entries.items():
            scores.put(case, entry, "digest", found)
    return scores


def test_a_score_is_the_power_relative_to_an_empty_queue_times_fairness():
    scores = scored(
        one={"cubic": values([0.8, 1.0])},
        four={"cubic": values(0.8, jain=0.5)},
        practice={"cubic": values(0.1)},
    )
    # 20 ms without queueing, of 40 ms.
    assert of_case(scores, "one", "cubic", "score") == pytest.approx([0.4, 0.5])
    assert of_case(scores, "four", "cubic", "score") == pytest.approx([0.2, 0.2])
    (found,) = standings(scores)
    by_seed = [math.sqrt(0.4 * 0.2), math.sqrt(0.5 * 0.2)]
    assert found.values["score"].mean == pytest.approx(sum(by_seed) / 2)
    assert found.values["utilisation"].mean == pytest.approx((0.8 + 0.9) / 2)
    # Only one case has several flows.
    assert found.values["jain_index"].mean == 0.5


def test_the_half_width_is_that_of_students_t_over_seeds():
    (found,) = standings(scored(one={"cubic": values([0.8, 1.0])}))
    assert found.values["utilisation"].half == pytest.approx(
        12.7062 * math.sqrt(0.02) / math.sqrt(2), rel=1e-5
    )


def test_the_leader_is_compared_seed_by_seed():
    first, second = standings(scored(one={"cubic": values([0.5, 0.9]), "vegas": values([0.4, 0.8])}))
    assert (first.rank, first.entry, second.rank, second.entry) == (1, "cubic", 2, "vegas")
    assert second.behind.mean == pytest.approx(0.05)
    assert second.behind.half == pytest.approx(0.0, abs=1e-12)


def test_nothing_delivered_is_a_score_of_zero():
    nothing = values(0.0, queueing_p95=None, mean=None, queueing=None, p95=None)
    first, second = standings(scored(one={"cubic": nothing, "vegas": values(0.1)}))
    assert (first.entry, second.entry) == ("vegas", "cubic")
    assert second.values["score"].mean == 0.0
    assert not second.on_front


def test_an_entry_without_values_in_a_ranked_case_has_no_rank():
    scores = scored(
        one={"cubic": values(0.5), "vegas": {}}, four={"cubic": values(0.5), "vegas": values(1.0)}
    )
    first, second = standings(scores)
    assert (first.entry, first.rank, second.rank, second.missing) == ("cubic", 1, 0, ("one",))
    # Cases for tuning do not rank.
    scores = scored(one={"cubic": values(0.5)}, practice={"cubic": {}})
    assert standings(scores)[0].rank == 1


def test_utilisation_is_relative_to_the_bound_with_the_same_seed():
    scores = scored({**BOARD, "bound": "cubic"}, one={"cubic": values([0.5, 0.8]), "vegas": values(0.4)})
    assert of_case(scores, "one", "vegas", "utilisation") == pytest.approx([0.8, 0.5])


def test_the_front_has_the_entries_that_no_other_dominates():
    points = {"a": (0.9, 50.0), "b": (0.8, 60.0), "c": (0.7, 10.0), "d": (0.7, 10.0), "e": (0.6, 20.0)}
    scores = scored(one={name: values(used, queueing_p95=delay) for name, (used, delay) in points.items()})
    assert {one.entry for one in standings(scores) if one.on_front} == {"a", "c", "d"}


def test_errors_rank_upwards():
    board = {
        **BOARD,
        "kind": "estimators",
        "entries": ["westwood", "sarbe"],
        "columns": ["bandwidth_estimate_error_mean_percent", "bandwidth_estimate_error_p95_percent"],
    }
    errors = {"westwood": 20.0, "sarbe": 5.0}
    metrics = board["columns"]
    found = standings(scored(board, one={n: {key: [e, e] for key in metrics} for n, e in errors.items()}))
    assert [(one.entry, one.behind.mean) for one in found] == [("sarbe", 0.0), ("westwood", 15.0)]
