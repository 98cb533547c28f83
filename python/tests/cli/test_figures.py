"""`airpath figures` plots the chosen figures as the chosen files."""

import pytest
from commands import Outcome


@pytest.fixture
def results(airpath):
    done: Outcome = airpath(
        "compare", "cubic", "vegas", "--link", "2mbps", "--duration", "3s", "--no-report", "--out", "out/r"
    )
    assert done.code == 0, done.err
    return "out/r"


def test_only_the_chosen_figures_are_drawn_as_the_chosen_files(airpath, folder, results):
    done = airpath("figures", results, "--format", "pdf", "--only", "trade-off,window", "--out", "paper")
    assert done.code == 0, done.err
    names = {path.name for path in (folder / "paper").iterdir()}
    assert names == {"trade-off.pdf", "window-cubic.pdf", "window-vegas.pdf", "captions.txt"}
    assert (folder / "paper" / "trade-off.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [("--format", "bmp", "accepted: png, svg, pdf"), ("--only", "x", "accepted: trade-off, summary")],
)
def test_accepted_values_are_listed(airpath, results, option, value, said):
    done = airpath("figures", results, option, value)
    assert done.code == 2
    assert said in done.err
