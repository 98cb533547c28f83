"""The description of one link, its flows and its runs: one definition for commands, functions and suites.

Each field of `OneLink` and of the classes derived from it is an option of commands, a keyword argument of
functions and a key of suites of checks. Only its name and its type are repeated, in `LinkOptions` and the
dictionaries derived from it, because type checkers read keyword arguments from nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Annotated, Any, Final, Self, TypedDict, get_type_hints

from airpath._nearest import suggestion
from airpath.errors import UsageError

DEFAULT_NETWORK: Final = "lte"
"""The network that is used if neither a link nor a network is given."""


@dataclass(frozen=True)
class Option:
    """The help text of a field."""

    help: str
    """A noun phrase with unit, range and default."""
    metavar: str | None = None
    """The placeholder of its value in the help of a command."""


@dataclass(frozen=True, kw_only=True)
class OneLink:
    """One link in each direction. An option that is `None` has the value of the network or the named link."""

    link: Annotated[
        str | None,
        Option(
            "Rate (12mbps), named link (`airpath list links`) or trace file; default: that of --network.",
            metavar="LINK",
        ),
    ] = None
    network: Annotated[
        str | None,
        Option(
            "Network (`airpath list networks`) with link, RTT, buffer, losses and reverse link; other options"
            f" replace parts of it; default without --link: {DEFAULT_NETWORK}.",
            metavar="NAME",
        ),
    ] = None
    rtt: Annotated[
        str | None,
        Option(
            "Base round-trip time, or a range (20ms..200ms) that is spread evenly over the flows; default:"
            " that of the named link, else 40ms.",
            metavar="TIME",
        ),
    ] = None
    buffer: Annotated[
        str | None,
        Option(
            "Size of the buffer (575kB, 500packets, 100ms, 1.5bdp); default: that of the named link or of the"
            " queue, else 1bdp.",
            metavar="SIZE",
        ),
    ] = None
    queue: Annotated[
        str | None,
        Option(
            "Queue discipline (`airpath list queues`), with options after a colon (codel:target=10ms);"
            " default: drop-tail.",
            metavar="NAME",
        ),
    ] = None
    up: Annotated[
        str | None,
        Option("Reverse link, written like --link; default: the opposite of --link.", metavar="LINK"),
    ] = None
    loss: Annotated[
        str | float | None,
        Option(
            "Share of packets lost in each direction, independently (1%) or in bursts of 4 packets on average"
            " (1%:4); default: none.",
            metavar="SHARE[:BURST]",
        ),
    ] = None
    jitter: Annotated[
        str | None,
        Option(
            "Largest extra delay of a packet in each direction, uniform from 0, without reordering; default:"
            " none.",
            metavar="TIME",
        ),
    ] = None
    reorder: Annotated[
        str | None,
        Option(
            "Share of packets that the link repeats after a time (1%:5ms; 8ms if absent), overtaken by"
            " others; default: none.",
            metavar="SHARE[:TIME]",
        ),
    ] = None

    @classmethod
    def of(cls, link: str | None, given: Mapping[str, Any]) -> Self:
        """Return the link with the given options, and the defaults of the others.

        Raises
        ------
        UsageError
            If there is no such option, or a value is not of its type.
        """
        hints = get_type_hints(cls)
        options = [name for name in hints if name != "link"]
        for name, value in given.items():
            if name not in options:
                raise UsageError(f'there is no option "{name}"; {suggestion(name, options)}')
            if hints[name] == str | None and not isinstance(value, str | None):
                raise UsageError(f"{name}: found {value!r}; accepted: text")
            if hints[name] is bool and not isinstance(value, bool):
                raise UsageError(f"{name}: found {value!r}; accepted: True, False")
        return cls(link=link, **given)

    @property
    def name(self) -> str:
        """The name of the network or the link, for titles and folders."""
        return self.network or self.link or DEFAULT_NETWORK


@dataclass(frozen=True, kw_only=True)
class LinkAndFlows(OneLink):
    """One link and its flows."""

    ecn: Annotated[bool, Option("ECN marks instead of drops (RFC 3168), if the queue marks.")] = False
    flows: Annotated[int, Option("Number of flows of each scheme.")] = 1


@dataclass(frozen=True, kw_only=True)
class Comparison(LinkAndFlows):
    """One link, its flows and the runs."""

    duration: Annotated[str, Option("Length of a run, in simulated time.")] = "60s"
    warm_up: Annotated[
        str,
        Option(
            "Start of the measured interval; auto: 2 s after the latest start, at most a fifth of the run."
        ),
    ] = "auto"
    seed: Annotated[int, Option("Seed of the first repetition; repetition k uses seed + k.")] = 1
    repetitions: Annotated[int, Option("Number of repetitions.")] = 1


class LinkOptions(TypedDict, total=False):
    """The keyword arguments of a function of one link, documented by `OneLink`."""

    network: str | None
    rtt: str | None
    buffer: str | None
    queue: str | None
    up: str | None
    loss: str | float | None
    jitter: str | None
    reorder: str | None


class FlowOptions(LinkOptions, total=False):
    """The keyword arguments of a function of one link and its flows, documented by `LinkAndFlows`."""

    ecn: bool
    flows: int


class CompareOptions(FlowOptions, total=False):
    """The keyword arguments of a function of one link, its flows and the runs, documented by `Comparison`."""

    duration: str
    warm_up: str
    seed: int
    repetitions: int


def options_of(kind: type[OneLink]) -> Mapping[str, Option]:
    """Return the help texts of the fields of a class, by name, with that of `link` first."""
    hints = get_type_hints(kind, include_extras=True)
    return MappingProxyType({one.name: hints[one.name].__metadata__[0] for one in fields(kind)})
