"""The registry of ACK-rate estimators: names, styles in figures, parameters, and their plans.

[Westwood][airpath.schemes.westwood] uses them for control; flows can run them in addition to their
controllers, and captures are replayed through them.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from airpath._declared.messages import Fault
from airpath._declared.tables import Parameters, TableError, Values, table
from airpath._nearest import suggestion
from airpath.errors import UsageError
from airpath.plugins.specs import Spec
from airpath.schemes.ack_rate import ack_rate_plan, back_to_back, filtered
from airpath.schemes.options import options_of, split_options


@dataclass(frozen=True)
class Estimator:
    """One ACK-rate estimator."""

    id: str
    """Its name in scenarios, tables and on the command line."""
    title: str
    """Its name in figures and reports."""
    description: str
    """A description in one line."""
    colour: str
    """Its colour in every figure, `#rrggbb`; that of the scheme that controls with it."""
    parameters: Parameters
    """Its parameters, with units, ranges and defaults."""

    def build(self, values: Values) -> dict[str, Any]:
        """Return the estimator with these values of its parameters in the form of a plan."""
        return ack_rate_plan(self.parameters, values)


_EACH_ROUND_TRIP: Final = (
    "round-trip",
    "As `samples` elsewhere; here one for each round trip unless told otherwise.",
)
_OF_INTERVALS: Final = (
    "interval",
    "As `samples` elsewhere; here data of a fixed time unless told otherwise.",
)
_BY_RECEIVER: Final = (
    "receiver-clock",
    "As `samples` elsewhere; here by the receiver's timestamps unless told otherwise.",
)
_OF_TRANSPORT: Final = (
    "delivery-rate",
    "As `samples` elsewhere; here the transport's own unless told otherwise.",
)


ESTIMATORS: Final = (
    Estimator(
        id="westwood",
        title="Westwood",
        description="each ACK's sample through the bilinear filter, GM (6), with virtual samples of zero",
        colour="#882255",
        parameters=filtered("bilinear"),
    ),
    Estimator(
        id="westwood-zoh",
        title="Westwood (zero-order hold)",
        description="each ACK's sample through GM's filter (2)",
        colour="#aa4499",
        parameters=filtered("zero-order-hold"),
    ),
    Estimator(
        id="westwood-ti",
        title="Westwood (time-invariant)",
        description="each ACK's sample through GM's filter (3), whatever the time between",
        colour="#cc6677",
        parameters=filtered("time-invariant"),
    ),
    Estimator(
        id="westwood-aa",
        title="Westwood (anti-aliased)",
        description="one sample for each RTT through the bilinear filter, GM (6)",
        colour="#332288",
        parameters=filtered(
            "bilinear",
            samples=_EACH_ROUND_TRIP,
            defaults={"virtual_samples": "held"},
            help_texts={
                "virtual_samples": "What long gaps are filled with; here the sample itself each tau/4 (GM,"
                " section 5)."
            },
        ),
    ),
    Estimator(
        id="westwood-10ms",
        title="Westwood (10 ms)",
        description="samples of at least 10 ms through the bilinear filter, GM (6): for bursty links",
        colour="#aa3377",
        parameters=filtered("bilinear", samples=_OF_INTERVALS),
    ),
    Estimator(
        id="westwood-zoh-aa",
        title="Westwood (zero-order hold, anti-aliased)",
        description="one sample for each RTT through GM's filter (2)",
        colour="#6699cc",
        parameters=filtered("zero-order-hold", samples=_EACH_ROUND_TRIP),
    ),
    Estimator(
        id="westwood-ti-aa",
        title="Westwood (time-invariant, anti-aliased)",
        description="one sample for each RTT through GM's filter (3)",
        colour="#88ccee",
        parameters=filtered("time-invariant", samples=_EACH_ROUND_TRIP),
    ),
    Estimator(
        id="westwood+",
        title="Westwood+",
        description="one sample for each RTT through two low-pass filters, in the integers of Linux",
        colour="#44aa99",
        parameters=table("ack-rate", "westwood-plus"),
    ),
    Estimator(
        id="sarbe",
        title="SARBE",
        description="samples by the receiver's timestamps through the stability filter",
        colour="#117733",
        parameters=filtered("stability", samples=_BY_RECEIVER),
    ),
    Estimator(
        id="dynapara",
        title="DynaPara-like",
        description="stand-in for DynaPara: each ACK's sample, a coefficient for each state of the link",
        colour="#999933",
        parameters=filtered("two-state", fixed={"timed": False}),
    ),
    Estimator(
        id="dynapara-timed",
        title="DynaPara-like, timed",
        description="stand-in for DynaPara: the same with coefficients over an RTT",
        colour="#ddaa33",
        parameters=filtered(
            "two-state",
            fixed={"timed": True},
            defaults={"good": 0.5, "bad": 0.2},
            help_texts={
                "good": "The part of the old estimate that is kept over one smoothed RTT in the good state"
                " (our choice)."
            },
        ),
    ),
    Estimator(
        id="delivery-rate",
        title="Delivery rate",
        description="the transport's delivery-rate samples as modern stacks take them, unfiltered",
        colour="#004488",
        parameters=filtered("none", samples=_OF_TRANSPORT),
    ),
    Estimator(
        id="samples",
        title="Samples",
        description="raw samples without a filter, of each ACK unless told otherwise",
        colour="#bbbbbb",
        parameters=filtered("none"),
    ),
    Estimator(
        id="packet-pair",
        title="Packet pair",
        description="median of pairs of packets that left back to back (Keshav 1991)",
        colour="#994455",
        parameters=back_to_back(
            "median",
            acks=2,
            help_texts={
                "spacing": "Packets that left within this time of each other are a pair (our choice)."
            },
        ),
    ),
    Estimator(
        id="hoe",
        title="Hoe's slope",
        description="first least-squares slope through three acknowledgments (Hoe 1996)",
        colour="#997700",
        parameters=back_to_back("first"),
    ),
)
"""Every estimator, in the order of lists and legends."""

_BY_NAME: Final = MappingProxyType({estimator.id: estimator for estimator in ESTIMATORS})


def find_estimator(name: str) -> Estimator:
    """Return the estimator with this identifier, or one from a file (`my.py:Mine`).

    Raises
    ------
    UsageError
        If there is none; the message names the nearest.
    """
    if (spec := Spec.parse(name)) is not None:
        from airpath.schemes.plugin import plugin_estimator  # imported here because few commands need it

        return plugin_estimator(spec)
    try:
        return _BY_NAME[name]
    except KeyError:
        raise UsageError(
            f'there is no estimator "{name}"; {suggestion(name, _BY_NAME, "estimators")}'
        ) from None


def estimator_plan(text: str) -> dict[str, Any]:
    """Return an estimator with options, as in `sarbe:resolution=10ms,beta=0.9`, in the form of a plan.

    Raises
    ------
    UsageError
        If there is no such estimator, an option is not of the form `name=value`, or a parameter is unknown or
        outside its range.
    """
    if (spec := Spec.parse(text)) is not None:
        name, options = spec.without_options, options_of(spec.options, text)
    else:
        name, options = split_options(text)
    estimator = find_estimator(name)
    try:
        values = estimator.parameters.read(options)
    except TableError as error:
        raise UsageError(_message(error.faults[0], estimator) + f' (in "{text}")') from None
    return estimator.build(values)


def _message(fault: Fault, estimator: Estimator) -> str:
    key = fault.path.removeprefix(".")
    known = estimator.parameters.keys
    if not key:
        return f'estimator "{estimator.id}": {fault.message}'
    if key not in known:
        return f'estimator "{estimator.id}" has no parameter "{key}"; {suggestion(key, known)}'
    return f'parameter "{key}" of estimator "{estimator.id}": {fault.message}'
