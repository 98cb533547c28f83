"""Tables whose columns have their unit and description as metadata."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

Labelled = tuple[pa.Field, pa.Array]
"""A column with its field."""


def labelled(values: Any, kind: pa.DataType, name: str, description: str, unit: str = "") -> Labelled:
    """Return a column with unit and description in the metadata of its field; NaN becomes null.

    Parameters
    ----------
    values
        Its values; an Arrow array is used unchanged.
    kind
        Its Arrow type.
    name
        Its name, ending in the unit if it has one.
    description
        Its meaning.
    unit
        The unit; empty for a plain number or a name.
    """
    field = pa.field(name, kind, metadata={"unit": unit, "description": description})
    return field, values if isinstance(values, pa.Array) else pa.array(values, type=kind, from_pandas=True)


def table_of(columns: Sequence[Labelled]) -> pa.Table:
    """Return the table of these columns."""
    return pa.Table.from_arrays(
        [array for _, array in columns], schema=pa.schema([field for field, _ in columns])
    )
