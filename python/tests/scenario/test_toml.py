"""What is written as TOML reads back the same."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airpath.scenario.toml import write_toml

text = st.text(st.characters(exclude_categories=["Cs"]))
scalars = text | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=20)


@given(st.dictionaries(text, values))
def test_everything_reads_back_the_same(tables):
    assert tomllib.loads(write_toml(tables)) == tables


def test_the_form_is_that_of_hand_written_files():
    tables = {"a": {"b": {"c": "x"}, "d": 1}, "flows": [{"n": 1.5}, {"n": True}], "z": ["1", [2]]}
    assert write_toml(tables) == (
        'z = ["1", [2]]\n\n[a]\nd = 1\n\n[a.b]\nc = "x"\n\n[[flows]]\nn = 1.5\n\n[[flows]]\nn = true\n'
    )


def test_what_toml_cannot_say_is_refused():
    with pytest.raises(TypeError, match="NoneType cannot be written as TOML"):
        write_toml({"a": None})
