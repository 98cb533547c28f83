"""The kinds of runs of `tools/frozen.py`: their execution, and the digests of their results."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import airpath
from airpath._backends import BackendName
from airpath.errors import AirpathError
from airpath.results import TABLES, Results
from airpath.scenario import scenario_schema

LIST: Final = Path(__file__).with_name("frozen.toml")
"""The list of runs."""
KEPT_FILES: Final = (".pcapng", ".qlog", ".sqlog")
"""Suffixes of files that are compared byte for byte if a command writes them."""

Outcome = Mapping[str, str]
"""The result of one run: a digest for each table, or the text of each output."""


class Run(Protocol):
    """Anything that can be measured in a process of its own."""

    @property
    def section(self) -> str:
        """The section of the document to which the outcome belongs."""

    @property
    def name(self) -> str:
        """The name of the run, unique within its section."""

    def measure(self) -> Outcome:
        """Run it and return the outcome."""


@dataclass(frozen=True)
class Simulation:
    """One run of a scenario with one seed; an error is an outcome too."""

    section: str
    name: str
    changes: Mapping[str, Any]
    """Values by key, which replace those of the scenario."""
    scenario: str | None = None
    """Name of a shipped scenario; the base of the list if absent."""
    folder: Path | None = None
    """Folder with trace files."""
    world: BackendName = "sim"
    """Backend."""

    def measure(self) -> Outcome:
        """Return the digest of each table, or the error."""
        try:
            if self.scenario is None:
                scenario = airpath.Scenario.from_dict(runs_listed()["base"], folder=self.folder)
            else:
                scenario = airpath.Scenario.load(self.scenario)
            changed = scenario.override(self.changes)
            return digests(airpath.run(changed, repetitions=1, jobs=1, progress=False, world=self.world))
        except AirpathError as error:
            return {"error": normal(str(error), {self.folder: "TRACES"})}


@dataclass(frozen=True)
class Episode:
    """One episode of `airpath.learning` with actions from a fixed sequence."""

    name: str
    arguments: Mapping[str, Any]
    section: str = "episodes"

    def measure(self) -> Outcome:
        """Return digests of all observations and rewards, and of each table."""
        from airpath.learning import BottleneckEnv  # imported here because it needs Gymnasium

        environment = BottleneckEnv(**self.arguments)
        observation, _ = environment.reset(seed=1)
        seen, over = [observation], False
        while not over:
            action = np.array([np.sin(len(seen))], dtype=np.float32)
            observation, reward, terminated, truncated, _ = environment.step(action)
            seen += [observation, np.array([reward])]
            over = terminated or truncated
        observed = sha256(b"".join(array.astype(np.float64).tobytes() for array in seen))
        return {"observations and rewards": observed, **digests(environment.results())}


@dataclass(frozen=True)
class Command:
    """One command line, in a new folder with the files of the list."""

    name: str
    words: tuple[str, ...]
    section: str = "commands"
    files: Mapping[str, str] = field(default_factory=dict)
    """Further files, text by name."""
    hidden: Mapping[Path, str] = field(default_factory=dict)
    """Names for paths in the outputs."""

    def measure(self) -> Outcome:
        """Return the outputs, the exit code, written scenarios, and digests of tables and other files."""
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place).resolve()
            given = {**runs_listed()["files"], **self.files}
            for name, text in given.items():
                (folder / name).write_text(text, encoding="utf-8")
            environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "TMPDIR": place}
            line = [sys.executable, "-m", "airpath", *self.words]
            done = subprocess.run(
                line, cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            outputs = {"standard output": done.stdout, "standard error": done.stderr}
            hidden = {**self.hidden, folder: "FOLDER"}
            outcome = {name: normal(text, hidden) for name, text in outputs.items()}
            outcome["exit code"] = str(done.returncode)
            for file in sorted(folder.rglob("*")):
                if file.suffix == ".parquet":
                    outcome[str(file.relative_to(folder))] = digest(pq.read_table(file))
                elif file.suffix == ".toml" and file.name not in given:
                    outcome[str(file.relative_to(folder))] = normal(file.read_text(encoding="utf-8"), hidden)
                elif file.suffix in KEPT_FILES:
                    outcome[str(file.relative_to(folder))] = sha256(file.read_bytes())
            return outcome


@dataclass(frozen=True)
class Schema:
    """The JSON schema of scenarios, without its descriptions."""

    section: str = "commands"
    name: str = "schema of scenarios"

    def measure(self) -> Outcome:
        """Return the schema as text."""
        return {"schema": json.dumps(_without_prose(scenario_schema()), sort_keys=True)}


@cache
def runs_listed() -> dict[str, Any]:
    """Return the list of runs."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def sha256(content: bytes) -> str:
    """Return the digest of some bytes."""
    return hashlib.sha256(content).hexdigest()


def digest(table: pa.Table) -> str:
    """Return the digest of a table as Arrow IPC, without the descriptions of its columns."""
    bare = table.combine_chunks().cast(pa.schema([column.remove_metadata() for column in table.schema]))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, bare.schema) as stream:
        stream.write_table(bare)
    return sha256(sink.getvalue())


def digests(results: Results) -> Outcome:
    """Return the digest of each table of the results."""
    return {name: digest(results.table(name)) for name in (*TABLES, "summary")}


def normal(text: str, hidden: Mapping[Any, str]) -> str:
    """Return a text without the parts that vary between equal runs: paths, versions and elapsed time."""
    for path, name in hidden.items():
        text = text.replace(str(path), name)
    text = text.replace(f"airpath {metadata.version('airpath')}", "airpath VERSION")
    return re.sub(r'("elapsed_s": |elapsed: |, of which )\d+(\.\d+)?', r"\1TIME", text)


def _without_prose(schema: Any) -> Any:
    match schema:
        case dict():
            return {
                key: _without_prose(value)
                for key, value in schema.items()
                if not (key == "description" and isinstance(value, str))
            }
        case list():
            return [_without_prose(value) for value in schema]
    return schema
