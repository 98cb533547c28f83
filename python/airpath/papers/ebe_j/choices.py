"""Named choices for XCP that several figures show beside the headline."""

from typing import Final

from airpath.papers.experiment import Experiment
from airpath.papers.settings import TWO_WAY, WIDE_REVERSE, XCP_SCHEMES, dumbbell, with_options

LONGER_TIMEOUT: Final = "T, timeouts ≥ 1 s"
"""Retransmission timeouts of at least 1 s (RFC 6298) instead of 200 ms (ns-2)."""

TODAYS_SENDER: Final = "T, today's loss recovery"
"""Senders that repair losses as deployed ones do: SACK with proportional rate reduction, timeouts that
timestamps prove spurious undone, the floor of the timeout on its variance term.
"""

SACK: Final = "T, SACK"
"""Senders that repair every hole that selective acknowledgments show (RFC 6675), instead of one for each
round trip as NewReno does.
"""

STANDARD_SENDER: Final = "T, SACK, timeouts ≥ 1 s, undone"
"""Senders as the RFCs have them: SACK (RFC 6675), timeouts of at least 1 s (RFC 6298), undone where
timestamps prove them spurious (RFC 3522 and 4015).
"""

DATA_SHARE: Final = "L, data share"
"""Negative feedback is shared by the bytes of data packets, not of acknowledgments too (ns-2)."""

NO_HALVING: Final = "T, losses do not halve"
"""A loss is repaired and does not halve the window of XCP's senders (ns-2: it does)."""


def longer_timeout(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with longer timeouts."""
    return {
        scheme: dumbbell(TWO_WAY, scheme, repetitions, {"transport.min_rto": "1s"}) for scheme in XCP_SCHEMES
    }


def todays_sender(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with today's loss recovery."""
    changes = {
        "transport.recovery": "prr",
        "transport.lost_retransmission_detection": True,
        "transport.spurious_timeout_undo": True,
        "transport.rto_floor": "variance",
    }
    return {scheme: dumbbell(TWO_WAY, scheme, repetitions, changes) for scheme in XCP_SCHEMES}


def sack(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with selective acknowledgments."""
    return {
        scheme: dumbbell(TWO_WAY, scheme, repetitions, {"transport.recovery": "sack"})
        for scheme in XCP_SCHEMES
    }


def standard_sender(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with loss recovery and timeouts as the RFCs have them."""
    changes = {
        "transport.recovery": "sack",
        "transport.min_rto": "1s",
        "transport.spurious_timeout_undo": True,
    }
    return {scheme: dumbbell(TWO_WAY, scheme, repetitions, changes) for scheme in XCP_SCHEMES}


def data_share(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting L, data packets alone sharing the negative feedback."""
    return {
        scheme: dumbbell(WIDE_REVERSE, with_options(scheme, negative_share="data"), repetitions)
        for scheme in XCP_SCHEMES
    }


def no_halving(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with senders that only repair losses."""
    return {
        scheme: dumbbell(TWO_WAY, with_options(scheme, halve_on_loss=False), repetitions)
        for scheme in XCP_SCHEMES
    }
