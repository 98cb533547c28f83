"""One run of a sweep as messages: the task for a worker, and the result.

Both are plain values, so that a worker can be another process, or on another machine.
"""

import functools
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from airpath._os.fingerprint import fingerprint
from airpath._run.workers import run_in_worker
from airpath.errors import AirpathError, UsageError
from airpath.plugins.failures import suspects
from airpath.plugins.specs import Spec, allow, relative_to
from airpath.results import RunResult
from airpath.results.provenance import plan_text
from airpath.runner import jobs_of
from airpath.scenario import Scenario
from airpath.sweeps.part import Part

FORMAT: Final = "airpath sweep 1"
"""Format of a stored run; it changes with its content, so that older parts are not read."""
COMPUTED_BY: Final = (
    "airpath/**/*.py",
    "airpath/**/*.[ch]",
    "airpath/links/*.down",
    "airpath/links/*.toml",
    "airpath/links/*.up",
)
"""The sources, in addition to the engine, on which a run may depend: all code, and the built-in links."""


class EngineMismatchError(AirpathError):
    """A worker has another version of airpath than the calling process."""


@dataclass(frozen=True)
class Task:
    """One run to do."""

    scenario: str
    """The scenario as written: JSON with sorted keys."""
    folder: str
    """Base of relative paths of traces."""
    scheme: str
    """Label of the scheme under test."""
    repetition: int
    """0, 1, … within point and scheme."""
    seed: int
    """Seed of the run."""
    keep: tuple[str, ...]
    """Names of tables to keep in addition to the metrics."""
    metrics: tuple[str, ...]
    """Names of metrics to keep."""
    code: tuple[str, ...] = ()
    """The schemes that are code, if the user allowed them to run."""
    code_folder: str = ""
    """Base of relative paths of code."""
    code_sha256: tuple[tuple[str, str], ...] = ()
    """The files of the code, sorted: absolute path, and SHA-256 at the start of the sweep."""

    @property
    def key(self) -> str:
        """A digest of all that the run depends on, except the content of traces (`Part.inputs`)."""
        content = (
            FORMAT, version(), self.scenario, self.folder, self.scheme, self.repetition, self.seed, self.keep,
            self.metrics, self.code_sha256,
        )  # fmt: skip
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:40]


@dataclass(frozen=True)
class Failure:
    """A failed run."""

    message: str
    """Reason; the same for equal runs."""

    @classmethod
    def lost(cls, task: Task, what: str) -> Self:
        """Return the failure of a run whose worker ended during it, each time."""
        files = suspects(task.code)
        crashed = f"crash or endless loop of {files}, " if files else ""
        return cls(f"{what} ({crashed}killed, or out of memory)")


def version() -> str:
    """Return a digest of the parts of this installation on which runs depend."""
    return fingerprint(*COMPUTED_BY)


def do_task(task: Task, expected_version: str) -> bytes | Failure:
    """Do one run; called in a worker.

    Parameters
    ----------
    task
        The run.
    expected_version
        The value of `version` in the calling process.

    Returns
    -------
    bytes or Failure
        A part of the data set (`Part`), or the reason for its absence.

    Raises
    ------
    EngineMismatchError
        If this worker computes with another version.
    """
    if version() != expected_version:
        raise EngineMismatchError("a worker has another version of airpath; install the same everywhere")
    try:
        with relative_to(Path(task.code_folder)):
            return _done(task).to_bytes()
    except (KeyboardInterrupt, SystemExit):
        raise
    except AirpathError as error:
        return Failure(str(error))
    except BaseException as error:  # a panic of the engine is not an `Exception`
        text = " ".join(str(error).split())
        return Failure(
            f"unexpected {type(error).__name__}: {text}" if text else f"unexpected {type(error).__name__}"
        )


def digest_of_input(path: Path) -> str:
    """Return the digest of a file that runs read; unchanged files are read once."""
    state = path.stat()
    return _digest_of_file(path, state.st_mtime_ns, state.st_size)


def _done(task: Task) -> Part:
    code = _load_code(task)
    scenario = _scenario(task.scenario, task.folder, task.code_folder, task.code_sha256)
    scenario.refuse_if_too_large()
    (job,) = jobs_of(task.scheme, scenario, task.seed, 1)
    inputs = {str(trace.path): digest_of_input(trace.path) for trace in scenario.traces}
    result = RunResult(run_in_worker(replace(job, repetition=task.repetition, drops="drops" in task.keep)))
    for trace in scenario.traces:
        if digest_of_input(trace.path) != inputs[str(trace.path)]:
            raise AirpathError(f"{trace.path}: changed during the run")
    return Part.of(
        result,
        key=task.key,
        keep=task.keep,
        metrics=task.metrics,
        plan_sha256=hashlib.sha256(plan_text(scenario.plan()).encode()).hexdigest(),
        inputs=inputs | code,
    )


def digests_of_code(code: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file of schemes that are code, by absolute path; load the files."""
    from airpath.plugins.loading import load  # here, because few sweeps need it

    sources = [load(spec).sources for spec in map(Spec.parse, code) if spec is not None]
    return {str(path): hashlib.sha256(text).hexdigest() for files in sources for path, text in files.items()}


def _load_code(task: Task) -> dict[str, str]:
    """Load the code of a run, and return its digests; the files are those of the command.

    A worker of a cluster may have loaded earlier versions of the files.
    """
    allow(task.code)
    for spec in filter(None, map(Spec.parse, task.code)):
        for path in spec.paths:
            if not path.is_file():
                raise UsageError(
                    f"{path}: no such file for a worker; accepted: files with code at the same path on every"
                    " machine"
                )
    digests, expected = digests_of_code(task.code), dict(task.code_sha256)
    for file in sorted({*digests, *expected}):
        if digests.get(file) != expected.get(file):
            what = (
                "only a worker has read this file"
                if file not in expected
                else "only the command has read this file"
                if file not in digests
                else "a worker has read another file than the command"
            )
            raise UsageError(
                f"{file}: {what}; accepted: the same files with code on every machine, unchanged during the"
                " sweep"
            )
    return digests


@functools.lru_cache(maxsize=4)
def _scenario(
    text: str, folder: str, _code_folder: str, _code_sha256: tuple[tuple[str, str], ...]
) -> Scenario:
    """Return a scenario, cached because consecutive runs share it."""
    return Scenario(json.loads(text), source="scenario", folder=Path(folder))


@functools.lru_cache(maxsize=256)
def _digest_of_file(path: Path, _modified_ns: int, _size: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
