"""Which packets a link damages, as written in a scenario."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    Strict,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)

from airpath.quantities import Flag, PositiveDuration, Probability, Size, Table
from airpath.units import format_duration

LEAST_STAY = 1000
"""The least mean time in a state, ns, with the clock of time: the engine's limit to what silence can cost."""

LEAST_PROBABILITY = 1e-12
"""The least probability of leaving a state: of its complement four digits are left in the engine."""

Clock = Literal["bit", "symbol", "packet", "time"]
"""What a step of a chain is."""

BelowOne = Annotated[float, Strict(), Field(ge=0, lt=1)]
"""A probability that is not certainty."""

CodeRate = Annotated[float, Strict(), Field(ge=1 / 255, le=1)]
"""Data symbols over all symbols of a code; taken as the decimal fraction that is written."""

Decibels = Annotated[float, Strict(), Field(ge=-30, le=100)]
"""A signal-to-noise ratio in dB."""


class Clocked(Table):
    """What every chain has that is not tied to one clock."""

    clock: Clock = "packet"
    """What a step of the chain is: a transmitted `bit`, byte (`symbol`) or `packet`, so that the chain stands
    still while nothing is sent; or a span of `time`, of length `step`.
    """
    step: PositiveDuration | None = None
    """The length of a step, for clock `time` only."""

    @model_validator(mode="after")
    def _step_belongs_to_time(self) -> Self:
        if (self.clock == "time") != (self.step is not None):
            raise ValueError('"step" is required with clock = "time", and accepted only there')
        return self

    def refuse_short_stays(self, stay_good: float, stay_bad: float) -> None:
        """Refuse a step with which the engine would find the mean time in a state too short."""
        steps = 1 / (1 - min(stay_good, stay_bad))
        if self.step is not None and round(self.step * steps) < LEAST_STAY:
            least = format_duration(math.ceil(LEAST_STAY / steps))
            raise ValueError(
                f'found "step" = {format_duration(self.step)}; accepted: at least {least} with this chain,'
                f" whose mean time in each state must be at least {format_duration(LEAST_STAY)}"
            )


class Coded(Table):
    """Reed-Solomon coding over bytes, for chains that are clocked by bits or bytes."""

    code_rate: CodeRate | None = None
    """Code rate of packets above `ack_limit`. Default: not coded."""
    ack_code_rate: CodeRate | None = None
    """Code rate of packets of at most `ack_limit`. Default: not coded."""
    ack_limit: Size = 100
    """The largest packet that is coded as an acknowledgment: a link sees sizes, not purposes."""
    parity_takes_time: Flag = False
    """Whether parity takes time on the link, whose `rate` then counts it; else that is the data's rate."""
    step_by_step: Flag = False
    """Walk the chain through every step instead of drawing once for each packet: for checking, and slow."""

    @model_validator(mode="after")
    def _parity_is_of_a_code(self) -> Self:
        if self.parity_takes_time and self.code_rate is None and self.ack_code_rate is None:
            raise ValueError('"parity_takes_time" needs "code_rate" or "ack_code_rate"')
        return self

    def coding_plan(self) -> dict[str, Any]:
        """Return the rates as in the plan."""
        return {
            "data": _fraction(self.code_rate),
            "acks": _fraction(self.ack_code_rate),
            "small_bytes": self.ack_limit,
            "parity_takes_time": self.parity_takes_time,
        }

    @property
    def says_anything(self) -> bool:
        """Whether anything is not as by default."""
        return self.code_rate is not None or self.ack_code_rate is not None or self.step_by_step


