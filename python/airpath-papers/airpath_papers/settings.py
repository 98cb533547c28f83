"""The EBE papers' settings: scenario, configured capacity of routers, and named choices.

Reverse traffic is the most important setting that the papers leave open, so every experiment on the dumbbell
has three settings, which are readings of the papers: **L**, reverse flows on a wide link of 100 Mbit/s;
**T**, the text taken literally (long flows in both directions over the same varying rate); **O**, one-way.

L is the headline: the text demands reverse traffic, which O lacks, and L reproduces more claims than T. Under
T XCP-EBE uses 0.90 of the link, and XCP with the true capacity 0.95; EBE-J's mean is 0.98 of the capacity.
Against L are printed numbers: of EBE-J's three means, three Jain indices and four file times L has 4, T 6 and
O 9, because acknowledgments of the reverse flows are two fifths of the bytes (`docs/papers/index.md`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from airpath.schemes import parse_scheme
from airpath_papers.experiment import Experiment

TWO_WAY: Final = "T"
ONE_WAY: Final = "O"
WIDE_REVERSE: Final = "L"
ALL_SETTINGS: Final = (WIDE_REVERSE, TWO_WAY, ONE_WAY)
"""The three settings, headline first."""

XCP_SCHEMES: Final = ("xcp", "xcp-b", "xcp-ebe")
VCP_SCHEMES: Final = ("vcp", "vcp-ebe")

CAPACITY: Final = "10mbps"
"""CAPACITY of the papers: the configured capacity of a router without estimator, and the initial estimate."""

LINK_BELIEFS: Final = ("20mbps", "20mbps", "10mbps", "20mbps", "20mbps")
"""The same for the five links of the parking lot: their first rates (EBE-J, section IV-B)."""

PARKING_LOT_LINKS: Final = ("R0-R1", "R1-R2", "R2-R3", "R3-R4", "R4-R5")


def believing(scheme: str, capacity: str) -> str:
    """Return a scheme with this capacity for its routers, configured or initial; unchanged without them."""
    known, _ = parse_scheme(scheme)
    return with_options(scheme, capacity=capacity) if "capacity" in known.parameters.keys else scheme


def title(scheme: str) -> str:
    """Return the readable name of a scheme."""
    return parse_scheme(scheme)[0].title


def with_options(scheme: str, **options: Any) -> str:
    """Return a scheme with further options, written as on the command line."""
    written = ",".join(f"{name}={_written(value)}" for name, value in options.items())
    return f"{scheme}{',' if ':' in scheme else ':'}{written}" if written else scheme


def dumbbell(
    setting: str, scheme: str, repetitions: int, changes: Mapping[str, Any] | None = None
) -> Experiment:
    """Return a scheme on the papers' dumbbell with the fixed schedule, in setting T, O or L."""
    return in_setting("ebe-dumbbell", setting, scheme, repetitions, changes)


def in_setting(
    family: str, setting: str, scheme: str, repetitions: int, changes: Mapping[str, Any] | None = None
) -> Experiment:
    """Return a scheme in setting T, O or L of a family of shipped scenarios (`ebe-steps`, …).

    Routers have `CAPACITY`, but that of the wide link in setting L has its rate.
    """
    wide = {"topology.reverse.queue.scheme": believing(scheme, "100mbps")} if setting == WIDE_REVERSE else {}
    return shipped(f"{family}-{setting.lower()}", scheme, repetitions, {**wide, **(changes or {})})


def shipped(name: str, scheme: str, repetitions: int, changes: Mapping[str, Any] | None = None) -> Experiment:
    """Return a scheme in a shipped scenario, with `CAPACITY` for its routers."""
    return Experiment(name, believing(scheme, CAPACITY), changes or {}, repetitions)


def parking_lot(
    highest_mbps: int, scheme: str, repetitions: int, changes: Mapping[str, Any] | None = None
) -> Experiment:
    """Return a scheme on the papers' parking lot, with rates up to 20 or 40 Mbit/s."""
    beliefs = {
        f"topology.bottlenecks.{number}.queue.scheme": believing(scheme, belief)
        for number, belief in enumerate(LINK_BELIEFS)
    }
    name = "ebe-parking-lot" if highest_mbps == 20 else f"ebe-parking-lot-{highest_mbps}"
    return Experiment(name, scheme, {**beliefs, **(changes or {})}, repetitions)


def readings(choices: Iterable[str], settings: Sequence[str] = ALL_SETTINGS) -> dict[str, list[str]]:
    """Return the choices of each setting: its own, and those named after it (`T, SACK`)."""
    listed = list(choices)
    return {setting: [one for one in listed if one.split(", ")[0] == setting] for setting in settings}


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
