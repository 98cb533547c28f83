"""Controllers in shared libraries, compiled by the C compiler of this machine."""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from compiled import ENDING, build_as_printed, compiled, with_compiler
from equal_tables import assert_equal
from own_scenario import scenario_text

import airpath
from airpath._core import __version__
from airpath.errors import PluginError, ScenarioError, UsageError
from airpath.plugins import specs
from airpath.plugins.specs import Spec
from airpath.plugins.templates import INCLUDE
from airpath.scenario import Scenario
from airpath.schemes import parse_scheme

LINK = {"rtt": "40ms", "duration": "5s", "repetitions": 1}

CHECKOUT = Path(__file__).parents[3]

FIXED = """
    #include "airpath_easy.h"

    struct fixed { int acks; };

    static const struct airpath_parameter parameters[] = {
        AIRPATH_EASY_NUMBER("packets", "Window.", 40, 1, 1000),
        AIRPATH_EASY_TIME("pause", "Not used.", 25000000),
    };

    static void start(struct fixed *self, const struct airpath_connection *connection,
                      struct airpath_control *control)
    {
        (void)self;
        control->window = (uint64_t)connection->values[0].number * connection->mss;
    }

    static void on_ack(struct fixed *self, const struct airpath_ack *ack, struct airpath_control *control)
    {
        (void)ack, (void)control;
        if (++self->acks >= 100) {
            FAULT;
        }
    }

    static void on_congestion(struct fixed *self, const struct airpath_congestion *congestion,
                              struct airpath_control *control)
    {
        (void)self, (void)congestion, (void)control;
    }

    AIRPATH_EASY_WITH("Fixed", struct fixed, start, on_ack, on_congestion, parameters)
"""


@pytest.fixture
def build(write):
    """Return a function that compiles C source to a library in the working directory, with macros."""

    def build(library, text=FIXED, **macros):
        return compiled(library, write(f"{library}.c", text), **{"FAULT": "", **macros})

    return build


def test_names_with_options_are_split():
    assert Spec.parse("libcubic") is None
    for text, parts in {
        "./libmine.so": ("libmine.so", "", ""),
        "../a b/mine.dylib:gain=2,mode=b": ("../a b/mine.dylib", "", "gain=2,mode=b"),
        "libmine.so:file=my.py:X": ("libmine.so", "", "file=my.py:X"),
        "my.py:Mine:file=libmine.so": ("my.py", "Mine", "file=libmine.so"),
    }.items():
        spec = Spec.parse(text)
        assert (str(spec.file), spec.name, spec.options) == parts
        assert spec.is_library == (spec.file.suffix != ".py")


@with_compiler
def test_a_library_produces_the_tables_of_the_same_controller_of_the_engine(build):
    library = build("fixed.so")
    for packets in (40, 25):
        schemes = [f"{library}:packets={packets}", f"fixed:window={packets} packets"]
        assert_equal(*(airpath.compare([scheme], "12mbps", **LINK) for scheme in schemes))


@with_compiler
def test_parameters_are_those_of_other_schemes(build, airpath):
    specs.allow([library := build("fixed.so")])
    scheme, options = parse_scheme(f"{library}:packets=30,pause=5ms")
    plan = scheme.build(scheme.parameters.read(options), 1460)
    assert plan == {"kind": "fixed.so", "packets": 30.0, "pause": 5_000_000}
    listed = json.loads(airpath("list", library, "--json").out)["controllers"]["fixed.so"]["parameters"]
    assert listed["pause"] == {"default": "25 ms", "description": "Not used."}
    for option, problem in {
        "paket=1": "paket: unknown key",
        "packets=0": "packets: found 0; accepted: at least 1",
        "pause=5": "pause: found the bare number 5, which has no unit",
    }.items():
        failed = airpath("compare", f"{library}:{option}", "--link", "12mbps")
        assert (failed.code, len(failed.err.splitlines())) == (2, 1)
        assert problem in failed.err


FAULTS = {
    "control->window = 0": "after on_ack, window is 0; accepted: 1 to 1073741824",
    "control->quantum = 0": "after on_ack, quantum is 0; accepted: 1 to 1073741824",
    "control->pacing = 7": "after on_ack, pacing is 7; accepted: 0, 1 or 2",
    "control->next_timer = ack->now / 2": "in the past: it is ",
    "control->next_timer = ack->now": "next_timer is set, but there is no function on_timer",
    'control->error = "too\\nmuch"': "on_ack: too much",
}


@with_compiler
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_its_run_alone(build, fault):
    library, sound = build("faulty.so", FAULT=fault), build("fixed.so")
    with pytest.raises(PluginError) as failed:
        airpath.compare([library, f"sound={sound}"], "12mbps", **LINK)
    (line,) = str(failed.value).splitlines()
    assert line.startswith("faulty.so: ")
    assert FAULTS[fault] in line
    assert "(Fixed, seed 1, at " in line
    assert line.endswith(" s)")
    assert [run.record.scheme for run in failed.value.results.runs] == ["sound"]


@with_compiler
def test_a_connection_that_cannot_start_ends_its_run(build):
    library = build(
        "late.so",
        FIXED.replace("control->window = ", 'control->error = "not today"; if (0) control->window = '),
    )
    with pytest.raises(PluginError, match=r"late.so: create: not today .*, at its start"):
        airpath.compare([library], "12mbps", **LINK)


UNLOADABLE = {
    "there is no function airpath_controller, airpath_estimator, airpath_source or airpath_": "int nothing;",
    "it was built for version 2 of the interface; this airpath has version 1": FIXED.replace(
        '#include "airpath_easy.h"',
        '#include "airpath_easy.h"\n#undef AIRPATH_ABI_MAJOR\n#define AIRPATH_ABI_MAJOR 2u',
    ),
    "the table has 16 bytes; accepted: at least ": (
        '#include "airpath_controller.h"\n'
        "const struct airpath_controller *airpath_controller(uint32_t host_abi) {"
        "static const struct airpath_controller table = {.size = 16, .abi = AIRPATH_ABI};"
        "return host_abi ? &table : NULL; }"
    ),
}


