"""The options that describe one link, its flows and its runs, each with its help text: one definition.

Commands take them as options, functions as keyword arguments, suites of checks as keys.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Final, TypedDict, get_type_hints

DEFAULT_NETWORK: Final = "lte"
"""The network that is used if neither a link nor a network is given."""


@dataclass(frozen=True)
class Option:
    """An option, as its help describes it."""

    help: str
    """A noun phrase with unit and default."""
    default: Any = None
    """Its value if it is not given; `None` if that depends on the link."""
    metavar: str | None = None
    """The placeholder of its value in the help of a command."""


LINK: Final = Option(
    "Rate (12mbps), named link (`airpath list links`) or trace file; default: that of --network.",
    metavar="LINK",
)
"""The link itself, which functions take as an argument of its own."""


class LinkOptions(TypedDict, total=False):
    """The properties of one link, except its rate."""

    network: Annotated[
        str | None,
        Option(
            "Network (`airpath list networks`) with link, RTT, buffer, losses and reverse link; other options"
            f" replace parts of it; default without --link: {DEFAULT_NETWORK}.",
            metavar="NAME",
        ),
    ]
    rtt: Annotated[
        str | None,
        Option(
            "Base round-trip time, or a range (20ms..200ms) that is spread evenly over the flows; default:"
            " that of the named link, else 40ms.",
            metavar="TIME",
        ),
    ]
    buffer: Annotated[
        str | None,
        Option(
            "Size of the buffer (575kB, 500packets, 100ms, 1.5bdp); default: that of the named link or of the"
            " queue, else 1bdp.",
            metavar="SIZE",
        ),
    ]
    queue: Annotated[
        str | None,
        Option(
            "Queue discipline (`airpath list queues`), with options after a colon (codel:target=10ms);"
            " default: drop-tail.",
            metavar="NAME",
        ),
    ]
    up: Annotated[
        str | None,
        Option("Reverse link, written like --link; default: the opposite of --link.", metavar="LINK"),
    ]
    loss: Annotated[
        str | float | None,
        Option(
            "Share of packets lost in each direction, independently (1%) or in bursts of 4 packets on average"
            " (1%:4); default: none.",
            metavar="SHARE[:BURST]",
        ),
    ]
    jitter: Annotated[
        str | None,
        Option(
            "Largest extra delay of a packet in each direction, uniform from 0, without reordering; default:"
            " none.",
            metavar="TIME",
        ),
    ]
    reorder: Annotated[
        str | None,
        Option(
            "Share of packets that the link repeats after a time (1%:5ms; 8ms if absent), overtaken by"
            " others; default: none.",
            metavar="SHARE[:TIME]",
        ),
    ]


class FlowOptions(LinkOptions, total=False):
    """The properties of one link and its flows."""

    ecn: Annotated[bool, Option("ECN marks instead of drops (RFC 3168), if the queue marks.", default=False)]
    flows: Annotated[int, Option("Number of flows of each scheme.", default=1)]


class CompareOptions(FlowOptions, total=False):
    """The properties of one link, its flows and the runs."""

    duration: Annotated[str, Option("Length of a run, in simulated time.", default="60s")]
    warm_up: Annotated[
        str,
        Option(
            "Start of the measured interval; auto: 2 s after the latest start, at most a fifth of the run.",
            default="auto",
        ),
    ]
    seed: Annotated[int, Option("Seed of the first repetition; repetition k uses seed + k.", default=1)]
    repetitions: Annotated[int, Option("Number of repetitions.", default=1)]


def options_of(kind: type) -> Mapping[str, Option]:
    """Return the options of one of these typed dictionaries, by name."""
    return MappingProxyType(
        {name: hint.__metadata__[0] for name, hint in get_type_hints(kind, include_extras=True).items()}
    )


def with_defaults(kind: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given, with the defaults of the other options.

    Raises
    ------
    UsageError
        If there is no such option, or a value is not of its type.
    """
    from airpath.errors import UsageError
    from airpath.nearest import suggestion

    options, hints = options_of(kind), get_type_hints(kind)
    for name, value in given.items():
        if name not in options:
            raise UsageError(f'there is no option "{name}"; {suggestion(name, options)}')
        if hints[name] == str | None and not isinstance(value, str | None):
            raise UsageError(f"{name}: found {value!r}; accepted: text")
        if hints[name] is bool and not isinstance(value, bool):
            raise UsageError(f"{name}: found {value!r}; accepted: True, False")
    return {name: option.default for name, option in options.items()} | dict(given)
