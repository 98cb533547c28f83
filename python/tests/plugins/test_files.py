"""Loading files with controllers: parameters, permission, changes."""

import contextlib
import json
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from own_scenario import scenario_text

import airpath
from airpath.cli import main
from airpath.errors import ScenarioError, UsageError
from airpath.plugins import specs
from airpath.plugins.loading import load, loaded_plugins
from airpath.plugins.specs import Spec
from airpath.scenario import Scenario
from airpath.schemes import LOOKS, label_of, parse_scheme
from airpath.views.styles import style_for

LINK = {"duration": "3s", "repetitions": 1}


pytestmark = pytest.mark.usefixtures("aimd")


def test_names_with_options_are_split():
    assert Spec.parse("cubic:beta=0.8") is None
    assert Spec.parse("kernel:bbr") is None
    for text, parts in {
        "my.py": ("my.py", "", ""),
        "my.py:Mine": ("my.py", "Mine", ""),
        " ../a b/my.py:Mine:keep=0.8,mode=b ": ("../a b/my.py", "Mine", "keep=0.8,mode=b"),
        "my.py:Mine:file=other.py:X": ("my.py", "Mine", "file=other.py:X"),
    }.items():
        spec = Spec.parse(text)
        assert (str(spec.file), spec.name, spec.options) == parts


def test_figures_distinguish_the_same_class_with_other_options(aimd):
    specs.allow([aimd])
    names = [label_of(scheme) for scheme in (aimd, f"{aimd}:keep=0.8", f"gentle={aimd}:keep=0.8", "cubic")]
    assert names == ["Aimd", "Aimd:keep=0.8", "gentle", "cubic"]
    style = style_for(names)
    assert [style[name].display_name for name in names] == [*names[:3], "TCP CUBIC"]
    assert [(style[name].colour, style[name].marker) for name in names[:3]] == list(LOOKS[:3])
    both = style_for([aimd, "Other"])
    assert both[aimd].colour != both["Other"].colour


def test_a_class_without_a_method_is_rejected_before_any_run(write, airpath):
    write("typo.py", "import airpath\nclass Typo(airpath.Controller):\n    def on_acks(self, ack): pass\n")
    done = airpath("compare", "typo.py:Typo", "--link", "12mbps", "--out", "o")
    assert (done.code, done.err) == (2, "airpath: typo.py: Typo has no method on_ack; it has on_acks\n")
    write("half.py", "import airpath\nclass Half(airpath.Controller):\n    def on_ack(self, ack): pass\n")
    assert "Half has no method on_congestion\n" in airpath("conform", "half.py:Half").err


@pytest.mark.parametrize("written", ["aimd", "aimd:Aimd", "aimd:keep=0.5"])
def test_a_file_without_its_ending_is_recognised(airpath, written):
    done = airpath("compare", written, "--link", "12mbps")
    assert done.code == 2
    assert 'there is no scheme "aimd"; to run aimd.py, write aimd.py:CLASS' in done.err


def test_parameters_are_annotated_attributes(aimd):
    specs.allow([aimd])
    scheme, options = parse_scheme(f"{aimd}:keep=0.7,target=5ms,count=3,quick=true,mode=gentle")
    assert scheme.description == "Additive increase, multiplicative decrease."
    plan = scheme.build(scheme.parameters.read(options), 1460)
    assert plan == {
        "kind": aimd,
        "keep": 0.7,
        "increase": 1.0,
        "target": 5_000_000,
        "mode": "gentle",
        "count": 3,
        "quick": True,
    }
    (plugin,) = loaded_plugins([aimd])
    made = plugin.made_by(json.dumps({key: value for key, value in plan.items() if key != "kind"}))
    assert (made.keep, made.target, made.count, made.quick, made.mode) == (0.7, 0.005, 3, True, "gentle")


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("kep=1", 'kep: unknown key; did you mean "keep"?'),
        ("keep=2", "keep: found 2; accepted: at most 1"),
        ("increase=0", "increase: found 0; accepted: more than 0"),
        ("target=5", "target: found the bare number 5, which has no unit"),
        ("mode=b", 'mode: found "b"; accepted: plain, gentle'),
        ("count=1.5", "count: found 1.5; accepted: a whole number"),
    ],
)
def test_wrong_options_are_rejected_like_those_of_other_schemes(aimd, option, problem):
    with pytest.raises(ScenarioError) as refused:
        airpath.compare([f"{aimd}:{option}"], "12mbps", **LINK)
    assert problem in str(refused.value)


