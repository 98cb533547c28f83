"""Running scenarios: `airpath.run` and `airpath.compare`."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from numbers import Integral
from pathlib import Path
from typing import Any, Unpack

from airpath._backends import BACKENDS, REAL_TIME, BackendName
from airpath._backends.backend import joined
from airpath._backends.kernel import DATAGRAMS
from airpath._os.progress import progress_bar
from airpath._run.workers import Job, execute
from airpath.errors import PluginError, ScenarioError, UsageError
from airpath.links.options import CompareOptions
from airpath.plugins.specs import allow
from airpath.precision.rule import PrecisionRule
from airpath.results import Results, RunResult
from airpath.results.records import WrittenScenario
from airpath.scenario import Scenario, compare_scenario
from airpath.scenario.memory import available_memory
from airpath.schemes import label_of, refuse_equal_labels, same_scheme
from airpath.units import format_size

LARGEST_SEED = 2**64 - 1


class RunsFailed(PluginError):  # noqa: N818 - named like Interrupted
    """Code of the user failed in some runs; the text contains the failures, separated by line breaks.

    Attributes
    ----------
    results
        The finished runs; possibly none.
    asked
        The requested number of runs.
    failures
        The text of each failure: file, line, problem, scheme, seed and simulated time.
    """

    def __init__(self, results: Results, asked: int, failures: Sequence[str]) -> None:
        super().__init__("\n".join(failures))
        self.results = results
        self.asked = asked
        self.failures = tuple(failures)


class Interrupted(KeyboardInterrupt):
    """The work was interrupted (Ctrl-C).

    Attributes
    ----------
    results
        The finished runs; possibly none.
    asked
        The requested number of runs.
    failures
        As for `RunsFailed`: the runs in which code of the user failed before the interrupt.
    """

    def __init__(self, results: Results, asked: int, failures: Sequence[str] = ()) -> None:
        super().__init__(f"interrupted after {len(results.runs)} of {asked} runs")
        self.results = results
        self.asked = asked
        self.failures = tuple(failures)


def run(
    scenario: Scenario | Mapping[str, Any] | str | Path,
    *,
    seed: int | None = None,
    repetitions: int | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
    world: BackendName = "sim",
    isolate: bool = False,
) -> Results:
    """Run a scenario.

    Repetition k (from 0) uses the seed `seed` + k. Equal scenarios and seeds give equal tables, on any
    machine and with any `jobs`.

    Parameters
    ----------
    scenario
        A scenario, its tables as nested dictionaries, the path of a scenario file, or the name of a shipped
        scenario.
    seed
        Seed of the first repetition; by default that of the scenario.
    repetitions
        Number of runs; by default that of the scenario.
    jobs
        Number of simultaneous runs; by default one for each processor.
    progress
        Show a progress bar on standard error. By default, if that is a terminal and the work takes more than
        two seconds.
    world
        The backend: ``sim``, ``quic`` (controllers in quinn, a QUIC stack, over the simulated network),
        ``emulate`` (the kernel's TCP over an emulated network, in real time, one run after another; on
        Linux), ``datapath`` (airpath's controllers in the kernel) or ``routers`` (airpath's
        controllers and routers in the kernel).
    isolate
        Whether each run with code of the user has a separate process: a crash then ends only that run.

    Returns
    -------
    Results
        The runs, ordered by repetition. Their scheme is that of the scenario's flows; several are joined by
        "+".

    Raises
    ------
    ScenarioError
        If the scenario is wrong, or its records do not fit into memory.
    TraceError
        If a trace cannot be read.
    UsageError
        If there is no such backend, or a number is invalid.
    RunsFailed
        If code of the user fails; contains the finished runs.
    Interrupted
        On Ctrl-C; contains the finished runs.
    """
    if isinstance(scenario, Mapping):
        scenario = Scenario.from_dict(scenario)
    elif isinstance(scenario, str | Path):
        scenario = Scenario.load(scenario)
    elif not isinstance(scenario, Scenario):
        raise UsageError(
            f"scenario: found {scenario!r}; accepted: a scenario, its tables, a file, or the name of one"
        )
    return run_all(
        {scheme_label(scenario): scenario},
        seed=seed,
        repetitions=repetitions,
        jobs=jobs,
        progress=progress,
        world=world,
        isolate=isolate,
    )


def compare(
    schemes: Sequence[str],
    link: str | None = None,
    *,
    until: PrecisionRule | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
    world: BackendName = "sim",
    isolate: bool = False,
    **options: Unpack[CompareOptions],
) -> Results:
    """Compare schemes by long-lived flows over one link, with everything but the scheme equal.

    Repetition k (from 0) of every scheme uses the seed `seed` + k, so that repetitions are paired between
    schemes. For each seed, the base round-trip time is sampled within 2 % of the given one, equally for every
    scheme.

    Parameters
    ----------
    schemes
        Schemes, optionally with options (`cubic:beta=0.8`). Schemes with their own routers keep these, and
        use their own marking or none.
    link
        A rate ("12mbps"), the name of a shipped link ("lte.down"), or the path of a trace file. Default: that
        of `network`, which is "lte" if neither is given.
    until
        Rule that adds repetitions until means or differences are known precisely enough, instead of
        `repetitions`. All schemes have the same number, and the first N runs are those of ``repetitions=N``.
    jobs, progress, world, isolate
        As for `airpath.run`.
    **options
        The link, its flows and the runs, all optional: `network`, `rtt`, `buffer`, `queue`, `up`, `loss`,
        `jitter`, `reorder`, `ecn`, `flows`, `duration`, `warm_up`, `seed` and `repetitions`; see
        `airpath.links.options.CompareOptions`.

    Returns
    -------
    Results
        The runs, ordered by scheme (as given), then by repetition.

    Raises
    ------
    UsageError
        If there is no such scheme, link, option or backend, or a scheme is given twice.
    ScenarioError
        If another value is wrong.
    TraceError
        If the trace cannot be read.
    RunsFailed
        If code of the user fails; contains the finished runs.
    Interrupted
        On Ctrl-C; contains the finished runs.
    """
    if until is not None:
        options["repetitions"] = until.max_repetitions
    scenarios = compare_scenarios(schemes, link, **options)
    return run_all(scenarios, until=until, jobs=jobs, progress=progress, world=world, isolate=isolate)


def compare_scenarios(
    schemes: Sequence[str], link: str | None = None, **options: Unpack[CompareOptions]
) -> dict[str, Scenario]:
    """Return the scenarios of `compare` by the names of the schemes, without running them."""
    schemes = refuse_schemes(schemes, link)
    return dict(zip(map(label_of, schemes), compare_scenario(schemes, link, **options), strict=True))


def refuse_schemes(schemes: Sequence[str], link: str | None = None) -> list[str]:
    """Return the schemes as a list.

    Raises
    ------
    UsageError
        If they or the link are not strings, a scheme is given twice, or two have the same name.
    """
    if isinstance(schemes, str):
        raise UsageError(f'schemes: found "{schemes}"; accepted: a list of schemes, as in ["{schemes}"]')
    if not isinstance(schemes, Iterable):
        raise UsageError(f"schemes: found {schemes!r}; accepted: a list of schemes")
    schemes = list(schemes)
    allow(schemes)
    for name, text in (*(("schemes", scheme) for scheme in schemes), ("link", link or "")):
        if not isinstance(text, str):
            raise UsageError(f"{name}: found {text!r}; accepted: text")
    if twice := [scheme for scheme in dict.fromkeys(schemes) if list(schemes).count(scheme) > 1]:
        raise UsageError(f'the scheme "{twice[0]}" is given twice')
    if same := same_scheme(schemes):
        raise UsageError(f'the scheme "{same[0]}" is given twice, the second time as "{same[1]}"')
    refuse_equal_labels(schemes)
    return schemes


def scheme_label(scenario: Scenario) -> str:
    """Return the names of the schemes of a scenario's flows, each once, joined by "+"."""
    return joined_schemes(flow.scheme for flow in scenario.document.flows)


