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
    """What people need to know of one option."""

    help: str
    """What it is, its unit and its default."""
    default: Any = None
    """Its value if it is not given; `None` if that depends on the link."""
    metavar: str | None = None
    """What stands for its value in the help of a command."""


LINK: Final = Option(
    "A rate (12mbps), a named link (`airpath list links`) or a trace file; without it and --network:"
    f" --network {DEFAULT_NETWORK}."
)
"""The link itself, which functions take as an argument of its own."""


class LinkOptions(TypedDict, total=False):
    """What describes one link, in addition to its rate."""

    network: Annotated[
        str | None,
        Option(
            "Link, RTT, buffer, losses and reverse link at once (`airpath list networks`); the other options"
            " replace parts of it.",
            metavar="NAME",
        ),
    ]
    rtt: Annotated[
        str | None,
        Option(
            "Base round-trip time; that of the named link, else 40ms. A range (20ms..200ms) is spread"
            " evenly over the flows.",
            metavar="TIME[..TIME]",
        ),
    ]
    buffer: Annotated[
        str | None, Option("Buffer (575kB, 500packets, 100ms, 1.5bdp); 1bdp if not given.", metavar="SIZE")
    ]
    queue: Annotated[
        str | None,
        Option(
            "Queue discipline (`airpath list queues`), with options after a colon (codel:target=10ms);"
            " drop-tail.",
            metavar="NAME",
        ),
    ]
    up: Annotated[
        str | None,
        Option("The reverse link, written like --link; the opposite of --link if not given.", metavar="LINK"),
    ]
    loss: Annotated[
        str | float | None,
        Option(
            "Share of packets that each direction loses: 1% independently, 1%:4 in bursts of 4 packets on"
            " average.",
            metavar="SHARE[:BURST]",
        ),
    ]
    jitter: Annotated[
        str | None,
        Option(
            "Extra delay of each packet in each direction: uniform, up to this, in order.", metavar="TIME"
        ),
    ]
    reorder: Annotated[
        str | None,
        Option(
            "Share of packets that the link transmits again after this time (8ms) while later ones overtake.",
            metavar="SHARE[:TIME]",
        ),
    ]


class FlowOptions(LinkOptions, total=False):
    """The same, and the flows over the link."""

    ecn: Annotated[bool, Option("Flows ask for marks instead of drops.", default=False)]
    flows: Annotated[int, Option("Number of flows of each scheme.", default=1)]


class CompareOptions(FlowOptions, total=False):
    """The same, and the runs."""

    duration: Annotated[str, Option("Length of a run, in simulated time.", default="60s", metavar="TIME")]
    warm_up: Annotated[str, Option("Start of the measured interval.", default="0s", metavar="TIME")]
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
