"""The README shows the output of its command, and its figure comes from the command of the first page."""

import re
import shlex

import make_readme
import pytest
from PIL import Image

from airpath.cli import main
from airpath.results import read


def test_the_readme_shows_the_output_of_its_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command, output = make_readme.shown()
    with pytest.raises(SystemExit) as left:
        main(shlex.split(command)[1:])
    assert left.value.code == 0
    printed = capsys.readouterr().out
    assert [line.rstrip() for line in printed.splitlines()] == [line.rstrip() for line in output.splitlines()]

    make_readme.draw(read(tmp_path / "out" / "latest"), tmp_path / "compare.png")
    kept = make_readme.IMAGES / "compare.png"
    with Image.open(tmp_path / "compare.png") as drawn, Image.open(kept) as stored:
        assert drawn.size == stored.size
    assert kept.stat().st_size < 200_000


def test_the_first_page_shows_the_command_of_its_figure():
    page = (make_readme.ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"images/[\w-]+\.png", page) == ["images/compare.png"]
    assert make_readme.shown()[0] in page