CLASS = "import airpath\nclass Mine(airpath.Controller):\n    {}\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = (", "my.py:1: SyntaxError: '(' was never closed"),
        ("1 / 0", "my.py:1: ZeroDivisionError: division by zero"),
        ("x = 1", "my.py: there is no subclass of one of airpath.Controller"),
        (CLASS.format("gain: float"), "my.py: Mine.gain: a parameter needs a default"),
        (CLASS.format("gain: float = True"), "my.py: Mine.gain: found true; accepted: a number"),
        (CLASS.format("gain: airpath.Share = 2"), "my.py: Mine.gain: found 2; accepted: at most 1"),
        (CLASS.format('gain: airpath.Seconds = "5"'), 'my.py: Mine.gain: found "5"'),
        ("raise SystemExit(3)", "my.py:1: SystemExit: 3"),
        (CLASS.format("gain: list = 1"), "my.py: Mine.gain: a parameter cannot be <class 'list'>"),
        (CLASS.format("gain: Missing = 1"), "my.py:3: NameError: name 'Missing' is not defined"),
        (
            CLASS.format("pass").replace("Mine", "Mime"),
            'there is no class "Mine" of a component; did you mean "Mime"?',
        ),
    ],
)
def test_files_that_cannot_be_loaded_are_named(write, text, problem):
    write("my.py", text)
    with pytest.raises(UsageError) as refused:
        airpath.compare(["my.py:Mine"], "12mbps", **LINK)
    assert problem in str(refused.value)


def test_a_missing_file_or_class_is_named():
    with pytest.raises(UsageError, match=r"cannot read gone.py: No such file or directory"):
        airpath.compare(["gone.py:Mine"], "12mbps", **LINK)
    with pytest.raises(UsageError, match=r"found aimd.py without a class; accepted: aimd.py:Aimd"):
        airpath.compare(["aimd.py"], "12mbps", **LINK)


def test_files_of_the_same_name_have_separate_modules_and_copies(write, airpath):
    text = CLASS.format("keep: float = helper.KEEP").replace("airpath\n", "airpath, helper\n", 1)
    for folder, keep in (("a", 0.5), ("b", 0.75)):
        Path(folder).mkdir()
        write(f"{folder}/helper.py", f"KEEP = {keep}\n")
        write(f"{folder}/my.py", text + METHODS)
    schemes = ["a/my.py:Mine", "other=" + str(Path("b/my.py").resolve()) + ":Mine"]
    specs.allow(schemes)
    assert [parse_scheme(scheme)[0].parameters.read({})["keep"] for scheme in schemes] == [0.5, 0.75]
    link = ("--link", "10mbps", "--duration", "20s", "--no-report")
    for command in (("compare", "--reps", "1", "--out", "out"), ("rivals", "--out", "pairs")):
        done = airpath(*command, *schemes, *link)
        assert done.code == 0, done.err
    copies = {str(file.relative_to("out/code")): file.read_text() for file in Path("out/code").rglob("*.py")}
    assert copies.keys() == {"a/my.py", "a/helper.py", "b/my.py", "b/helper.py"}
    assert copies["b/helper.py"] == "KEEP = 0.75\n"


def test_files_that_threads_load_import_modules_of_their_own_folders(folder, write, monkeypatch):
    # Without a lock, both files pass the barrier and change `sys.path` at the same time.
    monkeypatch.setitem(sys.modules, "meeting", SimpleNamespace(barrier=Barrier(2)))
    meet = """
        import contextlib, threading, meeting
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.barrier.wait(timeout=0.5)
    """
    text = CLASS.format("keep: float = helper.KEEP").replace("airpath\n", "airpath, helper\n", 1) + METHODS

    def loaded(place):
        with specs.relative_to(folder / place):
            specs.allow(["my.py:Mine"])
            return load(Spec.parse("my.py:Mine")).schema["properties"]["keep"]["default"]

    keeps = {"a": 0.5, "b": 0.75}
    for place, keep in keeps.items():
        write(f"{place}/helper.py", f"KEEP = {keep}\n")
        write(f"{place}/my.py", textwrap.dedent(meet) + text)
    with ThreadPoolExecutor(2) as pool:
        assert dict(zip(keeps, pool.map(loaded, keeps), strict=True)) == keeps
    for place in keeps:
        with specs.relative_to(folder / place):
            (plugin,) = loaded_plugins(["my.py:Mine"])
        assert folder / place / "my.py" in plugin.sources


