"""Named choices for XCP under two-way traffic that several figures show beside the headline."""

from typing import Final

from airpath.papers.experiment import Experiment
from airpath.papers.settings import TWO_WAY, XCP_SCHEMES, dumbbell, with_options

LONGER_TIMEOUT: Final = "T, timeouts ≥ 1 s"
"""Retransmission timeouts of at least 1 s (RFC 6298) instead of 200 ms (ns-2)."""

LATER_REACTION: Final = "T, late reaction 3"
"""XCP-b waits for one more empty interval before it probes."""

NO_HALVING: Final = "T, losses do not halve"
"""A loss is repaired and does not halve the window of XCP's senders (ns-2: it does)."""


def longer_timeout(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with longer timeouts."""
    return {
        scheme: dumbbell(TWO_WAY, scheme, repetitions, {"transport.min_rto": "1s"}) for scheme in XCP_SCHEMES
    }


def later_reaction(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with a later reaction of XCP-b; the others are as in T."""
    return {
        scheme: dumbbell(
            TWO_WAY, with_options(scheme, late_reaction=3) if scheme == "xcp-b" else scheme, repetitions
        )
        for scheme in XCP_SCHEMES
    }


def no_halving(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with senders that only repair losses."""
    return {
        scheme: dumbbell(TWO_WAY, with_options(scheme, halve_on_loss=False), repetitions)
        for scheme in XCP_SCHEMES
    }
