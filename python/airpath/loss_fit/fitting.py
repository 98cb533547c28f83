"""Fitting loss chains to the contents of a file."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from airpath._os.input_file import InputFile, input_file
from airpath.errors import FitError, TraceError, UsageError
from airpath.loss_fit.gilbert import (
    Gilbert,
    Transitions,
    against_independence,
    burst_lengths,
    fit_gilbert,
    geometric,
)
from airpath.loss_fit.gilbert_elliott import Runs, fit_gilbert_elliott, run_lengths
from airpath.loss_fit.in_time import fit_in_time
from airpath.loss_fit.reading import Losses, from_numbers, is_capture, read_losses, what_is_no_loss
from airpath.loss_fit.results import LossFit, Unit
from airpath.units import format_duration, parse_duration

ACCEPTED = (
    "a capture, a trace of losses (0 and 1, or a table with a column lost), a trace of delivery opportunities"
)
"""Descriptions of the accepted inputs."""

OPPORTUNITIES_IN_A_STEP = 10
"""Mean number of opportunities in a step of a trace, which determines the default step."""


def fit(
    source: str | Path | Iterable[object],
    *,
    flow: Sequence[str] = (),
    step: str | None = None,
    confidence: float = 0.95,
) -> tuple[LossFit, ...]:
    """Fit loss chains to a recording.

    Parameters
    ----------
    source
        A packet capture; a trace of losses (0 and 1, or a table with a column `lost`); a trace of delivery
        opportunities, whose outages are fitted; or a sequence of 0 (arrived) and 1 (lost). A file may be a
        pipe, or `-` for standard input.
    flow
        Only these flows of a capture, each by its number or a part of its addresses.
    step
        The length of a step of a trace of opportunities, with its unit.
    confidence
        Confidence of the intervals.

    Returns
    -------
    tuple
        One fit for each flow of a capture, largest first; one for anything else. If nothing can be fitted to
        a flow, its fit contains the reason.

    Raises
    ------
    FitError, CaptureError, TraceError
        If the file cannot be read, or nothing in it can be fitted.
    UsageError
        If there is no such flow, or an option does not apply.
    """
    if not 0.5 <= confidence < 1:
        raise UsageError(f"confidence: found {confidence:g}; accepted: from 0.5 to below 1")
    if not isinstance(source, str | Path):
        _refuse(flow, step, "a sequence")
        return _fitted(_sequence(from_numbers(source), "losses", "losses by packet", confidence))
    with input_file(source, FitError) as recording:
        return _fit_file(recording, flow, step, confidence)


def _fit_file(
    recording: InputFile, flow: Sequence[str], step: str | None, confidence: float
) -> tuple[LossFit, ...]:
    if is_capture(recording):
        _refuse((), step, "a capture")
        return _fitted(*_capture(recording, flow, confidence))
    losses = read_losses(recording)
    if losses is not None:
        _refuse(flow, step, "a trace of losses")
        return _fitted(_sequence(losses, recording.name, "losses by packet", confidence))
    _refuse(flow, None, "a trace")
    return _fitted(_outages(recording, step, confidence))


def _refuse(flow: Sequence[str], step: str | None, what: str) -> None:
    if flow:
        raise UsageError(f"flow: not applicable to {what}; only captures have flows")
    if step is not None:
        raise UsageError(f"step: not applicable to {what}; only traces of delivery opportunities have steps")


def _fitted(*fits: LossFit) -> tuple[LossFit, ...]:
    """Return `fits`, of which at least one must have a chain."""
    if all(one.missing for one in fits):
        if len(fits) == 1:
            why = f"{fits[0].what}: {fits[0].missing}"
        else:
            reasons = Counter(one.missing for one in fits).most_common(1)
            why = f"none of its {len(fits)} flows can be fitted; most often: {reasons[0][0]}"
        raise FitError("; ".join(filter(None, [f"{fits[0].source}: {why}", fits[0].ended_early])))
    return fits


def _capture(recording: InputFile, wanted: Sequence[str], confidence: float) -> list[LossFit]:
    from airpath.captures import analyse, choose

    # The estimates are not used, so any one estimator is enough.
    capture = analyse(recording, ["samples"])
    early = capture.ended_early
    flows = choose(capture, wanted).flows
    if not flows:
        raise FitError("; ".join(filter(None, [f"{recording}: has no TCP flow with data", early])))
    fits = (_flow(recording.name, flow.number, flow.name, flow.facts, confidence) for flow in flows)
    return [replace(one, ended_early=early) for one in fits]


def _flow(source: str, number: int, name: str, facts: Mapping[str, Any], confidence: float) -> LossFit:
    """Fit one flow: its loss runs and its number of segments determine the transition counts."""
    runs = {int(length): int(count) for length, count in facts["loss_runs"]}
    segments = math.ceil(facts["bytes"] / max(facts["mss"], 1))
    what = f"flow {number}, {name}: retransmitted segments"
    return _chain(source, what, Transitions.of_runs(segments, runs), runs, segments, confidence)


def _outages(recording: InputFile, step: str | None, confidence: float) -> LossFit:
    from airpath.scenario.traces import read_recording

    try:
        trace = read_recording(recording)
    except TraceError:
        found = what_is_no_loss(recording)
        if found is None:
            raise
        raise FitError(f"{recording}{found}; accepted: {ACCEPTED}") from None
    if trace.kind != "opportunities":
        raise FitError(f"{recording}: a log of rates ({trace.format}) has no losses; accepted: {ACCEPTED}")
    if step is None:
        mean_bps = float(trace.statistics()["mean_bps"])
        step_ns = math.ceil(OPPORTUNITIES_IN_A_STEP * 1500 * 8 / mean_bps * 1000) * 1_000_000
    else:
        step_ns = parse_duration(step)
        if step_ns < 1_000_000:
            raise UsageError(f"step: found {step}; accepted: at least 1 ms, the resolution of the trace")
    rates = np.array([rate for _, rate in trace.rates(step_ns * 1e-9)])
    # A last step that is cut short by the end of the trace is left out.
    whole = round(float(trace.statistics()["duration_s"]) * 1e9) // step_ns
    silent = rates[:whole] == 0
    what = f"outages: steps of {format_duration(step_ns)} without a delivery opportunity"
    return _sequence(Losses(silent), recording.name, what, confidence, step_ns=step_ns)


def _sequence(
    losses: Losses, source: str, what: str, confidence: float, step_ns: int | None = None
) -> LossFit:
    lost = losses.lost
    if len(lost) < 2:
        return _none(
            source, what, step_ns, lost, f"found fewer than two {'packets' if step_ns is None else 'steps'}"
        )
    seen = Transitions.of(lost)
    runs = _whole_runs(lost)
    found = _chain(source, what, seen, runs, len(lost), confidence, step_ns, int(lost.sum()))
    if found.gilbert is None:
        return found
    if step_ns is None:
        found = _with_general(found, lost, runs, found.gilbert, confidence)
    if losses.time_s is not None:
        found = replace(found, in_time=fit_in_time(losses.time_s, lost, confidence))
    return found


def _whole_runs(lost: npt.NDArray[np.bool_]) -> dict[int, int]:
    """Return the number of bursts of each length, without those that touch an end."""
    runs = Runs.of(lost)
    inner = runs.lengths[1:-1][runs.lost[1:-1]]
    lengths, counts = np.unique(inner, return_counts=True)
    return dict(zip(lengths.tolist(), counts.tolist(), strict=True))


def _chain(
    source: str,
    what: str,
    seen: Transitions,
    runs: Mapping[int, int],
    count: int,
    confidence: float,
    step_ns: int | None = None,
    lost: int | None = None,
) -> LossFit:
    if lost is None:
        lost = sum(length * number for length, number in runs.items())
    unit: Unit = "packets" if step_ns is None else "steps"
    bursts = sum(runs.values())
    empty = LossFit(source, what, unit, step_ns, count, lost, bursts)
    if lost == 0:
        return replace(empty, missing=f"none of {count} {unit} was lost")
    if min(seen.good_bad, seen.bad_good) < 1 or seen.good_good + seen.good_bad < 1 or seen.good_good < 0:
        return replace(empty, missing=f"{lost} of {count} {unit} lost in {bursts} whole bursts tell no chain")
    gilbert = fit_gilbert(seen, confidence)
    return replace(
        empty,
        gilbert=gilbert,
        independence=against_independence(seen, gilbert),
        lengths=burst_lengths(runs, geometric(gilbert.leave_bad.value), 1),
    )


def _with_general(
    found: LossFit,
    lost: npt.NDArray[np.bool_],
    runs: Mapping[int, int],
    gilbert: Gilbert,
    confidence: float,
) -> LossFit:
    """Also fit the chain with losses in both states, and decide which of the two is better."""
    general = fit_gilbert_elliott(Runs.of(lost), _starts(gilbert), confidence)
    if general is None:
        return found
    loss = gilbert.mean_loss.value
    first = math.log(loss if lost[0] else 1 - loss)
    # Two additional parameters, each with a penalty of log n (Schwarz 1978).
    better = 2 * (general.log_likelihood - gilbert.log_likelihood - first) > 2 * math.log(len(lost))
    law = burst_lengths(runs, run_lengths(general), 2)
    return replace(found, general=general, general_lengths=law, general_is_better=better)


def _starts(gilbert: Gilbert) -> list[tuple[float, ...]]:
    """Return starting points: near Gilbert's chain, and two chains whose states last longer and lose less."""
    p, q = gilbert.leave_good.value, min(gilbert.leave_bad.value, 0.9)
    loss = gilbert.mean_loss.value
    return [
        (p, q, min(loss / 10, 0.01), 0.95),
        (p / 3, q / 5, min(loss / 3, 0.3), 0.6),
        (p / 10, q / 20, min(loss / 2, 0.3), min(5 * loss, 0.5)),
    ]


def _none(source: str, what: str, step_ns: int | None, lost: npt.NDArray[np.bool_], missing: str) -> LossFit:
    unit: Unit = "packets" if step_ns is None else "steps"
    return LossFit(source, what, unit, step_ns, len(lost), int(lost.sum()), 0, missing)
