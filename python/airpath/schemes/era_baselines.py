"""End-to-end schemes from the years of the papers, for comparison: Vegas, BIC, HighSpeed, H-TCP, Veno."""

from typing import Final

from airpath._declared.tables import table
from airpath.schemes.scheme import Scheme, controller_plan

ERA_BASELINES: Final = (
    Scheme(
        id="vegas",
        title="TCP Vegas",
        description="keeps 2 to 4 segments in the queue, found from the round-trip time (1995; as in Linux)",
        colour="#2CE0F5",
        marker="v",
        controller="vegas",
        parameters=table("controller", "vegas"),
        build=controller_plan,
    ),
    Scheme(
        id="bic",
        title="TCP BIC",
        description="binary search for the window of the last loss (2004; as in Linux)",
        colour="#7A0C2E",
        marker="P",
        controller="bic",
        parameters=table("controller", "bic"),
        build=controller_plan,
    ),
    Scheme(
        id="highspeed",
        aliases=("hstcp",),
        title="HighSpeed TCP",
        description="increase grows and decrease shrinks with the window (RFC 3649)",
        colour="#FF8FB0",
        marker="X",
        controller="highspeed",
        parameters=table("controller", "highspeed"),
        build=controller_plan,
    ),
    Scheme(
        id="htcp",
        aliases=("h-tcp",),
        title="H-TCP",
        description="increase grows with the time since the last loss, decrease adapts to the queue (2004)",
        colour="#1F7A68",
        marker="h",
        controller="htcp",
        parameters=table("controller", "htcp"),
        build=controller_plan,
    ),
    Scheme(
        id="veno",
        title="TCP Veno",
        description="Reno that keeps 4/5 at a loss with a short queue, which it takes for random (2003)",
        colour="#3A12C8",
        marker="^",
        controller="veno",
        parameters=table("controller", "veno"),
        build=controller_plan,
    ),
)
"""The baselines of the papers' years, in the order of lists and legends."""
