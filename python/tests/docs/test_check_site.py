"""The check of the documentation site finds each kind of fault."""

import sys
from pathlib import Path

import check_site
import pytest

PAGE = """<!doctype html>
<html lang="en"><head><title>A page</title><link rel="stylesheet" href="site.css"></head>
<body><h1 id="top">A page</h1><h2>One</h2><h3>Two</h3><h2>Three</h2>
<table><tr><th>a</th></tr></table><img src="site.css" alt="A figure">
<a href="#top">up</a> <a href="other.html#top">other</a> <a href="https://example.org">elsewhere</a>
</body></html>
"""
FAULTS = {
    "no language": ('<html lang="en">', "<html>"),
    "no title": ("<title>A page</title>", "<title> </title>"),
    "'top' occurs 2 times": ("<h2>", '<h2 id="top">'),
    "2 first-level headings": ("<h2>Three</h2>", "<h1>Three</h1>"),
    "'Two': level 4 follows level 2": ("<h3>Two</h3>", "<h4>Two</h4>"),
    "image without a text": (' alt="A figure"', ""),
    "table without headers: a": ("<th>a</th>", "<td>a</td>"),
    "no such file: other.htm": ("other.html", "other.htm"),
    "no such anchor: other.html#tip": ("other.html#top", "other.html#tip"),
    "loaded from another site: //example.org/a.js": (
        "</body>",
        '<script src="//example.org/a.js"></script></body>',
    ),
    "line 3": ("<h2>One</h2>", "<h2>One</h3>"),
}


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", ["check_site.py", str(tmp_path)])
    (tmp_path / "site.css").touch()

    def code_and_findings(page: str) -> tuple[int, str]:
        (tmp_path / "index.html").write_text(page, encoding="utf-8")
        (tmp_path / "other.html").write_text(PAGE, encoding="utf-8")
        return check_site.main(), capsys.readouterr().err

    return code_and_findings


def test_a_page_without_faults_passes(check):
    assert check(PAGE) == (0, "")


@pytest.mark.parametrize("finding", FAULTS)
def test_each_fault_is_found(check, finding):
    code, found = check(PAGE.replace(*FAULTS[finding], 1))
    assert code == 1
    assert finding in found
    assert all(line.startswith("index.html: ") for line in found.splitlines())


def test_an_empty_folder_is_not_a_site(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["check_site.py", str(tmp_path)])
    assert check_site.main() == 1
