"""The registry of ACK-rate estimators: names, looks in figures, parameters, and what a run is told.

They are what [Westwood][airpath.schemes.westwood] controls with, what flows run beside their controllers, and
what reads recorded traffic.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError

from airpath.bounds import finite_number
from airpath.errors import UsageError
from airpath.nearest import suggestion
from airpath.quantities import Table
from airpath.schemes import ack_rate
from airpath.schemes.options import split_options


@dataclass(frozen=True)
class Estimator:
    """One ACK-rate estimator."""

    id: str
    """Its name in scenarios, tables and on the command line."""
    title: str
    """Its name in figures and reports."""
    description: str
    """What it is, in one line."""
    colour: str
    """Its colour in every figure, `#rrggbb`; that of the scheme that controls with it."""
    parameters: type[Table]
    """Its parameters, with units, ranges and defaults."""
    build: Callable[[Any], dict[str, Any]]
    """From its parameters to the estimator of a plan."""


ESTIMATORS: Final = (
    Estimator(
        id="westwood",
        title="Westwood",
        description="each ACK's sample through the bilinear filter, GM (6), with virtual samples of zero",
        colour="#882255",
        parameters=ack_rate.Bilinear,
        build=ack_rate.bilinear,
    ),
    Estimator(
        id="westwood-zoh",
        title="Westwood (zero-order hold)",
        description="each ACK's sample through GM's filter (2)",
        colour="#aa4499",
        parameters=ack_rate.ZeroOrderHold,
        build=ack_rate.zero_order_hold,
    ),
    Estimator(
        id="westwood-ti",
        title="Westwood (time-invariant)",
        description="each ACK's sample through GM's filter (3), whatever the time between",
        colour="#cc6677",
        parameters=ack_rate.TimeInvariant,
        build=ack_rate.time_invariant,
    ),
    Estimator(
        id="westwood-aa",
        title="Westwood (anti-aliased)",
        description="one sample for each RTT through the bilinear filter, GM (6)",
        colour="#332288",
        parameters=ack_rate.AntiAliasedBilinear,
        build=ack_rate.bilinear,
    ),
    Estimator(
        id="westwood-10ms",
        title="Westwood (10 ms)",
        description="samples of at least 10 ms through the bilinear filter, GM (6): for bursty links",
        colour="#aa3377",
        parameters=ack_rate.IntervalBilinear,
        build=ack_rate.bilinear,
    ),
    Estimator(
        id="westwood-zoh-aa",
        title="Westwood (zero-order hold, anti-aliased)",
        description="one sample for each RTT through GM's filter (2)",
        colour="#6699cc",
        parameters=ack_rate.AntiAliasedZeroOrderHold,
        build=ack_rate.zero_order_hold,
    ),
    Estimator(
        id="westwood-ti-aa",
        title="Westwood (time-invariant, anti-aliased)",
        description="one sample for each RTT through GM's filter (3)",
        colour="#88ccee",
        parameters=ack_rate.AntiAliasedTimeInvariant,
        build=ack_rate.time_invariant,
    ),
    Estimator(
        id="westwood+",
        title="Westwood+",
        description="one sample for each RTT through two low-pass filters, in the integers of Linux",
        colour="#44aa99",
        parameters=ack_rate.WestwoodPlus,
        build=ack_rate.westwood_plus,
    ),
    Estimator(
        id="sarbe",
        title="SARBE",
        description="samples by the receiver's timestamps through the stability filter",
        colour="#117733",
        parameters=ack_rate.Stability,
        build=ack_rate.stability,
    ),
    Estimator(
        id="dynapara",
        title="DynaPara-like",
        description="stand-in for DynaPara: each ACK's sample, a coefficient for each state of the link",
        colour="#999933",
        parameters=ack_rate.TwoState,
        build=ack_rate.two_state,
    ),
    Estimator(
        id="dynapara-timed",
        title="DynaPara-like, timed",
        description="stand-in for DynaPara: the same with coefficients over an RTT",
        colour="#ddaa33",
        parameters=ack_rate.TimedTwoState,
        build=ack_rate.timed_two_state,
    ),
    Estimator(
        id="delivery-rate",
        title="Delivery rate",
        description="the transport's delivery-rate samples as modern stacks take them, unfiltered",
        colour="#004488",
        parameters=ack_rate.DeliveryRate,
        build=ack_rate.unfiltered,
    ),
    Estimator(
        id="samples",
        title="Samples",
        description="raw samples without a filter, of each ACK unless told otherwise",
        colour="#bbbbbb",
        parameters=ack_rate.Sampling,
        build=ack_rate.unfiltered,
    ),
    Estimator(
        id="packet-pair",
        title="Packet pair",
        description="median of pairs of packets that left back to back (Keshav 1991)",
        colour="#994455",
        parameters=ack_rate.PacketPair,
        build=ack_rate.packet_pair,
    ),
    Estimator(
        id="hoe",
        title="Hoe's slope",
        description="first least-squares slope through three acknowledgments (Hoe 1996)",
        colour="#997700",
        parameters=ack_rate.Hoe,
        build=ack_rate.hoe,
    ),
)
"""Every estimator, in the order of lists and legends."""

_BY_NAME: Final = MappingProxyType({estimator.id: estimator for estimator in ESTIMATORS})


def find_estimator(name: str) -> Estimator:
    """Return the estimator with this identifier.

    Raises
    ------
    UsageError
        If there is none; the text names the nearest.
    """
    try:
        return _BY_NAME[name]
    except KeyError:
        raise UsageError(
            f'there is no estimator "{name}"; {suggestion(name, _BY_NAME, "estimators")}'
        ) from None


def estimator_plan(text: str) -> dict[str, Any]:
    """Return an estimator with options, as in `sarbe:resolution=10ms,beta=0.9`, as it stands in a plan.

    Raises
    ------
    UsageError
        If there is no such estimator, an option is not of the form `name=value`, or a parameter is unknown or
        outside its range.
    """
    name, options = split_options(text)
    estimator = find_estimator(name)
    try:
        parameters = estimator.parameters.model_validate(options)
    except ValidationError as error:
        raise UsageError(_fault(error.errors()[0], estimator) + f' (in "{text}")') from None
    return estimator.build(parameters)


def _fault(error: Any, estimator: Estimator) -> str:
    key = str(error["loc"][0])
    if error["type"] == "extra_forbidden":
        known = estimator.parameters.model_fields
        return f'estimator "{estimator.id}" has no parameter "{key}"; {suggestion(key, known)}'
    if error["type"] == "finite_number":
        accepted = finite_number([estimator.parameters.model_fields[key]])
        message = f"found {error['input']}; accepted: {accepted}"
    else:
        message = str(error["msg"]).removeprefix("Value error, ")
    return f'parameter "{key}" of estimator "{estimator.id}": {message}'