def test_a_file_that_has_changed_is_loaded_again(write):
    write("helper.py", "KEEP = 0.5\n")
    text = "import airpath, helper\nclass Mine(airpath.Controller):\n    keep: float = helper.KEEP\n"
    write("my.py", text + METHODS)

    def default():
        specs.allow(["my.py:Mine"])
        return parse_scheme("my.py:Mine")[0].parameters.read({})["keep"]

    assert default() == 0.5
    write("helper.py", "KEEP = 0.75\n")
    assert default() == 0.75


METHODS = "    def on_ack(self, ack): pass\n    def on_congestion(self, signal): pass\n"

SCENARIO = scenario_text("aimd.py:Aimd:keep=0.7")


def test_scenario_files_name_code_with_permission_only(write, airpath):
    write("own.toml", SCENARIO)
    with pytest.raises(ScenarioError, match=r'flows\[0\].scheme: "aimd.py:Aimd" is code'):
        Scenario.load("own.toml")
    done = airpath("run", "own.toml", "--no-report")
    assert done.code == 2
    assert "--allow-code" in done.err
    for command in (("validate", "own.toml"), ("run", "own.toml", "--no-report", "--out", "first")):
        assert airpath(*command, "--allow-code").code == 0
    facts = json.loads(Path("first/provenance.json").read_text())
    assert list(facts["sha256"]["inputs"]) == ["aimd.py"]
    assert Path("first/code/aimd.py").read_bytes() == Path("aimd.py").read_bytes()


STEP = """
    import airpath


    class Step(airpath.Queue):
        def start(self, facts):
            self.waiting = []

        def enqueue(self, now, packet):
            self.waiting += [packet] * self.fits(packet)
            return self.fits(packet)

        def dequeue(self, now):
            return self.waiting.pop(0)
"""


@pytest.mark.parametrize(
    "named",
    [
        'scheme = "aimd.py:Aimd"',
        'scheme = "newreno"\nqueue = "step.py:Step"',
        'scheme = "newreno"\n'
        'set = { "topology.bottleneck.queue" = { kind = "./step.py:Step", limit = "1bdp" } }',
        'scheme = "newreno"\nexpect = { utilisation = { at_least = 0.1, of = "aimd.py:Aimd" } }',
    ],
)
def test_suites_name_code_with_permission_only(write, airpath, named):
    write("step.py", STEP)
    expect = "" if "expect" in named else "expect = { utilisation = { at_least = 0.1 } }\n"
    case = 'name = "case"\nlink = "10mbps"\nduration = "3s"\nrepetitions = 1\n'
    Path("suite.toml").write_text(f'name = "suite"\n[[cases]]\n{case}{expect}{named}\n')
    refused = airpath("check", "suite.toml")
    assert refused.code == 2
    assert "is code, which a file may name only with --allow-code" in refused.err
    done = airpath("check", "suite.toml", "--allow-code")
    assert done.code == 0, done.err


def test_kinds_of_queues_may_begin_with_the_folder(write, airpath):
    write("step.py", STEP)
    queue = 'queue = { kind = "./step.py:Step", limit = "1bdp" }'
    text = SCENARIO.replace('delay = "10ms"', f'delay = "10ms", {queue}')
    write("own.toml", text)
    done = airpath("run", "own.toml", "--no-report", "--out", "first", "--allow-code")
    assert done.code == 0, done.err
    again = airpath("rerun", "first", "--no-report", "--out", "second", "--allow-code")
    assert "byte-equal" in again.out, again.err
    Path("step.py").write_text("")
    again = airpath("rerun", "first", "--no-report", "--out", "third", "--allow-code")
    assert "step.py is another one; used the copy" in again.err


def test_results_report_changed_code(write, airpath):
    path = write("own.toml", SCENARIO)
    assert airpath("run", "own.toml", "--no-report", "--out", "first", "--allow-code").code == 0
    again = airpath("rerun", "first", "--no-report", "--out", "second", "--allow-code")
    assert "byte-equal" in again.out
    code = path.with_name("aimd.py")
    code.write_text(code.read_text().replace("2 * signal.mss", "4 * signal.mss"))
    changed = airpath("rerun", "first", "--no-report", "--out", "third", "--allow-code")
    assert changed.code == 0, changed.err
    assert "aimd.py:Aimd:keep=0.7: aimd.py is another one; used the copy in first/code" in changed.err
    assert "byte-equal" in changed.out
    assert "aimd.py" not in changed.out
    (copy,) = Path("third/code").rglob("aimd.py")
    assert copy.read_bytes() == Path("first/code/aimd.py").read_bytes() != code.read_bytes()


