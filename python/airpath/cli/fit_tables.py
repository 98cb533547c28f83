"""Tables and lines that `airpath fit` prints."""

import math

from rich.table import Table
from rich.text import Text

from airpath.cli.output import show
from airpath.loss_fit import LossFit
from airpath.loss_fit.gilbert import Test
from airpath.loss_fit.intervals import Estimate
from airpath.units import format_duration


def print_fit(fit: LossFit, confidence: float) -> None:
    """Print one fit."""
    show(Text(f"{fit.source}, {fit.what}: {fit.lost} of {fit.count} {fit.unit} in {fit.bursts} bursts"))
    if fit.missing:
        show(Text(f"  no chain: {fit.missing}\n"))
        return
    show(_parameters(fit, confidence))
    for line in _tests(fit):
        show(Text(line))
    for title, text in (("scenario", fit.toml), ("in time", fit.toml_in_time), ("netem", fit.netem)):
        if text is not None:
            # Not wrapped, so that it can be copied.
            show(Text(f"{title}:  {text}", no_wrap=True, overflow="ignore"))
    if fit.unit == "steps":
        show(
            Text(
                "an outage of the trace holds packets back; the line above loses those sent during it instead"
            )
        )
    show("")


def _parameters(fit: LossFit, confidence: float) -> Table:
    step, steps = "packet", "packets"
    if fit.step_ns is not None:
        step, steps = "step", f"steps of {format_duration(fit.step_ns)}"
    table = Table("", "", "estimate", f"{confidence * 100:g} % interval")

    def row(chain: str, name: str, of: Estimate, scale: float = 1.0, unit: str = "") -> None:
        numbers = [_number(x * scale) for x in (of.value, of.low, of.high)]
        table.add_row(chain, name, f"{numbers[0]}{unit}", f"{numbers[1]} to {numbers[2]}{unit}")

    if (gilbert := fit.gilbert) is not None:
        row("Gilbert", "mean loss", gilbert.mean_loss, 100, " %")
        row("", f"mean burst, {steps}", gilbert.mean_burst)
        row("", f"p, good to bad in a {step}", gilbert.leave_good)
        row("", "q (r), bad to good", gilbert.leave_bad)
    if fit.general_is_better and (general := fit.general) is not None:
        table.add_section()
        row("Gilbert-Elliott", "p, good to bad", general.leave_good)
        row("", "q (r), bad to good", general.leave_bad)
        row("", "loss in the good state (1-k)", general.loss_good)
        row("", "loss in the bad state (1-h)", general.loss_bad)
    if (in_time := fit.in_time) is not None:
        table.add_section()
        row("Gilbert in time", "mean loss", in_time.mean_loss, 100, " %")
        row("", "mean burst", in_time.mean_burst_s, 1000, " ms")
    return table


def _tests(fit: LossFit) -> list[str]:
    lines = []
    if (test := fit.independence) is not None:
        bursts = test.p < 0.05 and fit.gilbert is not None and fit.gilbert.leave_bad.value < 1
        verdict = "losses depend on each other" if bursts else "independent losses suffice"
        lines.append(f"against independent losses: likelihood ratio {_test(test)}: {verdict}")
    lines.append(f"lengths of bursts, Gilbert: {_chi_square(fit.lengths)}")
    if not fit.general_is_better:
        if fit.general is not None:
            lines.append("losses in both states (Gilbert-Elliott) explain it no better")
    else:
        lines.append(f"lengths of bursts, Gilbert-Elliott: {_chi_square(fit.general_lengths)}")
        lines.append("losses in both states (Gilbert-Elliott) explain it better, by the Bayesian criterion")
    return lines


def _chi_square(test: Test | None) -> str:
    return "too few to test" if test is None else f"chi-square {_test(test)}"


def _test(test: Test) -> str:
    p = f"p = {test.p:.2g}" if test.p >= 1e-4 else "p < 0.0001"
    degrees = "1 degree" if test.freedom == 1 else f"{test.freedom} degrees"
    return f"{test.statistic:.4g} at {degrees} of freedom, {p}"


def _number(value: float) -> str:
    return "unbounded" if math.isinf(value) else f"{value:.4g}"
