"""Estimators, capacity sources and queues in shared libraries, compiled by the C compiler of this machine."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from compiled import ENDING, build_as_printed, compiled, with_compiler
from equal_tables import assert_equal

import airpath
from airpath.captures import analyse
from airpath.errors import PluginError, ScenarioError, UsageError
from airpath.learning import BottleneckEnv
from airpath.plugins.templates import c_start, python_start

pytestmark = with_compiler

LINK = {"rtt": "40ms", "duration": "8s", "repetitions": 1}
CHECKOUT = Path(__file__).parents[3]
KINDS = ("estimator", "source", "queue")
KINDS_OF_ENGINE = {"estimators", "capacity_sources", "queues"}


@pytest.fixture
def build(write):
    """Return a function that compiles the C templates to one library in the working directory, after
    replacements.
    """

    def build(library, *kinds, **replaced):
        sources = []
        for kind in kinds:
            (text,) = c_start(kind, kind).files.values()
            for old, new in replaced.items():
                text = text.replace(OLD[old], new)
            sources.append(write(f"{library}.{kind}.c", text))
        return compiled(library, *sources)

    return build


OLD = {
    "abi": ".abi = AIRPATH_ABI",
    "sample": "8e9 * (double)ack->rate_delivered / (double)ack->rate_interval",
    "rate": "8e9 * (double)waiting->packet / (double)(waiting->now - self->last)",
    "taken": "decision->packet = take(instance)",
    "no_memory": "\tif (!self)",
    "size": ".size = sizeof(table)",
}
"""Texts of the templates that tests replace."""


@pytest.mark.parametrize("kind", KINDS)
def test_the_file_to_start_from_compiles_as_printed_and_runs(airpath, kind):
    wrote = airpath("new", kind, "my_own", "--c")
    build_as_printed(wrote.out)
    compare = next(line for line in wrote.out.splitlines() if line.startswith("compare it: "))
    arguments = compare.removeprefix("compare it: airpath ").split()
    done = airpath(*arguments, "--duration", "5s", "--reps", "1", "--no-report", "--out", "a")
    assert done.code == 0, done.err
    assert "MyOwn" in done.out or kind == "queue"
    assert f"my_own.{ENDING}" in json.loads(Path("a/provenance.json").read_text())["sha256"]["inputs"]


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo")
@pytest.mark.parametrize("kind", KINDS)
def test_the_crate_to_start_from_builds_as_printed_and_runs(airpath, monkeypatch, kind):
    # Its dependencies are compiled once, not for each test.
    target = CHECKOUT / "target" / "templates"
    monkeypatch.setenv("CARGO_TARGET_DIR", str(target))
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    build_as_printed(airpath("new", kind, f"my_{kind}", "--rust").out)
    library = shutil.copy(target / "release" / f"libmy_{kind}.{ENDING}", ".")
    schemes = {
        "estimator": [f"{library}:keep=0.8"],
        "source": [f"xcp:source={library},keep=0.8"],
        "queue": ["cubic", "--queue", f"{library}:mark_above=10", "--ecn"],
    }[kind]
    done = airpath("compare", *schemes, "--link", "12mbps", "--duration", "5s", "--no-report", "--out", "a")
    assert done.code == 0, done.err


def test_one_library_has_several_kinds(build, airpath):
    library = build("all.so", *KINDS)
    listed = json.loads(airpath("list", library, "--json").out)
    assert set(listed) == KINDS_OF_ENGINE
    assert listed["queues"]["all.so"]["parameters"]["mark_above"]["default"] == 20
    results = airpath_compare([library, f"xcp:source={library}"], queue=None)
    assert len(results.runs) == 2
    marked = airpath_compare(["cubic"], queue=f"{library}:mark_above=5", ecn=True)
    assert marked.table("link_series")["marked_packets"].to_numpy().sum() > 0


def airpath_compare(schemes, **more):
    return airpath.compare(schemes, "12mbps", **{**LINK, "buffer": "30 packets", **more})


@pytest.mark.parametrize("world", ["sim", "quic"])
def test_a_queue_produces_the_tables_of_the_same_queue_of_the_engine(build, world):
    library = build("fifo.so", "queue")
    same, own = (airpath_compare(["cubic"], queue=queue, world=world) for queue in (library, "drop-tail"))
    assert_equal(same, own)
    assert len(own.table("drops")) > 10


@pytest.fixture
def in_python(write):
    """Return a function that writes the Python template."""

    def in_python(kind, name):
        (text,) = python_start(name, kind).files.values()
        write(f"{name}.py", text)
        return f"{name}.py:{name.capitalize()}"

    return in_python


def test_an_estimator_produces_the_estimates_of_the_same_class(build, in_python, folder):
    library, python = build("mean.so", "estimator"), in_python("estimator", "mean")
    results = airpath.run(
        {
            "name": "observed",
            "duration": "10s",
            "record": {"capture": ["bottleneck", "bottleneck-reverse"]},
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {"rate": "5mbps", "delay": "20ms", "loss": 0.003},
            },
            "flows": [{"name": "flow", "scheme": "cubic", "estimators": [library, python]}],
        }
    )
    table = results.table("flow_estimates").to_pandas()
    same, own = (table[table["estimator"] == name] for name in (library, python))
    assert len(own) == 100
    for column in ("time_s", "sample_bps", "estimate_bps"):
        np.testing.assert_allclose(same[column], own[column], rtol=1e-6)
    capture = folder / "run.pcapng"
    capture.write_bytes(results.runs[0].record.capture)
    (flow, *_) = analyse(capture, [library, python]).flows
    assert np.isfinite(flow.estimates_bps[python]).sum() > 900
    np.testing.assert_allclose(flow.estimates_bps[library], flow.estimates_bps[python], rtol=1e-6)


def test_a_source_produces_the_estimates_of_the_same_class(build, in_python):
    library, python = build("busy.so", "source"), in_python("source", "busy")
    estimates = []
    for source in (library, python):
        observed = airpath_compare([f"xcp:source={source},keep=0.8"]).to_pandas("link_observations")
        estimates.append(observed[observed["quantity"] == "capacity_estimate_bps"]["value"])
    assert len(estimates[1]) > 70
    np.testing.assert_allclose(*estimates, rtol=1e-6)


FAULTS = {
    ("estimator", "sample", "-1.0"): "after on_ack, sample is -1; accepted: 0 to 1000000000000000",
    ("estimator", "sample", "0.0 / 0.0"): "after on_ack, sample is NaN",
    ("estimator", "no_memory", "\tif (1)"): "create: it returned no instance",
    ("source", "rate", "1e300 * 1e300"): "after on_departure, capacity is inf; accepted: 0 to",
    ("source", "no_memory", "\tif (1)"): "create: it returned no instance",
    (
        "queue",
        "taken",
        "(void)instance, decision->packet = 7",
    ): "in dequeue, there is no packet 7 in the queue",
    (
        "queue",
        "taken",
        "(void)instance, decision->next_timer = 0",
    ): "after dequeue, next_timer is 0 s, in the past",
    ("queue", "taken", "(void)instance, (void)decision; return 3"): "dequeue: it returned 3",
    ("queue", "no_memory", "\tif (1)"): "create: it returned no instance",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_its_run_with_one_line(build, fault):
    kind, old, new = fault
    library = build("faulty.so", kind, **{old: new})
    schemes, queue = {
        "estimator": ([library, "newreno"], None),
        "source": ([f"xcp:source={library}", "newreno"], None),
        "queue": (["newreno"], library),
    }[kind]
    with pytest.raises(PluginError) as failed:
        airpath_compare(schemes, queue=queue)
    (line,) = str(failed.value).splitlines()
    assert line.startswith("faulty.so: ")
    assert FAULTS[fault] in line
    assert ", seed 1, at " in line
    assert [run.record.scheme for run in failed.value.results.runs] == schemes[1:]


UNLOADABLE = {
    ("abi", ".abi = 2u << 16"): "it was built for version 2 of the interface; this airpath has version 1",
    ("size", ".size = 16"): "the table has 16 bytes; accepted: at least ",
}


@pytest.mark.parametrize("change", UNLOADABLE)
@pytest.mark.parametrize("kind", KINDS)
def test_invalid_tables_are_rejected_before_any_run(build, kind, change):
    library = build("wrong.so", kind, **dict([change]))
    with pytest.raises(UsageError, match=r"^wrong\.so: ") as refused:
        airpath.compare([library], "12mbps", **LINK)
    assert UNLOADABLE[change] in str(refused.value)


def test_wrong_kinds_and_options_are_rejected(build):
    queue, source = build("queue.so", "queue"), build("source.so", "source")
    for scheme, problem in {
        queue: "queue.so is a queue discipline; accepted: --queue queue.so",
        source: "source.so is a capacity source; accepted: xcp:source=source.so",
        f"xcp:source={queue}": "queue.so is a queue discipline; accepted: a capacity source",
        f"xcp:source={source},kep=0.5": 'did you mean "keep"',
        f"xcp:source={source},keep=2": "keep: found 2; accepted: at most 1",
    }.items():
        with pytest.raises((UsageError, ScenarioError)) as refused:
            airpath.compare([scheme], "12mbps", **LINK)
        assert problem in str(refused.value)
    with pytest.raises(ScenarioError, match=r"source\.so is a capacity source; accepted: a queue discipline"):
        airpath_compare(["cubic"], queue=source)
    with pytest.raises(ScenarioError, match="mark_above: found -1; accepted: at least 0"):
        airpath_compare(["cubic"], queue=f"{queue}:mark_above=-1")


SCENARIO = """
name = "named"
duration = "2s"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "12mbps"
delay = "20ms"
queue = {queue}

