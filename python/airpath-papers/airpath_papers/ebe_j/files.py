"""EBE-J, section IV-A.4: durations of file transfers."""

from typing import Any, Final

from airpath.statistics import TextTable
from airpath_papers.claim import Claim
from airpath_papers.ebe_j.paper import FIXED_SCHEDULE, PAPER, SETTINGS
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import completion_s, of_each
from airpath_papers.rules import Near, Positive
from airpath_papers.sample import cell, difference, sample
from airpath_papers.settings import (
    ALL_SETTINGS,
    TWO_WAY,
    WIDE_REVERSE,
    in_setting,
    readings,
    title,
    with_options,
)

REPETITIONS: Final = 3
PAPER_S: Final = {"vcp": 289.0, "vcp-ebe": 198.0, "xcp": 270.0, "xcp-ebe": 212.0}
"""Mean completion times of the paper, in seconds."""
TOLERANCE: Final = 0.10
"""Tolerance of "near": a tenth, because schedule and traffic are ours."""
FILES: Final = 5

_FEW_REVERSE = {"flows.1.count": 5}


def _vcp(scheme: str, scaling: str) -> str:
    return with_options(scheme, rtt_scaling=scaling) if scheme.startswith("vcp") else scheme


_EXPERIMENTS = (
    {
        setting: {scheme: in_setting("ebe-files", setting, scheme, REPETITIONS) for scheme in PAPER_S}
        for setting in ALL_SETTINGS
    }
    | {
        f"{setting}, VCP unscaled": {
            scheme: in_setting("ebe-files", setting, _vcp(scheme, "unscaled"), REPETITIONS)
            for scheme in PAPER_S
        }
        for setting in (WIDE_REVERSE, TWO_WAY)
    }
    | {
        "T, VCP unscaled, 5 reverse flows": {
            scheme: in_setting("ebe-files", TWO_WAY, _vcp(scheme, "unscaled"), REPETITIONS, _FEW_REVERSE)
            for scheme in PAPER_S
        },
    }
)


def _times(of: Any, scheme: str) -> list[float]:
    return of_each(of(scheme), lambda run: completion_s(run, "file", FILES))


def _table(runs: FigureRuns) -> list[TextTable]:
    return [
        TextTable(
            "Mean completion time of five files of 50 MB, in seconds (± half-width of the 95 % interval)",
            ("scheme", "paper", *runs.choices),
            tuple(
                (
                    scheme,
                    f"{PAPER_S[scheme]:g}",
                    *(cell(_times(runs.of(choice), scheme)) for choice in runs.choices),
                )
                for scheme in PAPER_S
            ),
        )
    ]


def _claim(scheme: str, reason: str) -> Claim:
    return Claim(
        scheme,
        f"five files of 50 MB take {PAPER_S[scheme]:g} s on average under {title(scheme)}",
        Near(PAPER_S[scheme], TOLERANCE),
        "mean completion time",
        lambda of: sample(_times(of, scheme)),
        unit="s",
        reason=reason,
    )


_ACKNOWLEDGMENTS = (
    "in L two fifths of the link carry acknowledgments of the reverse flows, which leaves the files the rest"
)
_IMPOSSIBLE = (
    f"{_ACKNOWLEDGMENTS}; 198 s is the whole mean capacity for five files; with saturating reverse traffic"
    " (T), VCP with scaled increases leaves part of it unused"
)

FILE_TRANSFERS: Final = Figure(
    id="ebe-j/files",
    paper=PAPER,
    title="Completion times of file transfers",
    experiments=_EXPERIMENTS,
    readings=readings(_EXPERIMENTS),
    sentences={
        "xcp": ("xcp", "xcp-ebe", "xcp-ebe-shorter"),
        "vcp": ("vcp", "vcp-ebe", "vcp-ebe-shorter"),
    },
    draw=None,
    tables=_table,
    claims=(
        _claim("xcp", _ACKNOWLEDGMENTS),
        _claim("xcp-ebe", _ACKNOWLEDGMENTS),
        _claim("vcp", _ACKNOWLEDGMENTS),
        _claim("vcp-ebe", _IMPOSSIBLE),
        Claim(
            "xcp-ebe-shorter",
            "XCP-EBE shortens the transfers",
            Positive(),
            "mean completion time, XCP minus XCP-EBE",
            lambda of: difference(_times(of, "xcp"), _times(of, "xcp-ebe")),
            unit="s",
        ),
        Claim(
            "vcp-ebe-shorter",
            "VCP-EBE shortens the transfers",
            Positive(),
            "mean completion time, VCP minus VCP-EBE",
            lambda of: difference(_times(of, "vcp"), _times(of, "vcp-ebe")),
            unit="s",
        ),
    ),
    notes=(
        FIXED_SCHEDULE,
        "The schedule starts over after 120 s; a megabyte has 10^6 bytes.",
        SETTINGS,
        "In T 20 long flows in the reverse direction, as in the dumbbell; no other forward traffic.",
    ),
)
