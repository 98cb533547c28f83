"""Backend quic: the same scenario and the same schemes, quinn at the endpoints. It needs no privileges."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pyarrow.compute as pc
import pytest

import airpath
from airpath._backends import BACKENDS
from airpath.errors import ScenarioError, UsageError
from airpath.gap import gap as compare_worlds
from airpath.gap.differences import Verdict
from airpath.results import Results
from airpath.scenario import Scenario
from airpath.schemes import find_scheme

AIRPATH = (sys.executable, "-m", "airpath")
SHORT = ("--duration", "5s", "--world", "quic")


def scenario(*schemes: str, **changes: object) -> Scenario:
    return Scenario.from_dict(
        {
            "name": "over-quic",
            "duration": "10s",
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {
                    "rate": "10Mbps",
                    "delay": "20ms",
                    "queue": {"kind": "scheme", "limit": "1bdp"},
                },
            },
            "flows": [{"name": f"f{i}", "scheme": scheme} for i, scheme in enumerate(schemes)],
            **changes,
        }
    )


def test_schemes_keep_their_names_and_runs_contain_their_backend() -> None:
    placed = BACKENDS["quic"].place(scenario("cubic:beta=0.8", "newreno"))
    assert placed.schemes == ("cubic", "newreno")
    assert placed.label == "cubic:beta=0.8+newreno over quinn"
    assert placed.plan == scenario("cubic:beta=0.8", "newreno").plan()


def test_decisions_of_quinn_are_reported() -> None:
    def said(**transport: object) -> list[str]:
        departures = BACKENDS["quic"].place(scenario("cubic", transport=transport)).departures
        return [text.removeprefix("quinn's own ").split(":")[0] for text in departures]

    timers = "handshake, loss detection and timers (RFC 9000 and 9002)"
    assert said() == ["pacing", "acknowledgments", timers]
    assert said(pacing=True, delayed_ack_timeout="25ms") == [timers]
    assert said(mss="960B")[0] == "packets"


@pytest.mark.parametrize(
    "scheme",
    [
        "cubic",
        "newreno",
        "vegas",
        "westwood+",
        "cubic-ebe",
        "htcp",
        "veno",
        "sprout",
        "kite:pacing=false",
        "quinn:cubic",
        "quinn:newreno",
    ],
)
def test_schemes_that_need_no_router_run(scheme: str) -> None:
    results = airpath.run(scenario(scheme), world="quic", progress=False)
    (run,) = results.runs
    assert run.record.scheme == f"{scheme} over quinn"
    assert run.record.valid
    assert 8.0 < run.metrics["goodput_mbps"] < 10.0
    windows = run.tables["flow_series"]["cwnd_bytes"]
    assert pc.max(windows).as_py() > 30_000


def test_new_reno_of_quinn_halves_its_window_like_airpaths() -> None:
    ours, quinns = (
        airpath.run(scenario(scheme, duration="60s"), world="quic", progress=False).runs[0].tables
        for scheme in ("newreno", "quinn:newreno")
    )
    (recoveries,) = ours["flows"]["recoveries"].to_pylist()
    assert recoveries > 20
    assert quinns["flows"]["recoveries"].to_pylist() == [recoveries]
    windows = [window for window in quinns["flow_series"]["cwnd_bytes"].to_pylist() if window]
    halved = sum(after < 0.6 * before for before, after in pairwise(windows))
    assert recoveries - 2 <= halved <= recoveries


def test_controllers_of_quinn_run_over_quic_only() -> None:
    with pytest.raises(ScenarioError, match="use cubic, or run it with --world quic"):
        airpath.run(scenario("quinn:cubic"), progress=False)
    with pytest.raises(UsageError, match=r"without a seed.*accepted: quinn:cubic, quinn:newreno"):
        find_scheme("quinn:bbr")


@pytest.mark.parametrize(
    ("scheme", "why"),
    [
        ("bbr", "quinn paces by its window"),
        ("copa", "quinn paces by its window"),
        ("kite", "quinn paces by its window"),
        ("prague", "quinn reports only that a mark arrived"),
        ("dctcp", "quinn reports only that a mark arrived"),
        ("sarbe", "needs the receiver's clock, which QUIC acknowledgments do not carry"),
        ("xcp", "which QUIC packets do not carry"),
        ("vcp-ebe", "which QUIC packets do not carry"),
    ],
)
def test_unsupported_controllers_are_rejected_with_field_and_scheme(scheme: str, why: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        airpath.run(scenario(scheme), world="quic", progress=False)
    assert f'flows[0].scheme: found "{scheme}"; the controller' in str(refused.value)
    assert why in str(refused.value)


def test_features_of_the_kernel_or_tcp_are_rejected() -> None:
    said = r'flows\[0\]\.scheme: found "kernel:cubic"; .*, which quinn does not have; use "cubic"'
    with pytest.raises(ScenarioError, match=said):
        airpath.run(scenario("kernel:cubic"), world="quic", progress=False)
    with pytest.raises(ScenarioError, match=r"record\.capture: .*captures are of TCP"):
        airpath.run(scenario("cubic", record={"capture": ["bottleneck"]}), world="quic", progress=False)
    counted = scenario("cubic").override({"flows.0.transport.ecn": "accurate"})
    with pytest.raises(ScenarioError, match=r'flows\[0\]\.transport\.ecn: found "accurate"; quinn'):
        airpath.run(counted, world="quic", progress=False)
    estimating = scenario("cubic").override({"flows.0.estimators": ["westwood+"]})
    with pytest.raises(ScenarioError, match=r"flows\[0\]\.estimators: .*in the simulator only"):
        airpath.run(estimating, world="quic", progress=False)


@pytest.mark.processes
def test_same_seed_same_tables_with_any_number_of_workers() -> None:
    chosen = scenario("cubic", "newreno").override({"topology.bottleneck.loss": 0.001})

    def found(jobs: int) -> Results:
        return airpath.run(chosen, repetitions=3, jobs=jobs, world="quic", progress=False)

    one, two = found(1), found(2)
    for name in ("flows", "links", "flow_series", "drops", "completions"):
        assert repr(one.table(name).to_pydict()) == repr(two.table(name).to_pydict()), name


def test_results_are_written_and_read_again(tmp_path: Path) -> None:
    results = airpath.run(scenario("cubic"), world="quic", progress=False)
    origin = airpath.results.Origin(created="now")
    airpath.results.write(results, tmp_path / "found", scenario_text="", origin=origin)
    again = airpath.results.read(tmp_path / "found")
    (run,) = again.runs
    assert (run.record.world, run.record.valid) == ("quic", True)
    assert run.record.validity == results.runs[0].record.validity
    # No sender knows whether a timeout was needless.
    assert again.table("flows")["spurious_timeouts"].null_count == 1
    assert again.table("flows")["recoveries"].to_pylist()[0] > 0


def test_the_gap_to_the_simulator_is_small() -> None:
    chosen = scenario("cubic", "cubic", duration="20s", repetitions=3)
    found = compare_worlds(chosen, worlds=["quic"], progress=False)
    (one,) = found.compared
    assert one.labels == {"sim": "cubic", "quic": "cubic over quinn"}
    verdicts = {difference.metric: difference.verdict for difference in one.differences["quic"]}
    assert verdicts["goodput_mbps"] is Verdict.AGREE
    assert verdicts["utilisation"] is Verdict.AGREE


def test_commands_report_deviations_from_the_scenario(tmp_path: Path) -> None:
    out = tmp_path / "found"
    told = subprocess.run(
        [*AIRPATH, "compare", "cubic", "vegas", "--link", "10mbps", "--reps", "2", *SHORT, "--out", str(out)],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    ).stdout
    assert "cubic over quinn" in told
    assert "quinn's own pacing: at 5/4 of the window in a round trip" in told
    assert told.count("controllers in quinn, a QUIC stack") == 2, "once for each scheme, not each run"
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "controllers in quinn, a QUIC stack" in page
    assert "valid runs" not in page
    provenance = json.loads((out / "provenance.json").read_text())
    assert provenance["runs"][0]["world"] == "quic"
