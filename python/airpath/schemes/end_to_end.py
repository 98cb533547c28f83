"""End-to-end schemes: they only need routers to forward and drop packets."""

from typing import Final

from airpath._declared.tables import table
from airpath.schemes.era_baselines import ERA_BASELINES
from airpath.schemes.scheme import Scheme, controller_plan

_CUBIC_2008: Final = table(
    "controller",
    "cubic",
    fixed={"form": "2008"},
    defaults={"beta": 0.8, "slow_start": "per-acknowledgment"},
    help_texts={
        "beta": "Share of the window that remains after a loss (Linux 2.6.22: 819/1024, the paper's decrease"
        " of 0.2).",
        "slow_start": "Slow start; Linux did not count bytes then (`tcp_abc` = 0), and HyStart came later.",
    },
)


END_TO_END: Final = (
    Scheme(
        id="newreno",
        aliases=("reno",),
        title="TCP NewReno",
        description="additive increase, multiplicative decrease (RFC 5681, RFC 6582)",
        colour="#0072B2",
        marker="o",
        controller="newreno",
        parameters=table("controller", "newreno"),
        build=controller_plan,
    ),
    Scheme(
        id="cubic",
        title="TCP CUBIC",
        description="window grows as a cubic of the time since the last loss (RFC 9438), with HyStart++",
        colour="#D55E00",
        marker="s",
        controller="cubic",
        parameters=table("controller", "cubic", fixed={"form": "rfc9438"}),
        build=controller_plan,
    ),
    Scheme(
        id="cubic-2008",
        title="TCP CUBIC (2008)",
        description="CUBIC as published and in Linux 2.6.22: keeps 0.8 at a loss, no HyStart",
        colour="#E69F00",
        marker="D",
        controller="cubic",
        parameters=_CUBIC_2008,
        build=controller_plan,
        # RFC 3390, section 1: three segments of 1460 bytes; the ten of RFC 6928 were published years later.
        transport={"initial_window": "3 packets"},
    ),
    *ERA_BASELINES,
    Scheme(
        id="cubic-ebe",
        title="CUBIC-EBE",
        description="CUBIC of 2008 whose W_max follows EBE, with probing while the queue is short",
        # A darker shade of the colour of cubic-2008, with which it is compared.
        colour="#8a4f00",
        marker="d",
        controller="cubic",
        parameters=table("controller", "cubic-ebe", base=_CUBIC_2008, fixed={"form": "2008"}),
        build=controller_plan,
        estimator="ebe",
        transport={"initial_window": "3 packets"},
    ),
    Scheme(
        id="bbr",
        title="BBR v3",
        description="paces at the estimated bandwidth, keeps about one bandwidth-delay product in flight",
        colour="#6060f0",
        marker="P",
        controller="bbr",
        parameters=table("controller", "bbr"),
        build=controller_plan,
    ),
    Scheme(
        id="copa",
        title="Copa",
        description="towards a rate that is the inverse of the queueing delay (NSDI 2018)",
        colour="#30d878",
        marker="X",
        controller="copa",
        parameters=table("controller", "copa"),
        build=controller_plan,
    ),
    Scheme(
        id="prague",
        title="TCP Prague",
        description="falls by half the share of marked data: for queues of low latency (L4S), as DualPI2's",
        colour="#b8336a",
        marker="p",
        controller="prague",
        parameters=table("controller", "prague"),
        build=controller_plan,
        # RFC 9331, section 4: ECT(1), feedback of the number of marks, and no bursts.
        transport={"ecn": "accurate", "pacing": True},
    ),
    Scheme(
        id="dctcp",
        title="DCTCP",
        description="falls by half the share of marked data: for data centres (RFC 8257)",
        colour="#5a5a00",
        marker="8",
        controller="prague",
        parameters=table(
            "controller",
            "prague",
            # Prague's rule equals DCTCP's if every RTT is at least as long as the virtual one.
            fixed={"virtual_rtt": 1},
            help_texts={
                "gain": "g: the weight of the share of marks in one round (RFC 8257, section 4.2: 1/16)."
            },
        ),
        build=controller_plan,
        # Feedback of the number of marks, instead of the echo that RFC 8257 defines for each mark.
        transport={"ecn": "accurate"},
    ),
    Scheme(
        id="ledbat++",
        title="LEDBAT++",
        description="background traffic: keeps 60 ms in the queue and gives way to flows that fill it",
        colour="#1800f0",
        marker="*",
        controller="ledbat++",
        parameters=table("controller", "ledbat++"),
        build=controller_plan,
        # draft-irtf-iccrg-ledbat-plus-plus, section 4.1.
        transport={"initial_window": "2 packets"},
    ),
    Scheme(
        id="fixed",
        title="Fixed window",
        description="a window that never changes, for calibration (parameter window, optional rate)",
        colour="#000000",
        marker="x",
        controller="fixed",
        parameters=table("controller", "fixed"),
        build=controller_plan,
    ),
)
"""Every end-to-end scheme without an ACK-rate estimator, in the order of lists and legends."""