[[flows]]
name = "flow"
scheme = "{scheme}"
estimators = [{estimators}]
"""
PLAIN = {"scheme": "cubic", "estimators": "", "queue": '{ kind = "scheme", limit = "1bdp" }'}


@pytest.mark.parametrize(
    "named",
    [
        {"scheme": "all.so"},
        {"scheme": "xcp:source=all.so"},
        {"estimators": '"./all.so:keep=0.5"'},
        {"queue": '{ kind = "all.so", limit = "1bdp", mark_above = 5 }'},
        {
            "scheme": "xcp",
            "queue": '{ kind = "router", protocol = "xcp", limit = "1bdp", source = "all.so" }',
        },
    ],
)
def test_scenario_files_name_libraries_with_permission_only(build, write, airpath, named):
    build("all.so", *KINDS)
    path = write("scenario.toml", SCENARIO.format(**{**PLAIN, **named}))
    refused = airpath("run", str(path), "--out", "refused")
    assert refused.code == 2
    assert '"all.so" is code' in refused.err or 'source=all.so" is code' in refused.err
    assert airpath("run", str(path), "--allow-code", "--no-report", "--out", "first").code == 0
    described = json.loads(Path("first/provenance.json").read_text())
    assert list(described["sha256"]["inputs"]) == ["all.so"]
    assert not Path("first/code").exists()
    again = airpath("rerun", "first", "--no-report", "--out", "second", "--allow-code")
    assert "byte-equal" in again.out, again.err
    Path("all.so").write_bytes(Path("all.so").read_bytes() + b"\0")
    other = airpath("rerun", "first", "--no-report", "--out", "third", "--allow-code")
    assert "all.so is another one" in other.err


def test_sweeps_agents_and_rivals_accept_libraries_and_the_emulator_rejects_them(build, write, airpath):
    library = build("all.so", *KINDS)
    write("own.toml", SCENARIO.format(**{**PLAIN, "queue": '{ kind = "all.so", limit = "1bdp" }'}))
    write(
        "grid.toml", 'name = "grid"\nscenario = "own.toml"\nschemes = ["all.so", "newreno"]\nseeds = [1, 2]\n'
    )
    done = airpath("sweep", "grid.toml", "--out", "grid", "--allow-code")
    assert done.code == 0, done.err
    rivals = airpath(
        "rivals", library, "cubic", "--link", "12mbps", "--duration", "20s", "--no-report", "--out", "r"
    )
    assert rivals.code == 0, rivals.err
    env = BottleneckEnv(rivals=[library], queue=library, duration="3s")
    env.reset(seed=1)
    env.step(env.action_space.sample())
    refused = airpath("emulate", "--link", "12mbps", "--queue", library, "--", "true")
    assert refused.code != 0
    assert "code in files runs in the simulator only" in refused.err
