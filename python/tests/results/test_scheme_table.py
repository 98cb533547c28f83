"""The table of several schemes, and the sentence below it."""

import io
import math

import pyarrow as pa
import pytest
from rich.console import Console

from airpath.metrics import METRICS
from airpath.metrics.summary import summary
from airpath.results import summary_table
from airpath.results.formatting import mean_and_half_width
from airpath.results.significance import significant_differences


def table_of(runs: dict[str, list[dict[str, float]]]) -> pa.Table:
    """Return the summary of runs, of which single metrics are given by scheme and seed."""
    nothing = dict.fromkeys(METRICS, math.nan)
    return summary(
        (scheme, number, 1 + number, nothing | given)
        for scheme, seeds in runs.items()
        for number, given in enumerate(seeds)
    )


def runs(throughputs: list[float], delays: list[float]) -> list[dict[str, float]]:
    return [
        {"throughput_mbps": throughput, "queueing_p95_ms": delay, "loss_rate": 0.01, "utilisation": 0.9}
        for throughput, delay in zip(throughputs, delays, strict=True)
    ]


def printed(table: pa.Table, width: int) -> list[str]:
    text = io.StringIO()
    Console(file=text, width=width).print(summary_table(table))
    return text.getvalue().splitlines()


def test_eleven_schemes_fit_into_a_hundred_columns():
    names = [f"cubic:beta=0.{number}" for number in range(70, 81)]
    lines = printed(table_of({name: runs([8.1, 8.2, 8.35], [700.0, 650.0, 777.0]) for name in names}), 100)
    rows = [line for line in lines if line.strip().startswith("cubic:")]
    assert [line.split()[0] for line in rows] == names
    assert max(map(len, lines)) <= 100
    heads = " ".join(lines[:2]).split()
    assert {"throughput", "utilisation", "p95", "lost"} <= set(heads)
    assert "8.22 ± 0.31" in rows[0]


def test_measures_have_four_digits_and_counts_none():
    seed = {"throughput_mbps": 12.0, "utilisation": 1.0, "loss_rate": 0.0, "retransmitted_packets": 8.0}
    lines = printed(table_of({"a": [seed, seed], "b": [seed, seed]}), 100)
    (row,) = (line for line in lines if line.split()[:1] == ["a"])
    assert row.split() == ["a", "12.00", "1.000", "0", "8"]


def test_metrics_without_a_value_have_no_column():
    lines = printed(table_of({name: runs([1.0], [2.0]) for name in ("a", "b")}), 100)
    assert not any("Jain" in line for line in lines)


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (0.037391, 0.000072, "0.03739 ± 0.00007"),
        (0.0369, 0.0025, "0.0369 ± 0.0025"),
        (418255.0, 6935.0, "418300 ± 6900"),
        (11.9812345, 0.00002, "11.98"),
        (241.3, 55.0, "241 ± 55"),
        (0.0, 0.002, "0.0000 ± 0.0020"),
        (-3.126, 0.41, "-3.13 ± 0.41"),
        (2.5, 0.0, "2.500"),
        (math.nan, math.nan, "—"),
    ],
)
def test_numbers_have_two_digits_of_their_interval_and_four_at_most(mean, half, text):
    assert mean_and_half_width({"mean": mean, "ci95_low": mean - half, "ci95_high": mean + half}) == text


def test_two_schemes_are_compared_by_their_paired_differences():
    # The seeds differ by more than the schemes: only paired differences separate the schemes.
    table = table_of(
        {"a": runs([5.0, 6.0, 7.0], [9.0, 7.0, 8.0]), "b": runs([4.9, 5.89, 6.91], [7.0, 9.0, 8.0])}
    )
    assert significant_differences(table) == [
        "a has 0.100 Mbit/s more throughput; a and b do not differ significantly in p95 queueing delay"
    ]


def test_a_lower_delay_is_better_in_the_table():
    table = table_of({"a": runs([5.0, 5.0], [30.0, 31.0]), "b": runs([5.0, 5.0], [10.0, 11.0])})
    assert significant_differences(table) == [
        "a and b do not differ significantly in throughput; b has 20.0 ms less p95 queueing delay"
    ]


def test_of_many_schemes_the_best_are_named_with_those_like_them():
    table = table_of(
        {
            "a": runs([9.0, 9.1, 9.2], [50.0, 51.0, 52.0]),
            "b": runs([9.1, 9.0, 9.15], [40.0, 41.0, 42.5]),
            "c": runs([2.0, 2.1, 2.2], [4.0, 4.1, 4.2]),
        }
    )
    assert significant_differences(table) == [
        "a has the most throughput (9.10 Mbit/s), not significantly more than b;"
        " c has the least p95 queueing delay (4.10 ms)"
    ]


def test_single_seeds_show_no_differences():
    assert (
        "--reps" in significant_differences(table_of({"a": runs([1.0], [1.0]), "b": runs([2.0], [1.0])}))[0]
    )
    assert significant_differences(table_of({"a": runs([1.0, 2.0], [1.0, 2.0])})) == []
