"""Figures on real kernels: the available ones, their schemes in the kernel, and invalid runs."""

import json
from dataclasses import replace

import numpy as np
import pytest
from fabricated import link_data, run_data

from airpath import _core
from airpath._backends import BACKENDS, daemon
from airpath.cli import main
from airpath.errors import UsageError
from airpath_papers import real_time
from airpath_papers.claim import Claim
from airpath_papers.drawing import over_time_by_choice
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure
from airpath_papers.kernel.figure import on_kernel
from airpath_papers.kernel.form import KernelForm
from airpath_papers.kernel.schemes import in_kernel
from airpath_papers.measures import of_each, utilisation
from airpath_papers.real_time import do_real_runs, real_seconds
from airpath_papers.registry import FIGURES, select_on_kernel
from airpath_papers.reproduce import reproduce, verdicts
from airpath_papers.rules import AtLeast
from airpath_papers.sample import sample
from airpath_papers.store import RunStore
from airpath_papers.vcp_w.testbed_settings import ENDLESS, GROUPS, VCP, on_testbed
from airpath_papers.work import Interrupted, missing_runs, read_runs

TESTBED = {"fig10a", "fig10b", "fig10c", "fig10d", "table1", "fig11a", "fig11b", "fig11c", "fig11d"} | {
    "fig12",
    "fig13",
    "fig14",
}
ON_KERNEL = [figure for figure in FIGURES if figure.kernel is not None]


def nothing(_share: float) -> None:
    return None


@pytest.fixture
def a_kernel(monkeypatch):
    """Provide a kernel without BIC that can have airpath's controllers, on any system."""
    monkeypatch.setattr(_core, "EmulatedRun", object, raising=False)
    monkeypatch.setattr(_core, "kernel_congestion_controls", lambda: ["reno", "cubic"], raising=False)
    monkeypatch.setattr(daemon, "datapath_missing", lambda: None)


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as leaving:
        main(["reproduce", *arguments, "--world", "emulate"])
    assert isinstance(leaving.value.code, int)
    return leaving.value.code


@pytest.mark.usefixtures("a_kernel")
def test_a_figure_on_real_kernels_has_no_readings():
    simulated = ON_KERNEL[0]
    placed = on_kernel(replace(simulated, readings={"author": list(simulated.experiments)}))
    assert not placed.readings


def test_the_testbed_runs_on_kernels_and_nothing_else(capsys):
    assert {figure.id for figure in select_on_kernel(["vcp-w"])} == {f"vcp-w/{name}" for name in TESTBED}
    assert call("vcp-w/fig10", "--list", "--json") == 0
    assert set(json.loads(capsys.readouterr().out)) == {f"vcp-w/fig10{part}" for part in "abcd"}
    for other in ("vcp-w/fig2a", "gm"):
        assert call(other) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert other in said
        assert "vcp-w/fig10a, " in said


@pytest.mark.usefixtures("a_kernel")
@pytest.mark.parametrize("figure", ON_KERNEL, ids=lambda figure: figure.id)
def test_forms_are_parts_of_their_figures(figure):
    form = figure.kernel
    assert set(form.without) <= {claim.name for claim in figure.claims}
    here = on_kernel(figure)
    real, simulated = (
        [choice for choice in here.experiments if choice.startswith(world)]
        for world in ("kernel", "simulated")
    )
    assert [*real, *simulated] == list(here.experiments)
    assert len(real) == len(simulated) == len(form.choices)
    for experiment in here.all_experiments():
        assert experiment.repetitions == 1
        experiment.resolve()
    assert {one.world for choice in simulated for one in here.experiments[choice].values()} == {"sim"}

    # Every remaining claim can be measured with the experiments that run.
    rates = np.ones((3, 1500))
    run = run_data(link_data(300.0), groups=GROUPS, group_departed_bytes=rates)
    ran = {choice: {label: [run] for label in by_label} for choice, by_label in here.experiments.items()}
    assert here.claims
    for claim in here.claims:
        assert set(claim.choices) <= set(real)
        assert set(claim.beside) <= set(simulated)
        for choice in (*claim.choices, *claim.beside):
            assert len(claim.measure(ran[choice].__getitem__).values) == 1


def test_the_kernel_support_of_a_scheme_is_reported():
    vcp = in_kernel("vcp-ld:rtt_scaling=smoothed,additive_scaling=square,capacity=10mbps", ["cubic"])
    assert vcp.scheme == "vcp-ld:additive_scaling=square,capacity=10mbps"
    assert vcp.departures == ("VCP's sender in the kernel: rtt_scaling minimum, not smoothed",)
    xcp = in_kernel("xcp-ld:max_interval=2s", ["cubic"])
    assert xcp.scheme == "xcp:max_interval=2s"
    assert "no loss differentiation" in xcp.departures[0]
    bic = in_kernel("bic", ["reno", "cubic"])
    assert bic.scheme == "cubic"
    assert "no BIC" in bic.departures[0]
    assert in_kernel("bic", ["bic"]).departures == ()
    with pytest.raises(UsageError, match="always has loss differentiation"):
        in_kernel("vcp", ["cubic"])


@pytest.mark.usefixtures("a_kernel")
def test_departures_are_in_the_notes_and_the_twin_has_the_kernel_settings():
    (figure,) = (figure for figure in FIGURES if figure.id == "vcp-w/fig13")
    here = on_kernel(figure)
    departures = [note for note in here.notes if note.startswith("Departure: ")]
    for word in ("no BIC", "additive_scaling square", "initial window", "one acknowledgment"):
        assert any(word in text for text in departures), word
    assert any("VCP without heuristic" in note and "always" in note for note in here.notes)
    real, simulated = (one for by_label in here.experiments.values() for one in by_label.values())
    assert (real.world, simulated.world) == ("datapath", "sim")
    assert real.key() != simulated.key() != replace(real, world="sim").key()
    (transport,) = {
        flow["transport"]["initial_window_bytes"] for flow in simulated.resolve().plan()["flows"][:30]
    }
    assert transport == 10 * 1460
    assert BACKENDS["datapath"].place(simulated.resolve()).departures == ()


