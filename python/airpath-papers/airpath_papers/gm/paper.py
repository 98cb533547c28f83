"""Common parts of the figures of GM: settings, experiments, notes."""

from collections.abc import Mapping
from typing import Any, Final

from airpath_papers.experiment import Experiment
from airpath_papers.settings import with_options

PAPER: Final = "GM"

REPETITIONS: Final = 10

WIRE: Final = 1500 / 1460
"""Conversion from payload, which estimators count, to whole packets, which the paper counts."""
SETTLED_S: Final = 20.0
"""Start of the measurement: the start of an estimate and the first slow start are excluded."""

IN_CONTROL: Final = "filter in control"
"""The sender's window follows the plotted filter, as the text says."""
BESIDE: Final = "filter observing"
"""The sender's window follows the anti-aliased filter (6); the plotted filter has no effect."""
TEN_REVERSE: Final = "10 reverse flows"
LONGER_TIMEOUT: Final = "timeouts ≥ 1 s"
"""As in ns-2 until October 2004."""

PACKETS: Final = (
    "Estimators count payload; rates here are multiplied by 1500/1460, because the paper counts whole"
    " packets of 1500 bytes."
)
SETTING: Final = (
    "Our choices, not defined in the paper: 40 reverse flows that start within 5 s, with random RTTs from"
    " 25 to 250 ms; access links of 100 Mbit/s; equal buffers in both directions; delayed acknowledgments"
    " wait 100 ms at most, windows grow by acknowledgments, timeouts are 200 ms at least, all as in ns-2."
    " Measured from 20 s on."
)
GUARD: Final = (
    "A loss only lowers the window, as in the ns-2 module of 2002; the paper's formula without that guard"
    " could raise it."
)


def sender(scheme: str) -> str:
    """Return a scheme whose window grows by acknowledgments, as ns-2's senders do."""
    return with_options(scheme, counting="acknowledgments", slow_start="per-acknowledgment")


def constant(scheme: str, changes: Mapping[str, Any] | None = None) -> Experiment:
    """Return a sender on the dumbbell with constant bandwidth, with reverse traffic."""
    return Experiment("gm-constant", sender(scheme), changes or {}, REPETITIONS)


def varying(scheme: str, *, reverse: bool, changes: Mapping[str, Any] | None = None) -> Experiment:
    """Return a sender on the dumbbell with varying bandwidth, with or without reverse traffic."""
    name = "gm-varying-two-way" if reverse else "gm-varying"
    return Experiment(name, sender(scheme), changes or {}, REPETITIONS)


def ten_flows(scheme: str, *, reverse: int) -> Experiment:
    """Return ten senders of different RTTs, with this number of reverse flows."""
    if reverse == 0:
        return Experiment("gm-ten-flows-one-way", sender(scheme), {}, REPETITIONS)
    return Experiment("gm-ten-flows", sender(scheme), {"flows.1.count": reverse}, REPETITIONS)
