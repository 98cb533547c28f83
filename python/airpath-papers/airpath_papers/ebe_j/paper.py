"""Common parts of the figures of EBE-J."""

from typing import Final

PAPER: Final = "EBE-J"

FIXED_SCHEDULE: Final = (
    "The paper draws its rates at random; the spread of its 30 runs (0.03 Mbit/s) shows that it was one"
    " schedule, which it does not print. Ours agrees with its text and means: 10, 14, 17, 19, 15, 17, 5, 2,"
    " 6, 4, 8, 5 Mbit/s, 10 s each."
)
TRAFFIC: Final = (
    "Ours where the paper is silent: 20 long flows in each direction (T), short flows of 100 kB with pauses"
    " of 1 s on average, RTTs spread over 10 ms, 1000 bytes of payload, routers that believe 10 Mbit/s."
)
SETTINGS: Final = (
    "T: reverse traffic over the same moving rate, the text taken literally; O: no reverse traffic;"
    " L: reverse traffic on a link of 100 Mbit/s."
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
    "reverse traffic that saturates the same varying link bunches acknowledgments: even with the true"
    " capacity as its source the protocol stays below 100 %"
)

TIMEOUTS: Final = (
    "Timeouts of 200 ms at least, as ns-2 has them, fire by the hundred in T while nothing is lost; “timeouts"
    " ≥ 1 s” (RFC 6298) and “today's loss recovery” (SACK, proportional rate reduction, spurious timeouts"
    " undone) are shown beside it."
)

LATE_REACTION: Final = (
    "XCP-b's late reaction is a reconstruction, its paper was not available: two intervals pass with the"
    " queue empty, the next probes. In T, each interval less costs XCP-b about 3 % of throughput."
)
