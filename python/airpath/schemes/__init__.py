"""The registry of congestion-control schemes: names, looks in figures, parameters, and what a run is told.

A scheme is a congestion controller, possibly fed by a bandwidth estimator. Identifiers follow the Linux
kernel: lower case, with the version where it matters. Router-assisted schemes are composed: `xcp-ebe` is XCP
with EBE as the capacity source of its routers.
"""

from airpath.schemes.agent import AGENT
from airpath.schemes.estimators import ESTIMATORS, Estimator, estimator_plan, find_estimator
from airpath.schemes.kernel import KERNEL_SCHEMES
from airpath.schemes.quinn import QUINN_SCHEMES
from airpath.schemes.registry import SCHEMES, find_scheme, parse_scheme, same_scheme
from airpath.schemes.scheme import LinkFacts, Router, Scheme

__all__ = [
    "AGENT",
    "ESTIMATORS",
    "KERNEL_SCHEMES",
    "QUINN_SCHEMES",
    "SCHEMES",
    "Estimator",
    "LinkFacts",
    "Router",
    "Scheme",
    "estimator_plan",
    "find_estimator",
    "find_scheme",
    "parse_scheme",
    "same_scheme",
]