def test_copies_in_results_replace_missing_files(write, airpath):
    Path("mine/more").mkdir(parents=True)
    write("mine/helper.py", "KEEP = 0.75\n")
    text = CLASS.format("keep: float = helper.KEEP").replace("airpath\n", "airpath, helper\n", 1)
    write("mine/my.py", text + METHODS)
    arguments = ("--link", "10mbps", "--duration", "5s", "--reps", "1", "--no-report")
    done = airpath(
        "compare", "gentle=mine/my.py:Mine:keep=0.6", "mine/my.py:Mine", *arguments, "--out", "first"
    )
    assert done.code == 0, done.err
    described = json.loads(Path("first/provenance.json").read_text())["outside"]
    assert list(described) == ["gentle", "Mine"]
    assert described["gentle"]["scheme"] == "gentle=mine/my.py:Mine:keep=0.6"
    assert list(described["Mine"]["files"]) == ["mine/helper.py", "mine/my.py"]
    write("mine/helper.py", "KEEP = 0.25\n")
    again = airpath("rerun", "first", "--no-report", "--out", "second", "--allow-code")
    assert "byte-equal" in again.out, again.err
    assert "helper.py is another one; used the copy" in again.err
    Path("mine/helper.py").unlink()
    again = airpath("rerun", "first", "--no-report", "--out", "third", "--allow-code")
    assert "byte-equal" in again.out, again.err
    assert "mine/helper.py cannot be read; used the copy" in again.err
    Path("elsewhere").mkdir()
    with contextlib.chdir("elsewhere"), pytest.raises(SystemExit) as left:
        main(["rerun", "../first", "--no-report", "--out", "fourth", "--allow-code"])
    assert left.value.code == 0
    Path("first/code/mine/my.py").write_text("import airpath\n")
    failed = airpath("rerun", "first", "--no-report", "--out", "fourth", "--allow-code")
    assert failed.code == 2
    assert "first contains no copy of the file of then" in failed.err


SWEEP = """
    name = "grid"
    scenario = "own.toml"
    schemes = ["aimd.py:Aimd", "newreno"]
    seeds = [1, 2]

    [grid]
    "topology.bottleneck.rate" = ["5mbps", "10mbps"]
"""


def test_sweeps_contain_the_code_of_their_runs(write, airpath):
    write("own.toml", SCENARIO)
    write("grid.toml", SWEEP)
    assert "--allow-code" in airpath("sweep", "grid.toml", "--out", "grid").err

    def throughput(out):
        done = airpath("sweep", "grid.toml", "--out", out, "--allow-code")
        if done.code != 0:
            return done.err
        table = pq.read_table(f"{out}/statistics.parquet").to_pylist()
        return {row["scheme"]: row["mean"] for row in table if row["metric"] == "throughput_mbps"}

    first = throughput("grid")
    code = Path("aimd.py")
    code.write_text(code.read_text().replace("self.keep * signal.flight_size", "signal.mss"))
    assert "or the same one with other inputs" in throughput("grid")
    second = throughput("other")
    assert first["newreno"] == second["newreno"]
    assert first["Aimd"] > second["Aimd"]


def test_estimators_sources_and_queues_are_described_and_repeated(airpath):
    for kind in ("estimator", "source", "queue"):
        assert airpath("new", kind, f"my_{kind}").code == 0
    link = ("--link", "20mbps", "--duration", "3s", "--reps", "1", "--no-report")
    sources = ("my_estimator.py:MyEstimator", "xcp:source=my_source.py:MySource")
    assert airpath("compare", *sources, *link, "--out", "first").code == 0
    assert airpath("compare", "cubic", *link, "--queue", "my_queue.py:MyQueue", "--out", "queued").code == 0
    described = json.loads(Path("first/provenance.json").read_text())["outside"]
    assert [one["scheme"] for one in described.values()] == list(sources)
    described = json.loads(Path("queued/provenance.json").read_text())["outside"]
    assert list(described) == ["my_queue.py:MyQueue"]
    for kind in ("estimator", "source", "queue"):
        Path(f"my_{kind}.py").unlink()
    for results in ("first", "queued"):
        again = airpath("rerun", results, "--no-report", "--out", f"{results}-again", "--allow-code")
        assert again.code == 0, again.err
        assert "byte-equal" in again.out
        assert ".py" not in again.out
        assert "used the copy in" in again.err
