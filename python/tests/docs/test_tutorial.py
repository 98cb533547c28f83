"""The tutorials work: their files, commands and Python are executed in order."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from airpath.cli import main
from airpath.plugins import templates

LESSONS = Path(__file__).parents[3] / "docs" / "tutorial"
TUTORIAL, OWN_CONTROLLER = LESSONS / "first-comparison.md", LESSONS / "first-controller.md"
HOW_TO = LESSONS.parent / "how-to"
# The commands of the pages name `cc`.
with_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)")
BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """One fenced block of the page."""

    language: str
    title: str | None
    text: str


def blocks(page: Path = TUTORIAL) -> list[Block]:
    return [Block(**match.groupdict()) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def commands(block: Block) -> Iterator[list[str]]:
    for line in block.text.splitlines():
        assert line.startswith("$ airpath "), f"not a command that can be tested: {line}"
        yield shlex.split(line.removeprefix("$ "))


def test_the_page_contains_the_commands_to_execute():
    languages = [block.language for block in blocks()]
    assert languages.count("console") >= 5
    assert languages.count("python") >= 3
    # Every block is executed, except the installation.
    assert [block.language for block in blocks() if block.language == "sh"] == ["sh"]
    assert set(languages) == {"sh", "console", "python", "toml", "csv"}
    assert all(block.title for block in blocks() if block.language in ("toml", "csv"))


def test_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    printed = execute(TUTORIAL, capsys)
    assert "cubic" in printed
    for report in ("first", "gentle", "routers", "out/office", "newreno-office", "walk"):
        assert (tmp_path / report / "report.html").is_file()
    assert (tmp_path / "walk.png").is_file()


def test_the_page_on_controllers_of_your_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    assert "Mine" in execute(OWN_CONTROLLER, capsys)
    for results in ("first", "kept", "named", "delay", "shared", "again"):
        assert (tmp_path / results / "report.html").is_file()
    observed = pq.read_table(tmp_path / "delay" / "flow_observations.parquet").to_pydict()
    assert "near_queueing_ms" in observed["quantity"]


def test_the_page_on_estimators_of_your_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    execute(HOW_TO / "own-estimator.md", capsys)
    for results in ("first", "observed"):
        assert (tmp_path / results / "report.html").is_file()
    assert (tmp_path / "estimates.png").is_file()
    estimates = pq.read_table(tmp_path / "replayed" / "estimates.parquet").to_pydict()
    assert set(estimates["estimator"]) == {"mean.py:Mean", "westwood+"}


def test_the_page_on_capacity_sources_of_your_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    execute(HOW_TO / "own-capacity-source.md", capsys)
    assert (tmp_path / "busy" / "report.html").is_file()
    assert (tmp_path / "figures" / "estimate-XCP-Busy.png").is_file()


@with_cc
def test_the_page_on_queues_of_your_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    execute(HOW_TO / "own-queue.md", capsys)
    for results in ("step", "marker"):
        assert (tmp_path / results / "report.html").is_file()


@with_cc
def test_the_page_on_controllers_in_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    execute(HOW_TO / "controller-c.md", capsys)
    assert (tmp_path / "compiled" / "report.html").is_file()
    assert (tmp_path / "figures" / "window-Mine_keep_0.8.png").is_file()


def test_the_page_on_controllers_in_rust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    execute(HOW_TO / "controller-rust.md", capsys)
    assert (tmp_path / "mine_too" / "Cargo.toml").is_file()


@with_cc
def test_the_page_on_conformance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    execute(HOW_TO / "conform.md", capsys)
    assert (tmp_path / "out" / "conform" / "mine.json").is_file()


def test_the_page_on_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip("gymnasium")
    monkeypatch.chdir(tmp_path)
    assert "mine" in execute(HOW_TO / "learning.md", capsys)
    assert (tmp_path / "trade-off.png").is_file()


def execute(page: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Execute a page in the current directory, and return what its Python printed."""
    namespace: dict[str, object] = {"__name__": "tutorial"}
    printed = ""
    for block in blocks(page):
        if block.title is not None:
            file = Path(block.title)
            # A command of the page may have written it already.
            assert not file.exists() or file.read_text(encoding="utf-8") == block.text
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for command in commands(block):
                called(command, capsys)
        elif block.language == "sh" and block.text.startswith("cc "):
            command = shlex.split(block.text.replace("DIR", shlex.quote(str(templates.INCLUDE))))
            subprocess.run(command, check=True)
        elif block.language in ("c", "rust"):
            # The block is part of a file that a command of the page wrote.
            files = Path().rglob("*.c" if block.language == "c" else "*.rs")
            assert any(block.text in file.read_text(encoding="utf-8") for file in files), block.text
        elif block.language == "python":
            capsys.readouterr()
            exec(compile(block.text, str(page), "exec"), namespace)
            printed += capsys.readouterr().out
    return printed


def called(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Call a command in this process; other tests check that each also starts as a process of its own."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as leaving:
        main(command[1:])
    said = capsys.readouterr()
    assert leaving.value.code == 0, f"{shlex.join(command)}\n{said.err}"
    assert said.out, shlex.join(command)
