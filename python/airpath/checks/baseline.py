"""Baselines: earlier good measurements of the cases, kept in a file next to the suite."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError

from airpath._os.durable import write_whole
from airpath.checks.expectation import Values
from airpath.errors import OutputError
from airpath.metrics import mean_interval
from airpath.scenario import Scenario

FORMAT: Final = "airpath baseline 1"
"""Identifies the layout of the file."""

_NOT_OF_THE_DRAWS: Final = ("name", "title", "description", "seed", "repetitions")
"""Keys of a scenario that do not change the metrics of a run with a given seed."""


class _Kept(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


Value = Annotated[float, Field(allow_inf_nan=False)]


class Envelope(_Kept):
    """The baseline of one metric. Mean, spread and interval follow from the values; they are for readers."""

    mean: Value | None
    sd: Value | None
    n: Annotated[int, Strict(), Field(ge=0)]
    ci95_low: Value | None
    ci95_high: Value | None
    values: dict[Annotated[int, Field(ge=0, le=2**64 - 1)], Value]
    """Value by seed, for seeds that have one."""


class Entry(_Kept):
    """The baseline of one scheme in one case.

    Attributes
    ----------
    airpath, commit
        Version of airpath, and commit of its source, that produced the values.
    scenario_sha256
        Digest of the scenario, without name, seed and repetitions.
    inputs
        SHA-256 of each trace file, by name.
    metrics
        Measured values by metric.
    """

    airpath: str | None
    commit: str | None
    scenario_sha256: str
    inputs: dict[str, str]
    metrics: dict[str, Envelope]


class _File(_Kept):
    format: Literal["airpath baseline 1"]
    suite: str
    cases: dict[str, dict[str, Entry]]


@dataclass
class Baselines:
    """The baselines of a suite: an entry for each case and label of runs.

    Attributes
    ----------
    suite
        Name of the suite.
    cases
        Entries by case, then by label: the scheme, with its backend if that is not the simulator.
    """

    suite: str
    cases: dict[str, dict[str, Entry]] = field(default_factory=dict)

    def entry(self, case: str, label: str) -> Entry | None:
        """Return the entry of a case; `None` if there is none."""
        return self.cases.get(case, {}).get(label)

    def learn(self, case: str, label: str, entry: Entry) -> None:
        """Store an entry, replacing an earlier one."""
        self.cases.setdefault(case, {})[label] = entry

    def keep_only(self, cases: Sequence[str]) -> None:
        """Remove the cases that the suite no longer contains."""
        self.cases = {name: self.cases[name] for name in cases if name in self.cases}

    def write(self, file: Path) -> None:
        """Write the file, completely or not at all; equal content gives equal bytes.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        content = {
            "format": FORMAT,
            "suite": self.suite,
            "cases": {
                case: {label: entries[label].model_dump(mode="json") for label in sorted(entries)}
                for case, entries in self.cases.items()
            },
        }
        try:
            write_whole(file, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
        except OSError as error:
            raise OutputError(f"cannot write {file}: {error.strerror or error}") from None


def read_baselines(file: Path, suite: str) -> Baselines:
    """Read baselines; none if there is no file.

    Raises
    ------
    OutputError
        If it cannot be read, is not a baseline file, or belongs to another suite.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        found = _File.model_validate(content)
    except FileNotFoundError:
        return Baselines(suite)
    except OSError as error:
        raise OutputError(f"{file}: cannot be read: {error.strerror or error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise OutputError(
            f"{file}: {f'{where}: ' if where else ''}{first['msg']}; accepted: what --update writes"
        ) from None
    except (ValueError, RecursionError) as error:
        raise OutputError(f"{file}: not valid JSON: {error}; accepted: what --update writes") from None
    if found.suite != suite:
        # Cases of another suite would be taken for removed cases of this suite, and deleted.
        raise OutputError(f'{file}: found baselines of the suite "{found.suite}"; accepted: of "{suite}"')
    return Baselines(suite, dict(found.cases))


def learned(
    scenario: Scenario,
    inputs: Mapping[str, str],
    metrics: Mapping[str, Values],
    airpath: str | None,
    commit: str | None,
) -> Entry:
    """Return a new entry of a scheme.

    Parameters
    ----------
    scenario
        The scenario of the runs.
    inputs
        SHA-256 of each trace file, by name.
    metrics
        Value of each seed, by metric; NaN if a run has none.
    airpath, commit
        Version and commit that produced the values.
    """
    return Entry(
        airpath=airpath,
        commit=commit,
        scenario_sha256=scenario_sha256(scenario),
        inputs=dict(inputs),
        metrics={metric: _envelope(values) for metric, values in metrics.items()},
    )


def scenario_sha256(scenario: Scenario) -> str:
    """Return a digest of everything in the scenario that determines the metrics of one seed."""
    tables: dict[str, Any] = {
        key: value for key, value in scenario.to_dict().items() if key not in _NOT_OF_THE_DRAWS
    }
    return hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()


def inputs_sha256(scenario: Scenario) -> dict[str, str]:
    """Return the SHA-256 of each trace file of a scenario, by name."""
    return {trace.path.name: hashlib.sha256(trace.path.read_bytes()).hexdigest() for trace in scenario.traces}


def _envelope(values: Values) -> Envelope:
    known = {seed: value for seed, value in values.items() if value == value}
    mean, sd, n, low, high = mean_interval(list(known.values()))
    return Envelope(
        mean=_known(mean), sd=_known(sd), n=n, ci95_low=_known(low), ci95_high=_known(high), values=known
    )


def _known(value: float) -> float | None:
    return value if value == value else None
