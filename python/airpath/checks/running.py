"""Running a suite: `airpath check`."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from airpath._backends import BACKENDS, BackendName
from airpath._os.progress import progress_bar, progress_lines
from airpath._run.workers import Job
from airpath.checks.baseline import Baselines, inputs_sha256, learned, read_baselines, scenario_sha256
from airpath.checks.expectation import Bound, Envelope, Judged, RelativeBound, Values
from airpath.checks.suite import Case, Suite
from airpath.errors import AirpathError, UsageError
from airpath.results import Results
from airpath.results.origin import origin_of_this_process
from airpath.results.provenance import environment
from airpath.runner import Interrupted, RunsFailed, jobs_of, refuse_if_too_large, run_jobs
from airpath.schemes import label_of

NOT_LEARNED = "no baseline; --update learns one"
OTHER_SCENARIO = "the case or a trace has changed since the baseline was learned; --update learns it again"


@dataclass(frozen=True)
class CheckedCase:
    """One case and its outcome.

    Attributes
    ----------
    case
        The case.
    label
        Label of the runs of the scheme under test: the scheme, with its backend if that is not the simulator.
    results
        All its runs, including those of other schemes.
    judged
        Its evaluated expectations.
    """

    case: Case
    label: str
    results: Results
    judged: tuple[Judged, ...]

    @property
    def passed(self) -> bool:
        """Whether all expectations are met."""
        return all(one.passed for one in self.judged)

    @property
    def wall_s(self) -> float:
        """Total duration of its runs, in seconds of real time."""
        return sum(run.record.wall_s for run in self.results.runs)


@dataclass(frozen=True)
class Checked:
    """A suite and its outcome.

    Attributes
    ----------
    suite
        The suite.
    cases
        Its cases, in order.
    baseline
        The file of baselines, if any are needed.
    updated
        Whether the file was written.
    """

    suite: Suite
    cases: tuple[CheckedCase, ...]
    baseline: Path | None
    updated: bool = False

    @property
    def passed(self) -> bool:
        """Whether all expectations are met."""
        return all(case.passed for case in self.cases)


class CheckInterrupted(KeyboardInterrupt):
    """A check was interrupted (Ctrl-C).

    Attributes
    ----------
    checked
        The finished cases.
    """

    def __init__(self, checked: Checked) -> None:
        super().__init__(f"interrupted after {len(checked.cases)} of {len(checked.suite.cases)} cases")
        self.checked = checked


def check(
    suite: Suite,
    *,
    baseline: Path | None = None,
    update: bool = False,
    world: BackendName = "sim",
    jobs: int | None = None,
    progress: bool | None = None,
    isolate: bool = False,
    on_case: Callable[[CheckedCase], None] = lambda _: None,
    on_line: Callable[[str], None] = lambda _: None,
) -> Checked:
    """Run the cases of a suite, one after another, and evaluate their expectations.

    Parameters
    ----------
    suite
        The suite.
    baseline
        The file of baselines; by default that of the suite.
    update
        Make the measured values the baseline. It is written when all cases are done.
    world, jobs, progress, isolate
        As for `airpath.run`.
    on_case
        Called with each case when it is done.
    on_line
        Called with a line a minute if standard error is not a terminal.

    Raises
    ------
    ScenarioError, TraceError, UsageError
        If a case cannot run on this backend, or does not fit into memory; or there is nothing to update.
    OutputError
        If the baselines cannot be read or written.
    RunsFailed
        If code of the user fails while baselines are updated; otherwise its case fails.
    CheckInterrupted
        On Ctrl-C; contains the finished cases.
    """
    BACKENDS[world].check_jobs(jobs)
    file = baseline or suite.baseline
    wanted = any(isinstance(one, Envelope) for case in suite.cases for one in case.expectations)
    if update and not wanted:
        raise UsageError('update: no expectation has a baseline; accepted: a suite with "baseline"')
    baselines = read_baselines(file, suite.name) if wanted else Baselines(suite.name)
    may_skip = not (suite.needs_baseline or baseline)
    work = [_jobs(case, world) for case in suite.cases]
    done: list[CheckedCase] = []

    def checked(updated: bool = False) -> Checked:
        return Checked(suite, tuple(done), file if wanted else None, updated)

    def text() -> str:
        return f"{len(done)} of {len(work)} cases"

    with (
        progress_bar(f"{len(work)} case{'s' if len(work) > 1 else ''}", progress) as on_bar,
        progress_lines(progress, text, on_line) as on_minute,
    ):

        def show(share: float) -> None:
            on_bar((len(done) + share) / len(work))
            on_minute((len(done) + share) / len(work))

        try:
            for case, runs in zip(suite.cases, work, strict=True):
                try:
                    results, failure = run_jobs(_flat(runs), jobs, show, isolate=isolate), ""
                except RunsFailed as failed:
                    if update:
                        raise
                    results, failure = failed.results, failed.failures[0]
                judging = _Judging(baselines, update, may_skip)
                done.append(_checked(case, runs, results, judging, failure))
                on_case(done[-1])
        except Interrupted:
            raise CheckInterrupted(checked()) from None
    if not (wanted and update):
        return checked()
    if suite.is_whole:
        baselines.keep_only([case.name for case in suite.cases])
    baselines.write(file)
    return checked(updated=True)


def _jobs(case: Case, world: BackendName) -> dict[str, list[Job]]:
    """Return the runs of a case by scheme; errors are found before anything runs."""
    try:
        refuse_if_too_large([(scenario, scenario.repetitions) for scenario in case.scenarios.values()])
        runs: dict[str, list[Job]] = {}
        for scheme, scenario in case.scenarios.items():
            made = jobs_of(scheme, scenario, None, None, world)
            # On other backends, schemes that differ only in their routers have the same controllers.
            if any(made[0].scheme == others[0].scheme for others in runs.values()):
                made = [replace(job, scheme=f"{job.scheme} for {scheme}") for job in made]
            runs[scheme] = made
    except AirpathError as error:
        raise type(error)(f"case {case.name}: {error}") from None
    return runs


def _flat(runs: Mapping[str, list[Job]]) -> list[Job]:
    return [job for jobs in runs.values() for job in jobs]


@dataclass(frozen=True)
class _Judging:
    """Settings of the evaluation of expectations."""

    baselines: Baselines
    update: bool
    """Whether measured values become the baseline."""
    may_skip: bool
    """Whether an expectation without a baseline is skipped instead of failed."""


def _checked(
    case: Case, runs: Mapping[str, list[Job]], results: Results, judging: _Judging, failure: str
) -> CheckedCase:
    """Return a case with its outcomes; a non-empty `failure` (of the user's code) fails all expectations."""
    label = runs[case.scheme][0].scheme
    measured = {scheme: _values(results, jobs[0].scheme) for scheme, jobs in runs.items()}
    judged = tuple(_judged(case, label, measured, judging))
    if failure:
        judged = tuple(replace(one, passed=False, skipped=False, remark=failure) for one in judged)
    return CheckedCase(case, label, results, judged)


def _values(results: Results, label: str) -> dict[str, dict[int, float]]:
    """Return the value of each seed, by metric."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for run in results.runs:
        if run.record.scheme == label:
            for metric, value in run.metrics.items():
                found[metric][run.record.seed] = value
    return found


def _judged(
    case: Case,
    label: str,
    measured: Mapping[str, Mapping[str, Values]],
    judging: _Judging,
) -> Iterator[Judged]:
    """Evaluate each expectation, or make the measured values the baseline."""
    mine, scenario = measured[case.scheme], case.scenarios[case.scheme]
    envelopes = [one.metric for one in case.expectations if isinstance(one, Envelope)]
    inputs = inputs_sha256(scenario) if envelopes else {}
    entry = judging.baselines.entry(case.name, label)
    if judging.update and envelopes:
        origin = environment(origin_of_this_process())["versions"]
        entry = learned(
            scenario,
            inputs,
            {metric: mine[metric] for metric in envelopes},
            origin["airpath"],
            origin["commit"],
        )
        judging.baselines.learn(case.name, label, entry)
    for one in case.expectations:
        match one:
            case Bound():
                yield one.judge(mine[one.metric])
            case RelativeBound():
                yield one.judge(mine[one.metric], measured[label_of(one.of)][one.metric])
            case Envelope() if judging.update:
                yield one.learned(mine[one.metric])
            case Envelope() if entry is None or one.metric not in entry.metrics:
                yield one.unknown(mine[one.metric], NOT_LEARNED, skipped=judging.may_skip)
            case Envelope() if (entry.scenario_sha256, entry.inputs) != (scenario_sha256(scenario), inputs):
                yield one.unknown(mine[one.metric], OTHER_SCENARIO, skipped=False)
            case Envelope():
                yield one.judge(mine[one.metric], entry.metrics[one.metric].values)
