"""Arrays and other facts in one file: an Arrow file with a checksum."""

import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_FACTS: Final = b"facts"
"""The key of a file's metadata under which the facts are stored."""
_CHECKSUM_BYTES: Final = 4
# Single-threaded, because each processor already has a worker.
_WRITING: Final = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
_READING: Final = pa.ipc.IpcReadOptions(use_threads=False)


def packed(arrays: Mapping[str, npt.NDArray[Any]], facts: Mapping[str, Any]) -> bytes:
    """Return arrays, each as the single list of a column, and facts, preceded by the CRC-32 of both.

    Parameters
    ----------
    arrays
        Arrays of any shape and number type; they are preserved exactly.
    facts
        Anything that JSON can represent, including NaN.
    """
    shapes = {name: values.shape for name, values in arrays.items()}
    columns = [
        pa.ListArray.from_arrays(pa.array([0, values.size], pa.int32()), pa.array(values.ravel()))
        for values in map(np.ascontiguousarray, arrays.values())
    ]
    schema = pa.schema(
        [(name, column.type) for name, column in zip(arrays, columns, strict=True)],
        {_FACTS: json.dumps({"shapes": shapes, **facts})},
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema, options=_WRITING) as file:
        file.write_batch(pa.record_batch(columns, schema=schema))
    content: bytes = sink.getvalue().to_pybytes()
    return zlib.crc32(content).to_bytes(_CHECKSUM_BYTES, "little") + content


def unpacked(content: bytes) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Read the output of `packed`.

    Raises
    ------
    ValueError
        If the content is something else, truncated or damaged.
    """
    checksum, content = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
    if zlib.crc32(content).to_bytes(_CHECKSUM_BYTES, "little") != checksum:
        raise ValueError("the file is corrupt")
    try:
        batch = pa.ipc.open_file(pa.py_buffer(content), options=_READING).get_batch(0)
        batch.validate(full=True)
    except pa.ArrowException as error:
        raise ValueError("the file contains no arrays") from error
    facts = json.loads(batch.schema.metadata[_FACTS])
    shapes = facts.pop("shapes")
    arrays = {
        name: column.values.to_numpy(zero_copy_only=False).reshape(shapes[name])
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    return arrays, facts