class GilbertElliottLoss(Clocked, Coded):
    """A Gilbert-Elliott chain by its probabilities for each step."""

    kind: Literal["gilbert-elliott"]
    """The kind of losses."""
    gamma: Probability
    """The probability of staying in the good state."""
    beta: BelowOne
    """The probability of staying in the bad state."""
    eps_good: Probability = 0.0
    """The error probability in the good state."""
    eps_bad: Probability = 1.0
    """The error probability in the bad state."""

    @model_validator(mode="after")
    def _codes_have_bits(self) -> Self:
        if self.says_anything and self.clock not in ("bit", "symbol"):
            raise ValueError('codes and "step_by_step" need clock = "bit" or clock = "symbol"')
        return self

    @model_validator(mode="after")
    def _states_last(self) -> Self:
        self.refuse_short_stays(self.gamma, self.beta)
        return self

    def plan(self) -> dict[str, Any]:
        """Return the chain and its clock as in the plan."""
        chain = {
            "kind": "probabilities",
            "stay_good": float(self.gamma),
            "stay_bad": float(self.beta),
            "error_good": float(self.eps_good),
            "error_bad": float(self.eps_bad),
        }
        return {"chain": chain, "clock": _clock(self.clock, self.step, self)}


class GilbertLoss(Clocked):
    """Gilbert's chain: everything is lost in the bad state and nothing in the good one."""

    kind: Literal["gilbert"]
    """The kind of losses."""
    mean_loss: Annotated[float, Strict(), Field(gt=0, lt=1)]
    """The share of steps that are lost."""
    mean_burst: Annotated[float, Strict(), Field(ge=1, le=1e12)]
    """The mean number of steps in a row that are lost; at least mean_loss / (1 - mean_loss)."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        least = _shortest_burst(self.mean_loss)
        # The least burst that there is may be written a little below it: `airpath fit` writes eight digits.
        if self.mean_burst < least and not math.isclose(self.mean_burst, least, rel_tol=1e-7):
            raise ValueError('"mean_burst" must be at least mean_loss / (1 - mean_loss)')
        return self

    @model_validator(mode="after")
    def _not_too_rare(self) -> Self:
        to_bad = self.mean_loss / (self._burst * (1 - self.mean_loss))
        if to_bad < LEAST_PROBABILITY:
            raise ValueError(
                f'found "mean_loss" = {self.mean_loss:g} with "mean_burst" = {self.mean_burst:g}; accepted:'
                f" mean_loss / (mean_burst (1 - mean_loss)), the probability that a burst begins, of at least"
                f" {LEAST_PROBABILITY:g}"
            )
        return self

    @model_validator(mode="after")
    def _states_last(self) -> Self:
        to_bad = self.mean_loss / (self._burst * (1 - self.mean_loss))
        self.refuse_short_stays(1 - to_bad, 1 - 1 / self._burst)
        return self

    @property
    def _burst(self) -> float:
        """The mean burst, not below the least that the engine takes."""
        return max(float(self.mean_burst), _shortest_burst(self.mean_loss))

    def plan(self) -> dict[str, Any]:
        """Return the chain and its clock as in the plan."""
        chain = {"kind": "means", "loss": float(self.mean_loss), "burst": self._burst}
        return {"chain": chain, "clock": _clock(self.clock, self.step, Coded())}


class NetemLoss(Table):
    """The chain of `netem loss gemodel p r 1-h 1-k`, clocked by packets."""

    kind: Literal["netem-gemodel"]
    """The kind of losses."""
    p: Probability
    """The probability of going from the good to the bad state."""
    r: Annotated[float, Strict(), Field(ge=1e-12, le=1)]
    """The probability of going from the bad to the good state."""
    loss_bad: Probability = 1.0
    """1-h: the loss probability in the bad state."""
    loss_good: Probability = 0.0
    """1-k: the loss probability in the good state."""

    @field_validator("p")
    @classmethod
    def _not_too_rare(cls, p: float) -> float:
        if 0 < p < LEAST_PROBABILITY:
            raise ValueError(f"found {p:g}; accepted: 0, or from {LEAST_PROBABILITY:g} to 1")
        return p

    def plan(self) -> dict[str, Any]:
        """Return the chain and its clock as in the plan."""
        chain = {"kind": "netem"} | {
            name: float(getattr(self, name)) for name in ("p", "r", "loss_bad", "loss_good")
        }
        return {"chain": chain, "clock": {"kind": "packet"}}


class FadingLoss(Coded):
    """Phase-shift keying over fading, with the signal-to-noise ratio of a chain's state."""

    kind: Literal["fading"]
    """The kind of losses."""
    clock: Literal["bit", "symbol"] = "bit"
    """What a step of the chain is: a transmitted `bit`, or a byte (`symbol`) that is wrong with the
    probability of one wrong bit. It stands still while nothing is sent.
    """
    modulation: Literal["bpsk", "qpsk", "8psk", "16psk", "32psk", "64psk"] = "bpsk"
    """Phase-shift keying with 2, 4, 8, 16, 32 or 64 points."""
    snr: Decibels
    """Mean signal-to-noise ratio of a symbol for each receive antenna in the good state, dB."""
    bad_snr_drop: Annotated[float, Strict(), Field(ge=0, le=100)] = 10.0
    """How much lower it is in the bad state, dB."""
    antennas: Literal["1x1", "2x1", "1x2", "2x2"] = "1x1"
    """Transmit x receive antennas."""
    rician_k: Annotated[float, Strict(), Field(ge=0, le=100)] = 0.0
    """Power of the direct path over the mean power of the scattered ones; 0 is Rayleigh fading."""
    gamma: Probability = 0.99875
    """The probability of staying in the good state."""
    beta: BelowOne = 0.875
    """The probability of staying in the bad state."""

    @model_validator(mode="after")
    def _in_range(self) -> Self:
        if self.snr - self.bad_snr_drop < -30:
            raise ValueError('"snr" minus "bad_snr_drop" must be at least -30')
        return self

    def plan(self) -> dict[str, Any]:
        """Return the chain and its clock as in the plan."""
        chain = {
            "kind": "fading",
            "stay_good": float(self.gamma),
            "stay_bad": float(self.beta),
            "modulation": self.modulation,
            "snr_db": float(self.snr),
            "bad_snr_drop_db": float(self.bad_snr_drop),
            "antennas": self.antennas,
            "rician_k": float(self.rician_k),
        }
        return {"chain": chain, "clock": _clock(self.clock, None, self)}


