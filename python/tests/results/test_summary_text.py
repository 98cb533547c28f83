"""Summaries at the terminal and for machines have the same numbers; digits depend on intervals."""

import io
import json
import re

import pytest
from rich.console import Console

from airpath.metrics import METRICS
from airpath.results import Results, summary_json, summary_table
from airpath.results.blocks import Blocks
from airpath.results.formatting import mean_and_half_width, number
from airpath.scenario.damage import damage

from .synthetic import small_record

NASTY = '<script>alert("1")</script> & {{ 7 * 7 }} https://example.org/x.js'


@pytest.fixture(scope="module")
def results() -> Results:
    return Results.from_records([small_record(scheme, n, n) for scheme in ("cubic", NASTY) for n in range(2)])


def test_numbers_have_no_more_than_four_significant_digits() -> None:
    assert [number(value) for value in (2.2204e-16, -3e-9, 1.23456e-5)] == [
        "2.22e-16",
        "-3e-09",
        "0.00001235",
    ]


def test_the_terminal_table_shows_schemes_and_headline_metrics(results: Results) -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(summary_table(results.summary))
    text = console.export_text()
    assert "cubic" in text
    assert "p95 queue" in text
    assert "0.75" in text
    assert NASTY.split()[0] in text


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160, 300])
def test_no_cell_of_many_schemes_breaks_in_a_terminal_of_any_width(width: int) -> None:
    schemes = ["cubic", "newreno", "vegas", "westwood+", "cubic-ebe", "bbr"]
    records = [small_record(scheme, repetition) for scheme in schemes for repetition in range(2)]
    table = summary_table(Results.from_records(records).summary)
    assert isinstance(table, Blocks)
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(table)
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
    rows = {scheme: [line for line in lines if line.split()[:1] == [scheme]] for scheme in schemes}
    blocks = len(rows["bbr"])
    assert (blocks > 1) == (width <= 80)
    assert all(len(found) == blocks for found in rows.values()), "a row is one line"
    shown = [cell for line in rows["bbr"] for cell in re.split(r"  +", line.strip())]
    for cells in table.columns.values():
        assert cells[-1] in shown


def test_the_machine_readable_summary_is_json_with_the_same_numbers(results: Results) -> None:
    content = json.loads(json.dumps(summary_json(results.summary), allow_nan=False))
    cubic = content["schemes"]["cubic"]
    assert set(cubic) == set(METRICS)
    assert cubic["utilisation"]["mean"] == 0.75
    assert cubic["utilisation"]["n"] == 2
    assert [run["repetition"] for run in content["runs"]] == [0, 1, 0, 1]
    alone = summary_json(Results.from_records([small_record()]).summary)
    assert alone["schemes"]["cubic"]["utilisation"]["sd"] is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.75, "0.7500"),
        (1234.5, "1234"),
        (12.3456, "12.35"),
        (0.00123456, "0.001235"),
        (float("nan"), "—"),
    ],
)
def test_numbers_have_four_significant_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [(7.3912, 6.53, 8.25, "7.39 ± 0.86"), (309.2, 264.2, 354.2, "309 ± 45"), (1.0, 1.0, 1.0, "1")],
)
def test_a_mean_has_the_digits_that_its_interval_warrants(
    mean: float, low: float, high: float, text: str
) -> None:
    assert mean_and_half_width({"mean": mean, "ci95_low": low, "ci95_high": high}) == text


def test_losses_of_a_plan_of_format_1_are_described() -> None:
    chain = {"stay_good": 0.99, "stay_bad": 0.9, "modulation": "qpsk", "antennas": "2x2", "rician_k": 2.0}
    coding = {"data": [93, 100], "acks": None, "small_bytes": 100, "parity_takes_time": True}
    fading = {
        "chain": {"kind": "fading", "snr_db": 20.0, "bad_snr_drop_db": 8.0, **chain},
        "clock": {"kind": "bit", "coding": coding, "step_by_step": False},
    }
    arq = {"retries": 2, "delay_ns": 8_000_000, "in_order": True}
    assert damage({"loss": 0.0, "bursts": fading, "arq": arq}) == (
        "losses in bursts (fading, QPSK, SNR 20 dB, 12 dB in the bad state, antennas 2x2, Rician factor 2),"
        " chain clocked by bit, code rate 0.93 of data, parity takes time,"
        " retransmitted at most 2 times after 8 ms, delivered in order"
    )
    means = {"kind": "means", "loss": 0.02, "burst": 5.0}
    timed = {"chain": means, "clock": {"kind": "time", "step_ns": 1_000_000}}
    assert damage({"loss": 0.0, "bursts": timed}) == (
        "losses in bursts (gilbert), chain clocked by time of 1 ms"
    )
