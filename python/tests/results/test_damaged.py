"""Files of results that somebody else wrote, or that were damaged: an error of ours, or nothing known."""

from pathlib import Path

import pytest

from airpath.errors import OutputError
from airpath.results.directory import is_results
from airpath.results.reading import read
from airpath.sweeps.results import FAILURES, STATE, read_failures, read_state

PROVENANCE = '{"format": "airpath results 1", "runs": []}'


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a": ' * 100_000, "", "\x00", "7", "[]", "null"])
def test_what_is_no_record_is_none(tmp_path: Path, content: str) -> None:
    for name in ("provenance.json", "plan.json", STATE, FAILURES):
        (tmp_path / name).write_text(content)
    assert not is_results(tmp_path)
    assert read_state(tmp_path) == {}
    with pytest.raises(OutputError):
        read(tmp_path)
    with pytest.raises(OutputError):
        read_failures(tmp_path)
