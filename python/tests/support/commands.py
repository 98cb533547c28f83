"""The command line, called in this process, in an empty directory."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from airpath.cli import main


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def airpath(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., Outcome]:
    def call(*arguments: str) -> Outcome:
        assert Path.cwd() == folder
        capsys.readouterr()
        with pytest.raises(SystemExit) as leaving:
            main(arguments)
        captured = capsys.readouterr()
        code = leaving.value.code
        assert isinstance(code, int)
        return Outcome(code, captured.out, captured.err)

    return call
