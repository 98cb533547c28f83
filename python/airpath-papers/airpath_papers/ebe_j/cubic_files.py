"""EBE-J, section IV-A.4: durations of file transfers under CUBIC and CUBIC-EBE."""

from typing import Any, Final

from airpath.statistics import TextTable
from airpath_papers.claim import Claim
from airpath_papers.ebe_j.cubic import CUBIC, CUBIC_EBE, READING, SCHEMES, TRAFFIC, pair, ratio
from airpath_papers.ebe_j.paper import PAPER
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import completion_s, of_each
from airpath_papers.rules import Near, Positive
from airpath_papers.run_data import RunData
from airpath_papers.sample import cell, difference, sample
from airpath_papers.settings import title

REPETITIONS: Final = 30
PAPER_S: Final = {CUBIC: 211.0, CUBIC_EBE: 185.0}
"""Mean completion times of the paper, in seconds."""
TOLERANCE: Final = 0.10
"""Tolerance of "near", as for the other file transfers."""
FILES: Final = 5

AS_PRINTED: Final = "100 MB, 1 to 40 Mbit/s"
LARGER: Final = "1 GB, 1 to 400 Mbit/s"


def _time(run: RunData) -> float:
    return completion_s(run, "file", FILES)


def _table(runs: FigureRuns) -> list[TextTable]:
    def row(name: str, published: float, measured: Any) -> tuple[str, ...]:
        return (name, f"{published:.3g}", *(cell(measured(runs.of(choice))) for choice in runs.choices))

    return [
        TextTable(
            "Mean completion time of five files, in seconds (± half-width of the 95 % interval)",
            ("scheme", "paper", *runs.choices),
            (
                *(
                    row(title(scheme), PAPER_S[scheme], lambda of, scheme=scheme: of_each(of(scheme), _time))
                    for scheme in SCHEMES
                ),
                row("ratio", PAPER_S[CUBIC_EBE] / PAPER_S[CUBIC], lambda of: ratio(of, _time)),
            ),
        )
    ]


def _claim(scheme: str, reason: str) -> Claim:
    return Claim(
        scheme,
        f"five files take {PAPER_S[scheme]:g} s on average under {title(scheme)}",
        Near(PAPER_S[scheme], TOLERANCE),
        "mean completion time",
        lambda of: sample(of_each(of(scheme), _time)),
        unit="s",
        reason=reason,
    )


_RATES: Final = (
    "the paper does not print its rates, and random rates differ by a quarter; the file size is uncertain"
    " too. Five files are 4 (or 40) Gbit, which mean rates of 20.5 (or 200.5) Mbit/s carry in 195 (or 200) s"
    " if the link is never idle"
)

CUBIC_FILES: Final = Figure(
    id="ebe-j/files-cubic",
    paper=PAPER,
    title="Completion times of file transfers, CUBIC and CUBIC-EBE",
    experiments={
        AS_PRINTED: pair("ebe-cubic-files-100mb", REPETITIONS),
        LARGER: pair("ebe-cubic-files-1gb", REPETITIONS),
    },
    sentences={"times": tuple(PAPER_S), "shorter": ("shorter", "by-how-much")},
    draw=None,
    tables=_table,
    claims=(
        _claim(CUBIC, _RATES),
        _claim(CUBIC_EBE, _RATES),
        Claim(
            "shorter",
            "CUBIC-EBE shortens the transfers",
            Positive(),
            "mean completion time, CUBIC minus CUBIC-EBE, in pairs of the same rates",
            lambda of: difference(of_each(of(CUBIC), _time), of_each(of(CUBIC_EBE), _time)),
            unit="s",
        ),
        Claim(
            "by-how-much",
            "by about 15 % (185 of 211 s are 12.3 % less)",
            Near(PAPER_S[CUBIC_EBE] / PAPER_S[CUBIC], TOLERANCE),
            "mean completion time, CUBIC-EBE over CUBIC",
            lambda of: ratio(of, _time),
            reason=_RATES,
        ),
    ),
    notes=(
        "Files of 100 MB, as printed, take some 200 s only if the rates are at most 40 Mbit/s (the captions"
        " of figures 8 and 9) instead of 400; with 1 to 400 Mbit/s the files must have been 1 GB. Both are"
        " run; a megabyte has 10^6 bytes.",
        "Each run samples its own rates, starting with 20 and 200 Mbit/s.",
        TRAFFIC,
        READING,
    ),
)
