"""Named choices for XCP that several figures show in addition to the headline."""

from typing import Any, Final

from airpath_papers.experiment import Experiment
from airpath_papers.settings import TWO_WAY, WIDE_REVERSE, XCP_SCHEMES, dumbbell, with_options

LONGER_TIMEOUT: Final = "T, timeouts ≥ 1 s"
"""Retransmission timeouts of at least 1 s (RFC 6298) instead of 200 ms (ns-2)."""

TODAYS_SENDER: Final = "T, today's loss recovery"
"""Senders with deployed loss recovery: SACK with proportional rate reduction, timeouts undone if timestamps
prove them spurious, the floor of the timeout on its variance term.
"""

SACK: Final = "T, SACK"
"""Senders that repair every hole shown by selective acknowledgments (RFC 6675), instead of one for each round
trip as NewReno does.
"""

STANDARD_SENDER: Final = "T, SACK, timeouts ≥ 1 s, undone"
"""Senders according to the RFCs: SACK (RFC 6675), timeouts of at least 1 s (RFC 6298), undone if timestamps
prove them spurious (RFC 3522 and 4015).
"""

DATA_SHARE: Final = "L, data share"
"""Negative feedback is shared by the bytes of data packets only, not also of acknowledgments (as in ns-2)."""

NO_HALVING: Final = "T, losses do not halve"
"""A loss is repaired but does not halve the window of XCP's senders (in ns-2, it does)."""


def longer_timeout(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with longer timeouts."""
    return _two_way(repetitions, min_rto="1s")


def todays_sender(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with currently deployed loss recovery."""
    return _two_way(
        repetitions,
        recovery="prr",
        lost_retransmission_detection=True,
        spurious_timeout_undo=True,
        rto_floor="variance",
    )


def sack(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with selective acknowledgments."""
    return _two_way(repetitions, recovery="sack")


def standard_sender(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with loss recovery and timeouts according to the RFCs."""
    return _two_way(repetitions, recovery="sack", min_rto="1s", spurious_timeout_undo=True)


def _two_way(repetitions: int, **transport: Any) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with these transport settings."""
    changes = {f"transport.{name}": value for name, value in transport.items()}
    return {scheme: dumbbell(TWO_WAY, scheme, repetitions, changes) for scheme in XCP_SCHEMES}


def data_share(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting L with negative feedback shared by data packets only."""
    return {
        scheme: dumbbell(WIDE_REVERSE, with_options(scheme, negative_share="data"), repetitions)
        for scheme in XCP_SCHEMES
    }


def no_halving(repetitions: int) -> dict[str, Experiment]:
    """Return the three XCP schemes in setting T with senders that repair losses without halving."""
    return {
        scheme: dumbbell(TWO_WAY, with_options(scheme, halve_on_loss=False), repetitions)
        for scheme in XCP_SCHEMES
    }
