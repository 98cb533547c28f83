"""Code of the user in the workers of sweeps, which may run in other folders, and for longer than a sweep."""

import contextlib
import hashlib
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from compiled import compiled, endless, with_compiler
from held_sweep import HANG_S
from own_scenario import scenario_text

import airpath
from airpath.plugins import loading, specs
from airpath.plugins.templates import c_start
from airpath.sweeps import SweepPlan
from airpath.sweeps.part import Part, PartStore
from airpath.sweeps.task import Failure, do_task, version
from airpath.sweeps.work import Progress, missing_runs


@pytest.fixture
def elsewhere(folder):
    """Another working directory, as that of a worker on a cluster."""
    place = folder / "elsewhere"
    place.mkdir()
    return place


@pytest.fixture
def task(write, aimd):
    """Returns the first task of a sweep with a controller in a file."""
    write("own.toml", scenario_text(aimd))

    def first():
        specs.allow([aimd])
        tables = {"name": "grid", "scenario": "own.toml", "metrics": ["goodput_mbps"]}
        return next(SweepPlan.from_dict(tables).runs()).task

    return first


def done_in(place, task):
    """Do a task in a worker whose working directory is `place`."""
    with contextlib.chdir(place), pytest.MonkeyPatch.context() as patch:
        patch.setattr(specs, "_allowed", set())
        return do_task(task, version())


def test_workers_in_other_folders_load_the_file_of_the_command(folder, elsewhere, task):
    first = task()
    assert done_in(elsewhere, first) == done_in(folder, first)
    (elsewhere / "aimd.py").write_text("raise SystemExit")
    assert done_in(elsewhere, first) == done_in(folder, first)
    code = Path("aimd.py")
    code.write_text(code.read_text().replace("if ack.in_recovery", "if 1 / 0 or ack.in_recovery"))
    failed = done_in(elsewhere, task())
    assert failed.message.startswith("aimd.py:27: ZeroDivisionError: division by zero (Aimd, seed 1, at ")


def test_workers_load_code_again_that_has_changed(elsewhere, task):
    before = Part.from_bytes(done_in(elsewhere, task()))
    code = Path("aimd.py")
    code.write_text(code.read_text().replace("self.window += ack.acked", "self.window += 2 * ack.acked"))
    after = Part.from_bytes(done_in(elsewhere, task()))
    assert after.inputs == {str(code.resolve()): hashlib.sha256(code.read_bytes()).hexdigest()}
    assert after.tables["runs"]["goodput_mbps"] != before.tables["runs"]["goodput_mbps"]


def test_parts_of_other_code_are_not_reused(folder, elsewhere, write, aimd):
    write("own.toml", scenario_text("newreno"))
    (elsewhere / "aimd.py").write_text(Path("aimd.py").read_text() + "\n")
    scenario, store = str(Path("own.toml").resolve()), PartStore(folder / "parts")

    def missing(place):
        with contextlib.chdir(place):
            specs.allow([aimd])
            tables = {
                "name": "grid",
                "scenario": scenario,
                "schemes": ["newreno", aimd],
                "metrics": ["delay_p95_ms"],
            }
            plan = SweepPlan.from_dict(tables)
            return [run.task for run in missing_runs(plan, store, Progress(len(plan)))]

    for one in missing(folder):
        store.put(one.key, done_in(elsewhere, one))
    assert missing(folder) == []
    assert [one.scheme for one in missing(elsewhere)] == ["Aimd"]


IMPORTS = """
    import airpath
    import lib.helper


    class Fixed(airpath.Controller):
        '''A fixed window.'''

        def start(self, facts):
            self.window = lib.helper.WINDOW

        def on_ack(self, ack):
            pass

        def on_congestion(self, signal):
            pass
"""


@pytest.fixture
def fixed(write):
    """Returns the first task of a sweep with a controller that imports a module of its folder."""
    write("fixed.py", IMPORTS)
    write("lib/helper.py", "WINDOW = 30000")
    write("own.toml", scenario_text("fixed.py:Fixed"))
    specs.allow(["fixed.py:Fixed"])
    tables = {"name": "grid", "scenario": "own.toml", "metrics": ["cwnd_mean_bytes"]}
    return lambda: next(SweepPlan.from_dict(tables).runs()).task


