"""Common parts of the figures of EBE-J."""

from typing import Final

PAPER: Final = "EBE-J"

FIXED_SCHEDULE: Final = (
    "The paper uses random rates; the spread of its 30 runs (0.03 Mbit/s) shows that they were one"
    " schedule, which it does not print. Our schedule agrees with its text and means: 10, 14, 17, 19, 15,"
    " 17, 5, 2, 6, 4, 8, 5 Mbit/s, 10 s each."
)
TRAFFIC: Final = (
    "Our choices, not defined in the paper: 20 long flows in each direction (T), short flows of 100 kB with"
    " pauses of 1 s on average, RTTs spread over 10 ms, 1000 bytes of payload, routers configured with 10"
    " Mbit/s."
)
SETTINGS: Final = (
    "L: reverse traffic on a link of 100 Mbit/s, the headline; T: reverse traffic over the same variable"
    " rate, the literal reading of the text; O: no reverse traffic, which the text demands. Under T"
    " XCP-EBE uses 0.90 of the link, and XCP with the true capacity 0.95; the paper's mean is 0.98 of the"
    " capacity. Under L the acknowledgments of the reverse flows are two fifths of the bytes on the link."
)

RISING: Final = (10.0, 60.0)
"""Time in which the capacity is above the 10 Mbit/s configured in routers, in seconds."""
FALLEN: Final = (60.0, 120.0)
"""Time in which it is below."""

NEAR_FULL: Final = 0.95
"""Our reading of a utilisation "near 100 %", as a mean over the run."""
LOW_QUEUE: Final = 0.03
"""Our reading of a "low" queue, as a share of the buffer."""

TWO_WAY_LIMIT: Final = (
    "in T reverse traffic that saturates the same varying link bunches acknowledgments: even with the true"
    " capacity as its source the protocol stays below 100 %"
)

TIMEOUTS: Final = (
    "With a smallest timeout of 200 ms, as in ns-2, hundreds of timeouts expire in T without losses;"
    " “timeouts ≥ 1 s” (RFC 6298) and “today's loss recovery” (SACK, proportional rate reduction, spurious"
    " timeouts undone) are shown for comparison."
)

LATE_REACTION: Final = (
    "XCP-b's late reaction is a reconstruction, because its paper was not available: after two intervals"
    " with an empty queue the next one probes. In T, each interval less reduces XCP-b's throughput by about"
    " 3 %."
)
