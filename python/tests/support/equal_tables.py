"""Results that must be equal."""

import numpy as np

from airpath import Results
from airpath.results.columns import TABLES

LABELS = ("scheme", "flow_scheme", "group")


def assert_equal(first: Results, second: Results) -> None:
    """Compare all tables, except the names of schemes."""
    rows = 0
    for name in TABLES:
        ours, theirs = first.table(name), second.table(name)
        for column in set(ours.column_names) - set(LABELS):
            np.testing.assert_array_equal(
                ours[column].to_numpy(), theirs[column].to_numpy(), err_msg=f"{name}.{column}"
            )
        rows += ours.num_rows
    assert rows > 100