@contextlib.contextmanager
def process(folder=None):
    """Load code anew, as a process does that may have imported the module `lib.helper` of a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "_files", {})
        if folder is not None:
            patch.syspath_prepend(folder)
            patch.delitem(sys.modules, "lib", raising=False)
            imported = [importlib.import_module(name) for name in ("lib", "lib.helper")]
        yield
        assert folder is None or [sys.modules[one.__name__] for one in imported] == imported
        for name in ("lib", "lib.helper"):
            sys.modules.pop(name, None)


@pytest.mark.parametrize("is_package", [False, True])
@pytest.mark.parametrize("importer", ["command", "worker"])
@pytest.mark.parametrize("place", ["same", "other"])
def test_modules_that_a_process_has_imported_change_nothing(
    folder, elsewhere, write, fixed, importer, place, is_package
):
    write("elsewhere/lib/helper.py", "WINDOW = 3000")
    if is_package:
        write("lib/__init__.py", "")
        write("elsewhere/lib/__init__.py", "")
    imported = folder if place == "same" else elsewhere
    with process(imported if importer == "command" else None):
        task = fixed()
    with process(imported if importer == "worker" else None):
        part = Part.from_bytes(done_in(elsewhere, task))
    read = {Path(path).relative_to(folder).as_posix() for path in part.inputs}
    assert read == {"fixed.py", "lib/helper.py"} | ({"lib/__init__.py"} if is_package else set())
    assert part.tables["runs"]["cwnd_mean_bytes"].to_pylist() == [pytest.approx(30000, rel=0.01)]


def test_files_that_only_one_side_has_read_are_named(elsewhere, write, fixed, monkeypatch):
    write(
        "fixed.py",
        IMPORTS.replace("import lib", "import os\n    if 'OWN' in os.environ:\n        import lib"),
    )
    helper = Path("lib/helper.py").resolve()
    with process():
        without = fixed()
    monkeypatch.setenv("OWN", "")
    with process():
        failed = done_in(elsewhere, without)
        assert failed.message.startswith(f"{helper}: only a worker has read this file; ")
        task = fixed()
    monkeypatch.delenv("OWN")
    with process():
        failed = done_in(elsewhere, task)
        assert failed.message.startswith(f"{helper}: only the command has read this file; ")


def test_workers_refuse_other_files_and_missing_ones(elsewhere, task):
    first, code = task(), Path("aimd.py").resolve()
    code.write_text(code.read_text() + "\n")
    assert done_in(elsewhere, first) == Failure(
        f"{code}: a worker has read another file than the command; accepted: the same files with code on"
        " every machine, unchanged during the sweep"
    )
    code.unlink()
    assert done_in(elsewhere, first) == Failure(
        f"{code}: no such file for a worker; accepted: files with code at the same path on every machine"
    )


@with_compiler
@pytest.mark.processes
def test_a_library_that_ends_its_worker_is_named_and_the_other_runs_go_on(write, aimd):
    (text,) = c_start("aborts", "controller").files.values()
    write("aborts.c", text.replace("\tif (ack->", "\tabort();\n\tif (ack->", 1))
    library = compiled("aborts.so", "aborts.c")
    specs.allow([aimd, library])
    write("own.toml", scenario_text("newreno"))
    plan = {"name": "grid", "scenario": "own.toml", "schemes": [library, aimd], "metrics": ["goodput_mbps"]}
    swept = airpath.sweep(plan, "grid", jobs=1, progress=False)
    assert [(one["scheme"], one["message"]) for one in swept.failures] == [
        ("Aborts", "its worker process died (crash or endless loop of aborts.so, killed, or out of memory)")
    ]
    assert swept.table("runs")["scheme"].to_pylist() == ["Aimd"]


@with_compiler
@pytest.mark.processes
def test_a_library_that_does_not_return_ends_its_worker(write):
    library = endless()
    write("own.toml", scenario_text(library))
    worker = f"""
        from airpath._run import stall
        from airpath.plugins import specs
        from airpath.sweeps import SweepPlan
        from airpath.sweeps.task import do_task, version

        stall.PATIENCE_S = 0.5
        specs.allow([{library!r}])
        tables = {{"name": "grid", "scenario": "own.toml", "metrics": ["goodput_mbps"]}}
        do_task(next(SweepPlan.from_dict(tables).runs()).task, version())
    """
    write("worker.py", worker)
    done = subprocess.run([sys.executable, "worker.py"], capture_output=True, text=True, timeout=HANG_S)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
