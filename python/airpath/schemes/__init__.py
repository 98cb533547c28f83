"""The registry of congestion-control schemes: names, styles in figures, parameters, and their plans.

A scheme is a congestion controller, possibly fed by a bandwidth estimator. Identifiers follow the Linux
kernel: lower case, with the version if it matters. Router-assisted schemes are composed: `xcp-ebe` is XCP
with EBE as the capacity source of its routers.
"""

from airpath.schemes.agent import AGENT
from airpath.schemes.estimators import ESTIMATORS, Estimator, estimator_plan, find_estimator
from airpath.schemes.kernel import KERNEL_SCHEMES
from airpath.schemes.labels import LOOKS, equal_labels, label_of, refuse_equal_labels, short_name
from airpath.schemes.quinn import QUINN_SCHEMES
from airpath.schemes.registry import SCHEMES, find_scheme, parse_scheme, same_scheme
from airpath.schemes.scheme import LinkFacts, Router, Scheme

__all__ = [
    "AGENT",
    "ESTIMATORS",
    "KERNEL_SCHEMES",
    "LOOKS",
    "QUINN_SCHEMES",
    "SCHEMES",
    "Estimator",
    "LinkFacts",
    "Router",
    "Scheme",
    "equal_labels",
    "estimator_plan",
    "find_estimator",
    "find_scheme",
    "label_of",
    "parse_scheme",
    "refuse_equal_labels",
    "same_scheme",
    "short_name",
]
