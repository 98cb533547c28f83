"""Imports on demand: importing airpath and showing help are quick."""

import subprocess
import sys

import pytest

HEAVY = ("airpath.scenario", "airpath.results", "matplotlib", "numpy", "pandas", "polars", "pyarrow", "scipy")


@pytest.mark.parametrize(
    "work",
    [
        "import airpath",
        "import airpath; airpath.__version__",
        "from airpath.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
        "from airpath.cli import main\ntry: main(['compare', '--help'])\nexcept SystemExit: pass",
    ],
)
def test_no_slow_modules_are_loaded(work):
    script = f"{work}\nimport sys\nsys.stderr.write(' '.join(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600
    )
    assert done.stderr == ""


def test_public_names():
    import airpath

    assert all(getattr(airpath, name) is not None for name in airpath.__all__)
    assert set(airpath.__all__) <= set(dir(airpath))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        airpath.nonsense  # noqa: B018


@pytest.mark.processes
def test_an_interrupt_while_the_command_line_is_loaded_shows_no_traceback():
    script = """
import runpy, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "airpath.cli":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
runpy.run_module("airpath", run_name="__main__")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600
    )
    assert (done.returncode, done.stderr) == (130, "airpath: interrupted\n")


def test_a_missing_engine_is_reported_in_one_line():
    without = "import sys; sys.modules['airpath._core'] = None"
    script = f"{without}\nfrom airpath.cli import main; main(['validate', 'two-way'])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 1
    assert done.stderr.startswith("airpath: the engine is not built")
    assert done.stderr.count("\n") == 1


def test_the_table_of_compare_is_printed_before_anything_slow_is_loaded(tmp_path):
    script = """
import rich.console, sys
def show(self, *what, shown=rich.console.Console.print, **how):
    sys.stderr.write(" ".join(sorted({name for name in sys.modules if name in SLOW})) + "|")
    shown(self, *what, **how)
SLOW = {"matplotlib", "scipy", "scipy.stats", "scipy.optimize", "pandas", "jinja2", "pyarrow.compute"}
SLOW |= {"pyarrow.parquet", "pyarrow.dataset"}
rich.console.Console.print = show
from airpath.cli import main
main(["compare", "cubic", "bbr", "--link", "2mbps", "--duration", "2s", "--no-report"])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    *before, places, end = done.stderr.split("|")
    assert "cubic" in done.stdout
    assert len(before) > 2
    assert set(before) == {""}
    assert "pyarrow.parquet" in places, "tables are written after the last line about them"
    assert end == ""


def test_compare_with_its_report_loads_nothing_slow(tmp_path):
    script = """
import sys
from airpath.cli import main
try: main(["compare", "cubic", "bbr", "--link", "2mbps", "--duration", "2s"])
except SystemExit: pass
sys.stderr.write(" ".join({"matplotlib", "scipy", "jinja2", "pandas"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600, cwd=tmp_path
    )
    assert (tmp_path / "out" / "compare-2mbps" / "report.html").is_file()
    assert done.stderr == ""


def test_code_of_the_user_imports_pandas(tmp_path):
    (tmp_path / "mine.py").write_text("""
import airpath, pandas
class Mine(airpath.Controller):
    def on_ack(self, ack): pass
    def on_congestion(self, signal): pass
""")
    command = ["compare", "mine.py:Mine", "cubic", "--link", "2mbps", "--duration", "2s", "--no-report"]
    done = subprocess.run(
        [sys.executable, "-m", "airpath", *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("command", "slow"),
    [
        (["list"], HEAVY[1:]),
        (["validate", "lte-download"], ("matplotlib", "scipy", "pandas", "pyarrow.compute", "rich.progress")),
    ],
)
def test_little_is_loaded_for_short_commands(command, slow):
    script = f"""
from airpath.cli import main
try: main({command!r})
except SystemExit: pass
import sys
sys.stderr.write(' '.join(set({slow!r}) & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600
    )
    assert done.stderr == ""
