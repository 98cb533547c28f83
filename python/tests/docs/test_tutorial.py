"""Lessons and how-to pages work: files, commands and Python are executed, and outputs compared."""

import re
import shlex
import shutil
from pathlib import Path

import doc_pages as pages
import pyarrow.parquet as pq
import pytest
from PIL import Image

from airpath.cli import main

DOCS = pages.ROOT / "docs"
LESSONS = ("first-comparison", "first-scenario", "first-estimate", "first-controller")
HOW_TO = (
    "compare",
    "compare-on-a-trace",
    "precision",
    "rivals",
    "leaderboard",
    "check",
    "sweep",
    "rerun",
    "diff",
    "figures",
    "own-controller-use",
    "estimate",
    "what-limits-a-flow",
    "score-estimators",
    "traces",
    "link-logs",
    "backends",
    "fit",
    "qlog",
    "flent",
)
WRITES = {
    "own-estimator": ("first/report.html", "observed/report.html", "estimates.png"),
    "own-capacity-source": ("busy/report.html", "figures/estimate-XCP-Busy.png"),
    "own-queue": ("step/report.html", "marker/report.html"),
    "controller-c": ("compiled/report.html", "figures/window-Mine_keep_0.8.png"),
    "controller-rust": ("mine_too/Cargo.toml",),
    "conform": ("out/conform/mine.json",),
}
"""Further how-to pages that are executed, and files that they write."""
CALLS_CC = ("own-queue", "controller-c", "conform")
# The commands of the pages name `cc`.
with_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)")
MOST_WORDS = 700
"""Words of a lesson, without its code and outputs."""


def lesson(name: str) -> Path:
    return DOCS / "tutorial" / f"{name}.md"


def how_to(name: str) -> Path:
    return DOCS / "how-to" / f"{name}.md"


EXECUTED = [*map(lesson, LESSONS), *map(how_to, HOW_TO)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty folder in which a page is executed."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_lesson_is_executed():
    assert {path.stem for path in lesson("").parent.glob("*.md")} == set(LESSONS)


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_contains_commands_and_is_short(name: str):
    found = pages.blocks(lesson(name))
    languages = [block.language for block in found]
    assert languages.count("console") >= 3
    # Every block is executed, except the installation.
    assert languages.count("sh") == (name == "first-comparison")
    assert set(languages) <= {"sh", "console", "python", "toml", "text"}
    assert all(block.title for block in found if block.language in ("toml", "text"))
    prose = pages.BLOCK.sub("", lesson(name).read_text(encoding="utf-8"))
    assert len(prose.split()) <= MOST_WORDS


def test_the_lessons_print_and_write_python():
    languages = [block.language for name in LESSONS for block in pages.blocks(lesson(name))]
    assert languages.count("python") >= 3


@pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.stem)
def test_the_page_works(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]):
    compare(page, folder, capsys)
    if page == lesson("first-controller"):
        observed = pq.read_table(folder / "delay" / "flow_observations.parquet").to_pydict()
        assert "near_queueing_ms" in observed["quantity"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=with_cc if name in CALLS_CC else ()) for name in WRITES]
)
def test_the_page_on_a_component_works(name: str, folder: Path, capsys: pytest.CaptureFixture[str]):
    compare(how_to(name), folder, capsys)
    for file in WRITES[name]:
        assert (folder / file).is_file()
    if name == "own-estimator":
        estimates = pq.read_table(folder / "replayed" / "estimates.parquet").to_pydict()
        assert set(estimates["estimator"]) == {"mean.py:Mean", "westwood+"}


def test_the_page_on_training_works(folder: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("gymnasium")
    assert "mine" in compare(how_to("learning"), folder, capsys)
    assert (folder / "trade-off.png").is_file()


def test_an_output_may_leave_lines_out():
    assert pages.equal("a\n…\nd\n", "a  \nb\nc\nd\n\n")
    assert pages.equal("…\nd\n", "d\n")
    assert not pages.equal("a\nd\n", "a\nb\nd\n")
    assert not pages.equal("a\n…\nd\n", "a\nb\n")
    assert not pages.equal("?\n", "")


def test_commands_have_outputs_and_exit_codes():
    text = "$ airpath diff a b\nx\n…\n$ echo $?\n1\n$ airpath list\n"
    first, second = pages.commands(text)
    assert (first.words, first.output, first.code) == (["airpath", "diff", "a", "b"], "x\n…\n", 1)
    assert (second.output, second.code) == ("", 0)
    assert first.text() + second.text() == text
    with pytest.raises(ValueError, match="not a command"):
        list(pages.commands("$ ls\n"))


@pytest.fixture(autouse=True)
def _without_recorded_traces(monkeypatch):
    """Run the cases of leaderboards that every machine has."""
    monkeypatch.delenv("AIRPATH_TRACES", raising=False)


def compare(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Execute a page; compare outputs and the sizes of figures; return what its Python printed."""

    def call(words: list[str]) -> tuple[int, str]:
        """Call a command in this process; other tests check that each also starts as a process of its own."""
        capsys.readouterr()
        with pytest.raises(SystemExit) as leaving:
            main(words[1:])
        said = capsys.readouterr()
        assert isinstance(leaving.value.code, int), f"{shlex.join(words)}\n{said.err}"
        for report in re.findall(r"^report: +(.+)$", said.out, re.MULTILINE):
            assert (folder / report).is_file()
        return leaving.value.code, said.out

    printed = ""
    for block, text, output in pages.execute(page, call):
        assert text == block.text
        printed += output
    for image, place in pages.FIGURES.items():
        if f"images/{image}" in page.read_text(encoding="utf-8"):
            kept = pages.IMAGES / image
            with Image.open(folder / place) as drawn, Image.open(kept) as stored:
                assert drawn.size == stored.size
            assert kept.stat().st_size < 120_000
    return printed