BurstLoss = GilbertElliottLoss | GilbertLoss | NetemLoss | FadingLoss


def _shortest_burst(loss: float) -> float:
    """Return the least mean burst of Gilbert's chain for which the engine finds no probability above 1."""
    burst = max(1.0, loss / (1 - loss))
    while loss / (burst * (1 - loss)) > 1:
        burst = math.nextafter(burst, math.inf)
    return burst


def _clock(clock: Clock, step: int | None, coded: Coded) -> dict[str, Any]:
    if clock == "packet":
        return {"kind": clock}
    if clock == "time":
        return {"kind": clock, "step_ns": step}
    return {"kind": clock, "coding": coded.coding_plan(), "step_by_step": coded.step_by_step}


def _fraction(rate: float | None) -> list[int] | None:
    if rate is None:
        return None
    exact = Fraction(repr(float(rate))).limit_denominator(1_000_000)
    return [exact.numerator, exact.denominator]


_Table = Annotated[BurstLoss, Field(discriminator="kind")]
_LATER = ConfigDict(defer_build=True)
_PROBABILITY: TypeAdapter[float] = TypeAdapter(Probability, config=_LATER)
_TABLE: TypeAdapter[BurstLoss] = TypeAdapter(_Table, config=_LATER)


def _number_or_table(value: Any, _either: ValidatorFunctionWrapHandler) -> float | BurstLoss:
    """Validate a number as a probability and all else as a table: messages name what is accepted of it."""
    if isinstance(value, float | int):
        return _PROBABILITY.validate_python(value)
    if isinstance(value, Mapping | Table):
        return _TABLE.validate_python(value)
    raise ValueError(f'found "{value}"; accepted: a number from 0 to 1, or a table with the key "kind"')


Loss = Annotated[Probability | _Table, WrapValidator(_number_or_table)]
"""A probability for each packet independently, or losses in bursts: a table with a `kind`."""


def loss_plan(loss: float | BurstLoss) -> dict[str, Any]:
    """Return the two keys of a link's plan that say what it damages."""
    if isinstance(loss, float | int):
        return {"loss": float(loss), "bursts": None}
    return {"loss": 0.0, "bursts": loss.plan()}
