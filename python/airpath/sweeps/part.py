"""The stored result of one run until the sweep is complete: its tables, in one file."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.ipc

from airpath._os.durable import place_of, write_whole
from airpath.metrics import METRICS
from airpath.metrics.summary import SUMMARY_SCHEMA
from airpath.results import RunResult
from airpath.results.columns import TABLES

RUNS: Final = "runs"
"""Name of the table with one row for each run."""
_KEY: Final = b"airpath.key"
_INPUTS: Final = b"airpath.inputs"
_DIGEST_BYTES: Final = 32
_CONTENT: Final = [("table", pa.string()), ("content", pa.large_binary())]
# Tables are compressed together: compressing each column of a short table costs more than it saves.
_COMPRESSED: Final = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
_PLAIN: Final = pa.ipc.IpcReadOptions(use_threads=False)


@dataclass(frozen=True)
class Part:
    """The tables of one run."""

    key: str
    """The key of its task."""
    inputs: Mapping[str, str]
    """SHA-256 of each file that the run read, by path: traces and code."""
    tables: Mapping[str, pa.Table]
    """`runs` and the requested tables."""

    @classmethod
    def of(
        cls,
        result: RunResult,
        *,
        key: str,
        keep: Sequence[str],
        metrics: Sequence[str],
        plan_sha256: str,
        inputs: Mapping[str, str],
    ) -> "Part":
        """Return the part of a run that is stored.

        Parameters
        ----------
        result
            The run.
        key
            The key of its task.
        keep, metrics
            Names of the tables and metrics to keep.
        plan_sha256
            SHA-256 of the resolved scenario.
        inputs
            SHA-256 of each file that it read, by path: traces and code.
        """
        digests = "".join(sorted(inputs.values())).encode()
        row = {
            **{name: result.summary[name] for name in ("repetition", "seed")},
            "plan_sha256": [plan_sha256],
            "inputs_sha256": [hashlib.sha256(digests).hexdigest() if inputs else None],
            **{name: result.summary[name] for name in METRICS if name in metrics},
        }
        tables = {RUNS: pa.Table.from_pydict(row, schema=runs_schema(metrics))}
        return cls(key, dict(inputs), tables | {name: result.table(name) for name in keep})

    def to_bytes(self) -> bytes:
        """Return the digest and bytes of an Arrow file, each row of which is a table as an Arrow stream."""
        rows = {
            "table": list(self.tables),
            "content": [_stream(table.combine_chunks()) for table in self.tables.values()],
        }
        metadata = {_KEY: self.key.encode(), _INPUTS: json.dumps(self.inputs, sort_keys=True).encode()}
        sink = pa.BufferOutputStream()
        outer = pa.Table.from_pydict(rows, schema=pa.schema(_CONTENT, metadata=metadata))
        with pa.ipc.new_file(sink, outer.schema, options=_COMPRESSED) as writer:
            writer.write_table(outer)
        content: bytes = sink.getvalue().to_pybytes()
        return _digest(content) + content

    @classmethod
    def from_bytes(cls, content: bytes) -> "Part":
        """Read what `to_bytes` wrote.

        Raises
        ------
        pyarrow.ArrowException, KeyError, ValueError
            If the content is something else, truncated, or differs in a single bit.
        """
        digest, content = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if digest != _digest(content):
            raise ValueError("the digest of a part is not that of its content")
        with pa.ipc.open_file(pa.py_buffer(content), options=_PLAIN) as reader:
            metadata, outer = reader.schema.metadata, reader.read_all()
        outer.validate(full=True)
        tables = {
            name: pa.ipc.open_stream(pa.py_buffer(stream), options=_PLAIN).read_all()
            for name, stream in zip(outer["table"].to_pylist(), outer["content"].to_pylist(), strict=True)
        }
        for table in tables.values():
            table.validate(full=True)
        return cls(metadata[_KEY].decode(), json.loads(metadata[_INPUTS]), tables)


class PartStore:
    """A folder of parts, one file each, named by the key of the task."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Part | None:
        """Return a finished run; `None` if there is none, or its file is damaged."""
        try:
            part = Part.from_bytes(self._file(key).read_bytes())
        except (OSError, pa.ArrowException, LookupError, ValueError, TypeError, RecursionError):
            return None
        return part if part.key == key else None

    def put(self, key: str, content: bytes) -> None:
        """Store a finished run (`Part.to_bytes`), completely or not at all."""
        write_whole(self._file(key), content)

    def remove_unfinished(self) -> None:
        """Remove unfinished files of a killed process."""
        for file in self.folder.glob("*/*.arrow.*"):
            if place_of(file.name):
                file.unlink()

    def _file(self, key: str) -> Path:
        # Subfolders limit the number of files in a folder for very many runs.
        return self.folder / key[:2] / f"{key}.arrow"


def runs_schema(metrics: Sequence[str]) -> pa.Schema:
    """Return the columns of `runs` that a run itself provides."""
    text = [
        pa.field("plan_sha256", pa.string(), metadata=_about("SHA-256 of the resolved scenario")),
        pa.field(
            "inputs_sha256",
            pa.string(),
            metadata=_about("digest of traces and code; null without any"),
        ),
    ]
    kept = [SUMMARY_SCHEMA.field(name) for name in METRICS if name in metrics]
    return pa.schema([SUMMARY_SCHEMA.field("repetition"), SUMMARY_SCHEMA.field("seed"), *text, *kept])


def part_schema(name: str, metrics: Sequence[str]) -> pa.Schema:
    """Return the columns of a table in a part."""
    return runs_schema(metrics) if name == RUNS else TABLES[name].schema


def _digest(content: bytes) -> bytes:
    """Return SHA-256: Arrow itself does not detect flipped bits."""
    return hashlib.sha256(content).digest()


def _about(description: str) -> dict[str, str]:
    return {"unit": "", "description": description}


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content