def joined_schemes(schemes: Iterable[str | None]) -> str:
    """Return the label of a run of flows with these schemes; flows of datagrams have none."""
    return joined(None if scheme is None else label_of(scheme) for scheme in schemes) or DATAGRAMS


def workers(jobs: int | None) -> int:
    """Return the number of simultaneous runs: `jobs`, else one for each available processor."""
    if jobs is None:
        return max(
            1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        )
    refuse_no_count("jobs", jobs)
    return jobs


def refuse_no_count(name: str, value: object, least: int = 1) -> None:
    """Refuse a value that is not an integer or is too small; `None` stands for a default.

    Raises
    ------
    UsageError
        If the value is refused.
    """
    if value is None or (isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least):
        return
    raise UsageError(f"{name}: found {value!r}; accepted: {least} or more, a whole number")


def run_all(
    scenarios: Mapping[str, Scenario],
    *,
    seed: int | None = None,
    repetitions: int | None = None,
    until: PrecisionRule | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
    world: BackendName = "sim",
    isolate: bool = False,
    apart: str = "",
) -> Results:
    """Run several scenarios, each under the label of the scheme that it tests.

    Parameters
    ----------
    scenarios
        Scenario of each scheme.
    seed, repetitions, jobs, progress, world, isolate
        As for `airpath.run`.
    until
        As for `airpath.compare`; `repetitions` is then ignored.
    apart
        Suffix of the names of runs on backends other than the simulator.

    Returns
    -------
    Results
        The runs, ordered by scheme (as given), then by repetition.
    """
    for name, value, least in (("seed", seed, 0), ("repetitions", repetitions, 1), ("jobs", jobs, 1)):
        refuse_no_count(name, value, least)
    if not isinstance(world, str) or world not in BACKENDS:
        raise UsageError(f"world: found {world!r}; accepted: {', '.join(BACKENDS)}")
    BACKENDS[world].check_jobs(jobs)
    if until is not None:
        until.refuse_too_few(len(scenarios))
        repetitions = until.max_repetitions
    refuse_if_too_large(
        [
            (scenario, scenario.repetitions if repetitions is None else int(repetitions))
            for scenario in scenarios.values()
        ]
    )
    by_scheme = [
        jobs_of(label, scenario, seed, repetitions, world, apart) for label, scenario in scenarios.items()
    ]
    if until is not None:
        return _run_until(until, by_scheme, jobs, progress, isolate)
    work = [job for of_scheme in by_scheme for job in of_scheme]
    with progress_bar(f"{len(work)} run{'s' if len(work) > 1 else ''}", progress) as show:
        return run_jobs(work, jobs, show, isolate=isolate)


