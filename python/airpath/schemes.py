"""The registry of congestion-control schemes: names, looks in figures, parameters, and what a run is told.

A scheme is a congestion controller, possibly fed by a bandwidth estimator. Identifiers follow the Linux
kernel: lower case, with the version where it matters.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from pydantic import Field, Strict

from airpath.errors import UsageError
from airpath.nearest import suggestion
from airpath.quantities import Flag, Rate, Table, Window
from airpath.units import Amount, AmountUnit

__all__ = ["SCHEMES", "Scheme", "SchemeParameters", "find_scheme", "parse_scheme", "window_bytes"]

SlowStart = Literal["standard", "per-acknowledgment", "hystart++"]


class SchemeParameters(Table):
    """The parameters of a scheme; each scheme has its own subclass."""


class NewRenoParameters(SchemeParameters):
    """Parameters of NewReno."""

    counting: Literal["bytes", "acknowledgments"] = "bytes"
    """What growth in congestion avoidance counts: `bytes` (RFC 3465), or `acknowledgments` (RFC 5681,
    equation 3; as ns-2 does), which is half as fast under delayed acknowledgments.
    """
    slow_start: SlowStart = "standard"
    """Slow start: `standard` (RFC 5681 with RFC 3465, L = 2), `per-acknowledgment` (L = 1, as ns-2 does) or
    `hystart++` (RFC 9406).
    """


class CubicParameters(SchemeParameters):
    """Parameters of CUBIC as of RFC 9438."""

    c: Annotated[float, Strict(), Field(gt=0)] = 0.4
    """C, in segments per second cubed (RFC 9438, section 5: 0.4)."""
    beta: Annotated[float, Strict(), Field(gt=0, lt=1)] = 0.7
    """The part of the window that is kept at a loss (RFC 9438, section 4.6: 0.7)."""
    fast_convergence: Flag = True
    """Release bandwidth faster when the saturation point falls (RFC 9438, section 4.7)."""
    reno_friendly: Flag = True
    """Be at least as fast as Reno would be (RFC 9438, section 4.3)."""
    slow_start: SlowStart = "hystart++"
    """Slow start: `standard` (RFC 5681 with RFC 3465, L = 2), `per-acknowledgment` (L = 1) or `hystart++`
    (RFC 9406).
    """


class Cubic2008Parameters(CubicParameters):
    """Parameters of CUBIC as of 2008."""

    beta: Annotated[float, Strict(), Field(gt=0, lt=1)] = 0.8
    """The part of the window that is kept at a loss (Linux 2.6.22: 819/1024, the paper's decrease of 0.2)."""
    slow_start: SlowStart = "per-acknowledgment"
    """Slow start; byte counting was off in Linux then (`tcp_abc` = 0), and HyStart came later."""


class FixedParameters(SchemeParameters):
    """Parameters of the fixed window."""

    window: Window
    """The window of payload, in packets (of one maximum segment size) or bytes."""
    rate: Rate | None = None
    """Send at this rate of payload instead of in bursts."""


@dataclass(frozen=True)
class Scheme:
    """One congestion-control scheme: a controller, possibly fed by an estimator."""

    id: str
    """Its name in scenarios, tables and on the command line."""
    title: str
    """Its name in figures and reports."""
    description: str
    """What it is, in one line."""
    colour: str
    """Its colour in every figure, `#rrggbb`; the palette is that of Okabe and Ito, safe for colour-blind
    readers.
    """
    marker: str
    """Its marker in every figure, a Matplotlib marker code."""
    controller: str
    """The congestion controller."""
    parameters: type[SchemeParameters]
    """Its parameters, with units, ranges and defaults."""
    build: Callable[[Any, int], dict[str, Any]]
    """From the parameters and the maximum segment size in bytes to the controller of a plan."""
    estimator: str | None = None
    """The bandwidth estimator that feeds the controller."""
    aliases: tuple[str, ...] = ()
    """Other names under which it is found."""
    transport: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the transport that belong to the scheme; a scenario can override them."""


def find_scheme(name: str) -> Scheme:
    """Return the scheme with this identifier or alias.

    Raises
    ------
    UsageError
        If there is none; the text names the nearest.
    """
    for scheme in SCHEMES:
        if name == scheme.id or name in scheme.aliases:
            return scheme
    raise UsageError(f'there is no scheme "{name}"; {suggestion(name, (scheme.id for scheme in SCHEMES))}')


def parse_scheme(text: str) -> tuple[Scheme, dict[str, Any]]:
    """Read a scheme with options, as in `cubic:beta=0.8,slow_start=standard`.

    Returns
    -------
    tuple
        The scheme, and the options as written (not yet checked against the scheme's parameters): numbers and
        `true`/`false` as such, everything else as text.

    Raises
    ------
    UsageError
        If there is no such scheme, or an option is not of the form `name=value`.
    """
    name, _, options = text.partition(":")
    return find_scheme(name.strip()), dict(_options(options.split(","), text)) if options else {}


def window_bytes(window: Amount, mss_bytes: int) -> int:
    """Return a window in bytes of payload, a packet counting as one maximum segment size."""
    count = int(window.value)
    return count * mss_bytes if window.unit is AmountUnit.PACKETS else count


def _options(options: Iterable[str], text: str) -> Iterable[tuple[str, Any]]:
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise UsageError(f'found "{option}" in "{text}"; accepted: options of the form name=value')
        yield key.strip(), _value(value.strip())


def _value(text: str) -> Any:
    """Return a number or truth value as such, anything else as text."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value if isinstance(value, bool | int | float | str) else text


def _newreno(parameters: NewRenoParameters, _mss_bytes: int) -> dict[str, Any]:
    return {"kind": "newreno", "counting": parameters.counting, "slow_start": parameters.slow_start}


def _cubic(form: str) -> Callable[[CubicParameters, int], dict[str, Any]]:
    def build(parameters: CubicParameters, _mss_bytes: int) -> dict[str, Any]:
        return {
            "kind": "cubic",
            "c": float(parameters.c),
            "beta": float(parameters.beta),
            "fast_convergence": parameters.fast_convergence,
            "reno_friendly": parameters.reno_friendly,
            "form": form,
            "slow_start": parameters.slow_start,
        }

    return build


def _fixed(parameters: FixedParameters, mss_bytes: int) -> dict[str, Any]:
    return {
        "kind": "fixed",
        "window_bytes": window_bytes(parameters.window, mss_bytes),
        "pacing_bps": parameters.rate,
    }


SCHEMES: Final = (
    Scheme(
        id="newreno",
        aliases=("reno",),
        title="TCP NewReno",
        description="additive increase, multiplicative decrease (RFC 5681, RFC 6582)",
        colour="#0072B2",
        marker="o",
        controller="newreno",
        parameters=NewRenoParameters,
        build=_newreno,
    ),
    Scheme(
        id="cubic",
        title="TCP CUBIC",
        description="window grows as a cubic of the time since the last loss (RFC 9438), with HyStart++",
        colour="#D55E00",
        marker="s",
        controller="cubic",
        parameters=CubicParameters,
        build=_cubic("rfc9438"),
    ),
    Scheme(
        id="cubic-2008",
        title="TCP CUBIC (2008)",
        description="CUBIC as published and in Linux 2.6.22: keeps 0.8 at a loss, no HyStart",
        colour="#E69F00",
        marker="D",
        controller="cubic",
        parameters=Cubic2008Parameters,
        build=_cubic("2008"),
        # RFC 3390, section 1: three segments of 1460 bytes; ten (RFC 6928) came years later.
        transport={"initial_window": "3 packets"},
    ),
    Scheme(
        id="fixed",
        title="Fixed window",
        description="a window that never changes, for calibration (parameter window, optional rate)",
        colour="#000000",
        marker="x",
        controller="fixed",
        parameters=FixedParameters,
        build=_fixed,
    ),
)
"""Every scheme, in the order of lists and legends."""
