"""Names of schemes in tables, figures and runs."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from own_scenario import scenario_text

from airpath._backends import BACKENDS
from airpath.checks import Suite, check
from airpath.errors import AirpathError, ScenarioError, UsageError
from airpath.gap import gap
from airpath.plugins import specs
from airpath.plugins.specs import Spec, split_label
from airpath.results import read
from airpath.runner import compare, jobs_of, run, scheme_label
from airpath.scenario import Scenario
from airpath.schemes import find_scheme, label_of, parse_scheme

LINK = ("--link", "10mbps", "--duration", "2s", "--reps", "1")
OTHER = "gentle=aimd.py:Aimd:keep=0.8"
METHODS = "    def on_ack(self, ack): pass\n    def on_congestion(self, signal): pass\n"
CLASH = 'are both called "Aimd" in tables and figures; name one of them: NAME='


@pytest.fixture
def two(aimd, write):
    """Return two files that have a class of the same name."""
    write("other.py", Path("aimd.py").read_text())
    return aimd, "other.py:Aimd"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("yeah=./my_yeah.so", ("yeah", "./my_yeah.so")),
        ("my scheme = linux:a/tcp_mine.c:hz=100", ("my scheme", "linux:a/tcp_mine.c:hz=100")),
        ("gentle=cubic:beta=0.8", ("gentle", "cubic:beta=0.8")),
        ("cubic:beta=0.8", (None, "cubic:beta=0.8")),
        ("my.py:Mine:keep=0.8", (None, "my.py:Mine:keep=0.8")),
        ("./a=b.so", (None, "./a=b.so")),
        ("linux:a=b.c", (None, "linux:a=b.c")),
    ],
)
def test_a_name_comes_before_the_scheme(text, parts):
    assert split_label(text) == parts


def test_a_file_may_have_the_form_of_a_name(write):
    write("a=b.py", f"import airpath\nclass Mine(airpath.Controller):\n{METHODS}")
    specs.allow(["./a=b.py:Mine"])
    scheme, _ = parse_scheme("./a=b.py:Mine")
    assert find_scheme(scheme.id) is scheme
    assert Spec.parse(scheme.id).file == Path("a=b.py")


def test_a_comparison_has_short_names_everywhere(aimd, airpath):
    done = airpath("compare", aimd, f"{aimd}:keep=0.6", OTHER, "cubic", *LINK, "--figures", "--out", "o")
    assert done.code == 0, done.err
    names = ["Aimd", "Aimd:keep=0.6", "gentle", "cubic"]
    assert [
        line.split()[0] for line in done.out.splitlines()[3:] if line.startswith(" ") and "." in line
    ] == names
    assert "aimd.py" not in done.out
    results = read("o")
    assert results.schemes == tuple(names)
    assert [run.record.scenario_name for run in results.runs] == [
        "compare-Aimd", "compare-Aimd", "compare-gentle", "compare-cubic",
    ]  # fmt: skip
    assert {name for run in results.runs for name in run.record.source_schemes} == set(names)
    written = [run.record.scenario.text for run in results.runs]
    assert f'scheme = "{OTHER}"' in written[2]
    assert "gentle" in Path("o/report.html").read_text()
    assert airpath("rerun", "o", "--allow-code", "--no-report", "--out", "again").code == 0
    assert read("again").schemes == tuple(names)


def test_flows_of_one_scenario_have_names(aimd, write):
    text = scenario_text(aimd).replace(
        "[[flows]]", f'[[flows]]\nname = "more"\nscheme = "{OTHER}"\n\n[[flows]]', 1
    )
    write("own.toml", text)
    specs.allow([aimd])
    scenario = Scenario.load("own.toml")
    assert scheme_label(scenario) == "gentle+Aimd"
    (found,) = run(scenario, repetitions=1).runs
    assert found.record.source_schemes == ["gentle", "Aimd"]
    assert found.flows["flow_scheme"].to_pylist() == ["gentle", "Aimd"]


@pytest.mark.usefixtures("aimd")
def test_pairs_have_names(airpath):
    done = airpath(
        "rivals", OTHER, "cubic", "--link", "10mbps", "--duration", "12s", "--no-report", "--out", "o"
    )
    assert done.code == 0, done.err
    assert json.loads(Path("o/rivals.json").read_text())["schemes"] == ["gentle", "cubic"]
    assert read("o").schemes == ("gentle+gentle", "gentle+cubic", "cubic+cubic")


def test_cases_have_names(aimd, write):
    specs.allow([aimd])
    write(
        "suite.toml",
        f"""
        name = "own"
        title = "own"
        description = "Own."
        scheme = "{aimd}"
        repetitions = 2
        [[cases]]
        name = "one"
        link = "12mbps"
        duration = "2s"
        expect.utilisation = {{ at_least = 0.5, of = "{OTHER}" }}
        """,
    )
    (case,) = check(Suite.load("suite.toml"), progress=False).cases
    assert (case.case.scheme, list(case.case.scenarios)) == ("Aimd", ["Aimd", "gentle"])
    assert case.passed


def test_sweeps_have_names(aimd, write, airpath):
    write("own.toml", scenario_text("newreno"))
    write("grid.toml", f'name = "g"\nscenario = "own.toml"\nschemes = ["{aimd}", "{OTHER}"]\nseeds = [1]\n')
    done = airpath("sweep", "grid.toml", "--allow-code", "--out", "o")
    assert done.code == 0, done.err
    table = pq.read_table("o/statistics.parquet")
    assert set(table["scheme"].to_pylist()) == {"Aimd", "gentle"}


@pytest.mark.usefixtures("aimd")
def test_backends_have_names():
    scenario = Scenario.load("three-worlds").override({"duration": "4s", "record.warm_up": "1s"})
    found = gap(scenario, [OTHER, "cubic"], worlds=["quic"], repetitions=1, progress=False)
    assert [one.scheme for one in found.compared] == ["gentle", "cubic"]
    assert found.results.schemes == ("gentle", "gentle over quinn", "cubic", "cubic over quinn")


def test_schemes_of_the_kernel_have_names(monkeypatch):
    monkeypatch.setattr("airpath._backends.kernel.kernel_congestion_controls", lambda: ("cubic", "bbr"))
    base = Scenario.load("three-worlds")
    schemes = {"flows.0.scheme": "a=kernel:cubic", "flows.1.scheme": "kernel:bbr"}
    placed = BACKENDS["emulate"].place(base.override(schemes))
    assert (placed.label, placed.schemes[0]) == ("a+kernel:bbr", "kernel:cubic")
    (job, *_) = jobs_of("", base.override(schemes), None, 1, "emulate")
    assert set(job.flow_schemes.values()) == {"a", "kernel:bbr"}


@pytest.mark.usefixtures("aimd")
def test_results_of_gap_have_the_code(airpath):
    short = ("--set", "duration=4s", "--set", "record.warm_up=1s", "--reps", "1", "--no-report", "--out", "o")
    done = airpath("gap", "three-worlds", OTHER, "--world", "sim", *short)
    assert done.code == 0, done.err
    described = json.loads(Path("o/provenance.json").read_text())["outside"]
    assert described["gentle"]["scheme"] == OTHER
    assert Path("o/code/aimd.py").read_bytes() == Path("aimd.py").read_bytes()


def test_two_schemes_with_one_name_are_rejected(two, write, airpath):
    done = airpath("compare", *two, *LINK, "--out", "o")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f'the schemes "aimd.py:Aimd" and "other.py:Aimd" {CLASH}other.py:Aimd' in done.err
    assert CLASH in airpath("rivals", *two, "--link", "10mbps", "--out", "o").err
    assert CLASH in airpath("gap", "three-worlds", *two, "--world", "sim", "--out", "o").err
    with pytest.raises(UsageError, match='both called "cubic"'):
        compare(["cubic", "cubic=aimd.py:Aimd"], "12mbps")
    specs.allow(two)
    write("own.toml", scenario_text("newreno"))
    write("grid.toml", f'name = "g"\nscenario = "own.toml"\nschemes = ["{two[0]}", "{two[1]}"]\n')
    assert CLASH in airpath("sweep", "grid.toml", "--out", "o").err
    text = scenario_text(two[0]).replace(
        "[[flows]]", f'[[flows]]\nname = "more"\nscheme = "{two[1]}"\n\n[[flows]]', 1
    )
    write("both.toml", text)
    with pytest.raises(ScenarioError, match="both called"):
        Scenario.load("both.toml").plan()
    suite = 'name = "s"\ntitle = "s"\ndescription = "S."\n[[cases]]\nname = "c"\nlink = "12mbps"\n'
    write(
        "suite.toml",
        f'{suite}scheme = "{two[0]}"\nexpect.utilisation = {{ at_least = 1, of = "{two[1]}" }}\n',
    )
    with pytest.raises(AirpathError, match="both called"):
        Suite.load("suite.toml")


def test_a_name_for_a_scheme_of_airpath():
    results = compare(["gentle=cubic:beta=0.8", "cubic"], "12mbps", duration="1s", repetitions=1)
    assert results.schemes == ("gentle", "cubic")
    assert results.runs[0].record.plan["flows"][0]["controller"]["beta"] == 0.8
    with pytest.raises(UsageError, match="is given twice, the second time as"):
        compare(["a=cubic", "b=cubic"], "12mbps")
    assert label_of("kernel:cubic") == "kernel:cubic"