def run_jobs(
    work: Sequence[Job],
    jobs: int | None,
    on_progress: Callable[[float], None],
    *,
    isolate: bool = False,
) -> Results:
    """Execute runs, `jobs` of them at the same time; those in real time one after another.

    Parameters
    ----------
    work
        The runs (`jobs_of`).
    jobs
        Number of simultaneous runs; by default one for each processor.
    on_progress
        Called with the finished share, 0 to 1.
    isolate
        Whether each run with code of the user has a separate process.

    Returns
    -------
    Results
        The runs, in the order of the work; each with its scenario.

    Raises
    ------
    RunsFailed
        If code of the user fails; contains the finished runs.
    Interrupted
        On Ctrl-C; contains the finished runs.
    """
    in_real_time = any(job.world in REAL_TIME for job in work)
    outcome = execute(work, 1 if in_real_time else workers(jobs), on_progress, isolate=isolate)
    results = Results.from_records(
        [replace(record, scenario=_written(job.scenario)) for job, record in outcome.finished]
    )
    if outcome.interrupted:
        raise Interrupted(results, len(work), outcome.failures)
    if outcome.failures:
        raise RunsFailed(results, len(work), outcome.failures)
    return results


def _run_until(
    until: PrecisionRule,
    by_scheme: Sequence[Sequence[Job]],
    jobs: int | None,
    progress: bool | None,
    isolate: bool,
) -> Results:
    """Execute the runs of all schemes in rounds until there are enough; they are ordered as usual.

    The stored scenarios contain the final number of repetitions: the results equal those of a command that
    requests this number.
    """
    from airpath.precision.reached import judge  # imported here because statistics are slow to import

    done: list[RunResult] = []
    place = {of_scheme[0].scheme: number for number, of_scheme in enumerate(by_scheme)}

    def found(now: int) -> Results:
        written = [_written(repeated(of_scheme[0].scenario, now)) for of_scheme in by_scheme]
        for run in done:
            run.record = replace(run.record, scenario=written[place[run.record.scheme]])
        ordered = sorted(done, key=lambda run: (place[run.record.scheme], run.record.repetition))
        return Results(ordered, until=until)

    for before, now in pairwise((0, *until.looks)):
        work = [job for of_scheme in by_scheme for job in of_scheme[before:now]]
        try:
            with progress_bar(f"{len(work)} runs, repetitions {before + 1} to {now}", progress) as show:
                done += run_jobs(work, jobs, show, isolate=isolate).runs
        except (Interrupted, RunsFailed) as stopped:
            done += stopped.results.runs
            stopped.results, stopped.asked = found(now), len(by_scheme) * now
            raise
        results = found(now)
        if judge(results.summary, until).is_enough:
            break
    return results


