"""Commands from other distributions, registered by entry points on a temporary path."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from airpath.cli.commands import DISTRIBUTIONS, all_commands
from airpath.commands import Command

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "extensions.md").read_text(encoding="utf-8")


@pytest.fixture
def distribution(tmp_path, monkeypatch):
    """Return a function that puts the modules and the metadata of a distribution on the path."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)

    def place(name, entry_points, modules):
        for file, text in modules.items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
        info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [
            line
            for group, points in entry_points.items()
            for line in (f"[{group}]", *(f"{point} = {target}" for point, target in points.items()))
        ]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")

    yield place
    for module in [name for name in sys.modules if name.startswith("airpath_test_")]:
        del sys.modules[module]


@pytest.fixture
def example(distribution):
    """Install the example of the page."""
    blocks = re.findall(r"```(toml|python)\n(.*?)```", PAGE, re.DOTALL)
    assert [language for language, _ in blocks] == ["toml", "python", "python"]
    project = tomllib.loads(blocks[0][1])["project"]
    modules = {"airpath_bdp/__init__.py": blocks[1][1], "airpath_bdp/cli.py": blocks[2][1]}
    yield distribution(project["name"], project["entry-points"], modules)
    for module in ("airpath_bdp", "airpath_bdp.cli"):
        sys.modules.pop(module, None)


@pytest.mark.usefixtures("example")
def test_the_example_of_the_page_is_a_command(airpath):
    outcome = airpath("bdp", "20mbps", "40ms")
    assert (outcome.code, outcome.out, outcome.err) == (0, "100 kB\n", "")
    assert f"$ airpath bdp 20mbps 40ms\n{outcome.out}" in PAGE
    assert f"$ airpath bdp fast 40ms\n{airpath('bdp', 'fast', '40ms').err}" in PAGE
    assert json.loads(airpath("bdp", "20mbps", "40ms", "--json").out) == {"bytes": 100_000}
    wrong = airpath("bdp", "20", "40ms")
    assert wrong.code == 2
    assert wrong.err.startswith("airpath: ")
    assert wrong.err.count("\n") == 1


@pytest.mark.usefixtures("example")
def test_the_example_is_in_the_help_at_the_end_of_its_panel(airpath):
    text = airpath("--help").out
    assert text.index("│ doctor ") < text.index("│ bdp ")
    assert "Print the bandwidth-delay product of a link." in text
    own = airpath("bdp", "--help").out
    assert "Print the bandwidth-delay product of a link." in own
    assert "Example: airpath bdp 20mbps 40ms" in own


@pytest.mark.usefixtures("example")
def test_a_similar_name_is_suggested(airpath):
    assert "Did you mean 'bdp'?" in airpath("bdpp").err


def test_help_lists_a_command_before_another():
    names = list(all_commands())
    assert names.index("lint") + 1 == names.index("figures")


def test_a_group_of_commands(airpath, distribution):
    code = """
import typer
from airpath.commands import Command
COMMAND = Command("Count.", "airpath_test_group:app", task="Counting")
app = typer.Typer()
@app.command()
def up() -> None: print("one, two")
@app.command()
def down() -> None: print("two, one")
"""
    distribution(
        "airpath-test",
        {"airpath.commands": {"count": "airpath_test_group:COMMAND"}},
        {"airpath_test_group.py": code},
    )
    assert airpath("count", "down").out == "two, one\n"
    assert "─ Counting ─" in airpath("--help").out


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("options", [[], ["--help"]])
def test_a_command_that_is_not_installed_names_its_distribution(airpath, monkeypatch, name, options):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    outcome = airpath(name, *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"airpath: the command {name} is in the distribution {DISTRIBUTIONS[name]}, which is not installed;"
        f" run `pip install {DISTRIBUTIONS[name]}`, or `make build` in a checkout\n"
    )
    assert f"│ {name} " not in airpath("--help").out


@pytest.mark.parametrize(
    ("name", "target", "reason"),
    [
        (
            "count",
            "airpath_test_absent:COMMAND",
            "ModuleNotFoundError: No module named 'airpath_test_absent'",
        ),
        ("count", "airpath_test_broken:COMMAND", "ValueError: two lines"),
        ("count", "json:dumps", "found function; accepted: airpath.commands.Command"),
        ("run", "airpath_test_good:COMMAND", "another command has this name"),
    ],
)
def test_an_entry_point_that_is_no_command_is_reported_and_ignored(
    airpath, distribution, name, target, reason
):
    modules = {
        "airpath_test_broken.py": "raise ValueError('two\\nlines')",
        "airpath_test_good.py": "from airpath.commands import Command\nCOMMAND = Command('Count.', 'x:y')",
    }
    distribution("airpath-test", {"airpath.commands": {name: target}}, modules)
    outcome = airpath("--help")
    assert outcome.code == 0
    assert outcome.err == (
        f"airpath: airpath-test: the entry point {name} in airpath.commands is ignored: {reason}\n"
    )
    assert "Count." not in outcome.out


def test_commands_of_airpath_load_no_entry_points(airpath, monkeypatch):
    def fail(**_):
        raise AssertionError("entry points were looked up")

    monkeypatch.setattr("importlib.metadata.entry_points", fail)
    assert airpath("list").code == 0
    assert airpath("compare", "--help").code == 0


def test_rows_and_code_agree():
    for name, row in all_commands().items():
        assert isinstance(row, Command)
        assert row.summary.endswith("."), name


def test_airpath_works_without_the_distributions_that_extend_it():
    """Import every module of airpath while the other packages cannot be imported."""
    script = """
import importlib, pkgutil, sys
sys.modules["airpath_lint"] = sys.modules["airpath_papers"] = None
import airpath
for module in pkgutil.walk_packages(airpath.__path__, "airpath."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=600)


def test_distributions_have_the_version_of_airpath():
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    for distribution in DISTRIBUTIONS.values():
        project = tomllib.loads((ROOT / "python" / distribution / "pyproject.toml").read_text())["project"]
        assert project["version"] == version
        assert f"airpath=={version}" in project["dependencies"]


@pytest.mark.parametrize("name", ["Linted", "lint", "lint_text"])
def test_the_old_name_of_the_linter_still_works(name):
    import airpath.lint
    import airpath_lint

    with pytest.warns(DeprecationWarning, match=f"import {name} from airpath_lint"):
        assert getattr(airpath.lint, name) is getattr(airpath_lint, name)


def test_the_old_name_of_the_equivalent_scenario_still_works(monkeypatch):
    from airpath.lint import carry

    with pytest.warns(DeprecationWarning, match="import carry_over from airpath_lint.carry"):
        assert callable(carry.carry_over)
    monkeypatch.delitem(sys.modules, "airpath_lint.carry")
    monkeypatch.setitem(sys.modules, "airpath_lint", None)
    with (
        pytest.warns(DeprecationWarning, match="carry_over"),
        pytest.raises(ImportError, match="pip install airpath-lint"),
    ):
        _ = carry.carry_over