@with_compiler
@pytest.mark.parametrize("problem", UNLOADABLE)
def test_unusable_libraries_are_rejected_before_any_run(build, airpath, problem):
    text = UNLOADABLE[problem]
    library = build("wrong.so", text)
    failed = airpath("compare", library, "cubic", "--link", "12mbps")
    assert (failed.code, len(failed.err.splitlines())) == (2, 1)
    assert f"airpath: wrong.so: {problem}" in failed.err


def test_files_that_are_no_libraries_are_rejected(write):
    write("text.so", "text")
    with pytest.raises(UsageError, match=r"^text.so: [^\n]+$"):
        airpath.compare(["text.so"], "12mbps", **LINK)
    with pytest.raises(UsageError, match=r"cannot read gone.so: No such file or directory"):
        airpath.compare(["gone.so"], "12mbps", **LINK)


SCENARIO = scenario_text("fixed.so:packets=30")


@with_compiler
def test_scenario_files_name_libraries_with_permission_only(build, write, airpath):
    build("fixed.so")
    write("own.toml", SCENARIO)
    with pytest.raises(
        ScenarioError, match=r'"fixed.so" is code, which a file may name only with --allow-code'
    ):
        Scenario.load("own.toml")
    refused = airpath("run", "own.toml", "--no-report")
    assert refused.code == 2
    assert airpath("run", "own.toml", "--allow-code", "--no-report", "--out", "first").code == 0
    assert list(json.loads(Path("first/provenance.json").read_text())["sha256"]["inputs"]) == ["fixed.so"]
    assert not Path("first/code").exists()
    assert "byte-equal" in airpath("rerun", "first", "--no-report", "--out", "second", "--allow-code").out
    build("fixed.so", FIXED.replace("connection->mss;", "connection->mss / 2;"))
    other = airpath("rerun", "first", "--no-report", "--out", "third", "--allow-code")
    assert other.code == 2
    assert "fixed.so is another one, and first contains no copy of the file of then" in other.err


@with_compiler
def test_a_library_that_has_changed_is_loaded_again(build):
    def window():
        results = airpath.compare(["fixed.so"], "12mbps", **LINK)
        return results.table("flow_series")["cwnd_bytes"][-1].as_py()

    build("fixed.so")
    assert window() == 40 * 1448
    build("fixed.so", FIXED.replace("connection->mss;", "connection->mss / 2;"))
    assert window() == 20 * 1448


SWEEP = """
    name = "grid"
    scenario = "own.toml"
    schemes = ["fixed.so:packets=20", "newreno"]
    seeds = [1, 2]
"""


@with_compiler
def test_sweeps_run_libraries_in_their_workers(build, write, airpath):
    build("fixed.so")
    write("own.toml", SCENARIO)
    write("grid.toml", SWEEP)
    assert "--allow-code" in airpath("sweep", "grid.toml", "--out", "grid").err
    done = airpath("sweep", "grid.toml", "--out", "grid", "--allow-code")
    assert done.code == 0, done.err


@with_compiler
def test_the_interface_is_also_that_of_cxx(write):
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"no C++ compiler ({compiler[0]})")
    source = write("my.cpp", '#include "airpath_components.h"\n')
    subprocess.run(
        [*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{INCLUDE}", "-c", str(source)],
        check=True,
    )


@with_compiler
def test_the_file_to_start_from_compiles_as_printed(airpath):
    build_as_printed(airpath("new", "controller", "my_own", "--c").out)
    done = airpath(
        "compare", f"./my_own.{ENDING}:keep=0.7", "newreno", "--link", "12mbps", "--no-report", "--out", "a"
    )
    assert done.code == 0, done.err
    assert airpath("conform", f"./my_own.{ENDING}").code == 0
    assert airpath("new", "controller", "my_own", "--c").err.startswith("airpath: my_own.c exists")


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo")
def test_the_crate_to_start_from_builds_as_printed(airpath, monkeypatch):
    # Its dependencies are compiled once, not for each test.
    target = CHECKOUT / "target" / "templates"
    monkeypatch.setenv("CARGO_TARGET_DIR", str(target))
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    build_as_printed(airpath("new", "controller", "my_crate", "--rust").out)
    library = shutil.copy(target / "release" / f"libmy_crate.{ENDING}", ".")
    done = airpath(
        "compare", f"{library}:keep=0.7", "newreno", "--link", "12mbps", "--no-report", "--out", "a"
    )
    assert done.code == 0, done.err
    assert airpath("conform", library, "--strict").code == 0
    assert airpath("new", "controller", "my_crate", "--rust").err.startswith(
        "airpath: my_crate/Cargo.toml exists"
    )


def test_without_a_checkout_the_crate_is_named_by_version(airpath, monkeypatch, tmp_path):
    from airpath.plugins import templates

    monkeypatch.setattr(templates, "_CRATE", tmp_path / "gone")
    wrote = airpath("new", "controller", "my_crate", "--rust")
    assert "airpath-plugin is not on crates.io yet" in wrote.out
    assert f'airpath-plugin = "{__version__}"' in Path("my_crate/Cargo.toml").read_text()


def test_one_language_at_a_time(airpath):
    failed = airpath("new", "controller", "mine", "--c", "--rust")
    assert (failed.code, failed.err) == (2, "airpath: found --c and --rust; accepted: one of them\n")
    assert "accepted: letters, digits and _" in airpath("new", "controller", "my-own", "--c").err
