"""Common parts of the figures of SARBE: schemes, the choices that the paper leaves open, notes."""

from typing import Final

from airpath_papers.settings import with_options

PAPER: Final = "SARBE"

RENO: Final = "newreno"
WESTWOOD: Final = "westwood"
WESTWOOD_PLUS: Final = "westwood+"
DYNAPARA: Final = "dynapara"
DYNAPARA_TIMED: Final = "dynapara-timed"
SARBE: Final = "sarbe"
SCHEMES: Final = (RENO, WESTWOOD, WESTWOOD_PLUS, DYNAPARA, DYNAPARA_TIMED, SARBE)
"""All compared schemes; the paper has Reno, Westwood, DynaPara and SARBE."""


def of_the_era(scheme: str, **options: str) -> str:
    """Return a scheme whose window grows as in ns-2's TCP: by number of acknowledgments."""
    return with_options(scheme, counting="acknowledgments", slow_start="per-acknowledgment", **options)


TRANSPORT: Final = (
    "As in ns-2 of the time: NewReno recovery, an acknowledgment for each packet, windows that grow by"
    " acknowledgments,"
    " timeouts of 200 ms at least, an initial window of two packets."
)
WHICH_WESTWOOD: Final = (
    "“The recent Westwood module” of ns-2 filters a sample of each acknowledgment bilinearly (tau = 1 s),"
    " and a loss only lowers the window; Westwood+ as in Linux is shown for comparison."
)
STAND_INS: Final = (
    "DynaPara's text was not available. Two stand-ins have its name: “DynaPara-like” switches the"
    " coefficient of each sample between 0.9 and 0.6 by the state of the link, “DynaPara-like, timed” the"
    " coefficient over an RTT between 0.5 and 0.2."
)
