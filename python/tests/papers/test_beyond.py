"""The figures about `busy` and Kite: experiments named by link and scheme, and tables of measures."""

from fabricated import run_data

from airpath_papers.beyond.links import by_link, on_link
from airpath_papers.beyond.overview import Measure, by_choice, table_of
from airpath_papers.figure import FigureRuns


def _jain(run):
    return run.metrics["jain_index"]


def runs_of(*values):
    return [run_data(metrics={"jain_index": value}) for value in values]


def rows_of(runs, found):
    (table,) = table_of("Fairness", [Measure("Jain index", _jain)], found)(FigureRuns(runs))
    assert table.head == ("link", "scheme", "Jain index")
    return table.rows


def test_a_choice_is_a_row_for_each_scheme():
    runs = {"10 Mbit/s, 40 ms": {"Kite": runs_of(0.5, 0.7)}, "LTE": {"Kite": runs_of(0.25)}}
    assert rows_of(runs, by_choice) == (
        ("10 Mbit/s, 40 ms", "Kite", "0.6 ± 1.3"),
        ("LTE", "Kite", "0.2500"),
    )


def test_names_of_experiments_have_the_link_and_the_scheme():
    runs = {"LTE, up: Kite, full target": runs_of(0.25), "LTE, up: BBR v3": runs_of(0.5)}
    assert rows_of({"one flow": runs}, by_link) == (
        ("LTE, up", "Kite, full target", "0.2500"),
        ("LTE, up", "BBR v3", "0.5000"),
    )
    links = [link for link, *_ in rows_of({"one flow": runs, "four flows": runs}, by_link)]
    assert links == ["LTE, up, one flow"] * 2 + ["LTE, up, four flows"] * 2
    assert on_link(runs.__getitem__, "LTE, up", "BBR v3", _jain) == 0.5