@pytest.mark.usefixtures("a_kernel")
def test_missing_requirements_are_reported_once_and_nothing_is_written(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(daemon, "datapath_missing", lambda: "airpathd needs root")
    out = tmp_path / "out"
    assert call("vcp-w", "--out", str(out)) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "vcp-w/fig10a cannot run on this system's kernel" in said
    assert "airpathd needs root" in said
    assert call("vcp-w/fig14", "--jobs", "2", "--out", str(out)) == 2
    assert "jobs: found 2" in capsys.readouterr().err
    assert not out.exists()


def test_invalid_runs_are_repeated_and_the_last_is_kept(monkeypatch, tmp_path, tiny):
    bad, good = run_data(problems=("late",)), run_data()
    tried = iter([bad, good, bad, bad, None])
    monkeypatch.setattr(real_time, "job_of", lambda _experiment, _repetition: None)
    monkeypatch.setattr(real_time, "_run", lambda _job, _progress: next(tried))
    store, said = RunStore(tmp_path / "runs"), []
    experiment = Experiment(tiny, "newreno", {}, 3)
    missing = missing_runs([experiment], store)
    assert real_seconds(missing) == pytest.approx(3 * (1.0 + real_time.AROUND_S))
    with pytest.raises(Interrupted) as interrupted:
        do_real_runs(missing, store, nothing, said.append)
    assert (interrupted.value.finished, interrupted.value.asked) == (2, 3)
    assert [text.split("; ")[-1] for text in said] == [
        "it is repeated",
        "it is repeated",
        "it is kept, and the report marks it",
    ]
    kept = read_runs(experiment.repeated(2), store)
    assert [run.problems for run in kept] == [(), ("late",)]


def small(tiny: str, form: KernelForm) -> Figure:
    return Figure(
        id="test/small",
        paper="Test",
        title="A small figure",
        experiments={"normal": {one: Experiment(tiny, one, {}, 7) for one in ("newreno", "cubic")}},
        draw=lambda runs: over_time_by_choice(runs, "utilisation"),
        claims=(
            Claim(
                "busy",
                "the link is busy",
                AtLeast(0.1),
                "utilisation",
                lambda of: sample(of_each(of("cubic"), utilisation)),
            ),
        ),
        kernel=form,
    )


@pytest.mark.usefixtures("a_kernel")
def test_verdicts_use_the_kernel_runs_and_simulated_numbers_are_alongside(monkeypatch, tmp_path, tiny):
    idle = run_data(link_data(1.0), problems=("a packet came late",))
    monkeypatch.setattr(real_time, "job_of", lambda _experiment, _repetition: None)
    monkeypatch.setattr(real_time, "_run", lambda _job, _progress: idle)
    figure = on_kernel(small(tiny, KernelForm({"": "normal"}, {"cubic": "1s"})))
    announced = []
    done = reproduce(
        [figure],
        tmp_path / "out",
        repetitions=None,
        workers=1,
        on_progress=nothing,
        on_real=lambda *told: announced.append(told),
    )
    assert announced == [(1, 1.0 + real_time.AROUND_S)]
    (busy,) = verdicts(done)
    assert (busy["measured"], busy["n"], busy["verdict"]) == (0.0, 1, "not reproduced")
    assert busy["beside"]["simulated"] > 0.5
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "kernel: cubic, run 1, is NOT VALID: a packet came late" in page
    assert ">simulated</td>" in page


@pytest.mark.usefixtures("emulated_hosts")
def test_a_figure_runs_on_this_kernel(tmp_path, tiny):
    form = KernelForm({"": "normal"}, {"newreno": "2s", "cubic": "2s"})
    done = reproduce(
        [on_kernel(small(tiny, form))], tmp_path / "out", repetitions=None, workers=1, on_progress=nothing
    )
    (busy,) = verdicts(done)
    assert busy["verdict"] == "reproduced"
    assert busy["measured"] == pytest.approx(busy["beside"]["simulated"], abs=0.1)


@pytest.mark.usefixtures("emulated_hosts", "datapath")
def test_vcp_starts_in_the_testbed_as_the_simulated_one(tmp_path):
    (figure,) = (figure for figure in FIGURES if figure.id == "vcp-w/fig14")
    form = KernelForm({"": "short"}, {VCP: "12s"})
    short = replace(
        figure,
        experiments={"short": {VCP: on_testbed(VCP, dict(ENDLESS))}},
        kernel=form,
        claims=(),
        draw=None,
        tables=None,
    )
    here = on_kernel(short)
    reproduce([here], tmp_path / "out", repetitions=None, workers=1, on_progress=nothing)
    store = RunStore(tmp_path / "out" / "runs")
    (real,), (simulated,) = (read_runs(here.experiments[one][VCP], store) for one in here.experiments)
    carried, expected = (utilisation(run, (6.0, 12.0)) for run in (real, simulated))
    assert expected > 0.5
    assert carried == pytest.approx(expected, rel=0.2)
    # The background's window is that of the scenario: 16 kB per round trip of 0.4 s and more, both ways.
    background = real.group_departed_bytes[real.groups.index("background-tcp")].sum() * 8 / 12.0
    assert background < 2 * 1.2 * 16e3 * 8 / 0.4