def repeated(scenario: Scenario, repetitions: int) -> Scenario:
    """Return the scenario with another number of repetitions."""
    return scenario.override({"repetitions": repetitions})


def _written(scenario: Scenario) -> WrittenScenario:
    return WrittenScenario(scenario.to_toml(), str(scenario.folder.resolve()))


def jobs_of(
    label: str,
    scenario: Scenario,
    seed: int | None,
    repetitions: int | None,
    world: BackendName = "sim",
    apart: str = "",
) -> list[Job]:
    """Return one job for each repetition of a scenario, under the label of the scheme that it tests.

    Parameters
    ----------
    label
        The scheme.
    scenario
        The scenario.
    seed, repetitions
        Seed of the first repetition, and number of repetitions; by default those of the scenario.
    world
        The backend; on backends other than the simulator, the label is that of the schemes there.
    apart
        Suffix of that label.

    Raises
    ------
    UsageError
        If a seed is out of the engine's range, or the backend does not have a scheme.
    """
    first = scenario.seed if seed is None else int(seed)
    count = scenario.repetitions if repetitions is None else int(repetitions)
    if not 0 <= first <= LARGEST_SEED - count + 1:
        raise UsageError(f"seed: found {first}; accepted: 0 to {LARGEST_SEED - count + 1}")
    resolved, placed = scenario.resolved, BACKENDS[world].place(scenario)
    label = f"{placed.label}{apart}" if placed.label else label
    names = [flow["name"] for flow in placed.plan["flows"]]
    schemes = [short or scheme for short, scheme in zip(resolved.labels, placed.schemes, strict=True)]
    flow_schemes = {
        name: label if len({*schemes} - {None}) == 1 else scheme
        for name, scheme in zip(names, schemes, strict=True)
        if scheme is not None
    }
    # Several entries of a scenario distinguish its flows; for a single entry, the scheme is more informative
    # than the name.
    groups = dict(zip(names, resolved.groups, strict=True)) if len(set(resolved.groups)) > 1 else {}
    return [
        Job(label, scenario, repetition, first + repetition, flow_schemes, groups, world)
        for repetition in range(count)
    ]


def refuse_if_too_large(work: Iterable[tuple[Scenario, int]]) -> None:
    """Refuse work that does not fit into memory: one run by itself, or all runs together.

    Parameters
    ----------
    work
        Scenarios, and the number of runs of each.

    Raises
    ------
    ScenarioError
        If it does not fit.
    """
    runs, needed = 0, 0
    for scenario, count in work:
        scenario.refuse_if_too_large()
        runs += count
        needed += count * scenario.memory().bytes
    if needed > (free := available_memory()):
        raise ScenarioError(
            f"the records of {runs} runs would take about {format_size(needed, 2)}, and"
            f" {format_size(free, 2)} of memory are free; ask for fewer repetitions, or set a larger"
            " record.interval"
        )
