"""`airpath rivals`: the shares of schemes that compete for a link."""

import json
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import airpath
from airpath.cli import main
from airpath.errors import ScenarioError, UsageError
from airpath.results import read
from airpath.rivals import Rivals, rivals
from airpath.rivals.meetings import Meeting, met, rival_scenarios
from airpath.rivals.pictures import rivals_figures
from airpath.rivals.report import remarks, rivals_json, rivals_tables
from airpath.runner import run_all

OPTIONS = {
    "rtt": None,
    "buffer": None,
    "queue": None,
    "ecn": False,
    "flows": 1,
    "duration": "60s",
    "warm_up": "10s",
    "seed": 1,
    "repetitions": 1,
}
SHORT = {"rtt": "20ms", "duration": "8s", "warm_up": "2s", "jobs": 1, "progress": False}


@pytest.fixture(scope="module")
def found() -> Rivals:
    return rivals(
        ["fixed:window=10packets", "fixed:window=30packets"], "10mbps", buffer="1MB", repetitions=2, **SHORT
    )


def test_constant_windows_share_in_proportion(found: Rivals):
    """In a queue with both flows, each gets capacity in proportion to its data in flight."""
    small, large = found.schemes
    meeting = found.meetings[small, large]
    assert meeting.label == f"{small}+{large}"
    share, _ = meeting.of(small)
    other, _ = meeting.of(large)
    assert share == pytest.approx(np.full(2, 0.5), rel=0.01)
    assert share + other == pytest.approx(np.full(2, 2.0))
    for scheme in found.schemes:
        beside_itself = found.meeting(scheme, scheme)
        assert beside_itself is not None
        assert beside_itself.shares == pytest.approx(np.full(2, 1.0), rel=0.01)
    assert found.meeting(large, small) is meeting


def test_queueing_delays_follow_from_the_windows(found: Rivals):
    """40 packets of 1500 B in flight take 48 ms at 10 Mbit/s.

    Of these 20 ms are propagation, 1.2 ms the packet's own transmission, less than 1 ms delay at other links.
    """
    small, large = found.schemes
    for scheme in (small, large):
        _, queueing_ms = found.meetings[small, large].of(scheme)
        assert queueing_ms == pytest.approx(np.full(2, 26.3), abs=0.5)


def test_repetitions_have_separate_seeds(found: Rivals):
    pair = found.meetings[found.schemes[0], found.schemes[1]].label
    assert [run.record.seed for run in found.results.runs if run.record.scheme == pair] == [1, 2]


def test_flows_count_on_either_side():
    found = rivals(
        ["fixed:window=10packets", "fixed:window=30packets"], "10mbps", flows=3, buffer="1MB", **SHORT
    )
    assert found.meetings[found.schemes[0], found.schemes[1]].shares == pytest.approx([0.5], rel=0.02)


def test_a_share_is_of_departures_not_of_the_queue():
    """At a link that serves flows in turn each gets half, independent of its backlog."""
    found = rivals(
        ["fixed:window=10packets", "fixed:window=30packets"], "10mbps", queue="drr", buffer="1MB", **SHORT
    )
    meeting = found.meetings[found.schemes[0], found.schemes[1]]
    assert meeting.shares == pytest.approx([1.0], rel=0.01)
    assert meeting.utilisation == pytest.approx([1.0], rel=0.01)
    few, many = meeting.queueing_ms
    # A full packet takes 2.4 ms at half the rate of the link.
    assert many - few == pytest.approx([20 * 2.4], abs=0.5)


def test_flows_without_arrivals_have_no_delay():
    found = rivals(
        ["cubic", "newreno"], "1mbps", flows=5, buffer="200kB", **SHORT | {"duration": "1s", "warm_up": "0s"}
    )
    meeting = found.meetings["cubic", "newreno"]
    (run,) = [run for run in found.results.runs if run.record.scheme == meeting.label]
    flows = run.table("flows").to_pylist()
    assert {flow["delivered_packets"] == 0 for flow in flows} == {True, False}
    for group, queueing_ms in zip(("first", "second"), meeting.queueing_ms, strict=True):
        of = [flow for flow in flows if flow["group"] == group and flow["delivered_packets"]]
        waited_s = sum(flow["queueing_mean_s"] * flow["delivered_packets"] for flow in of)
        packets = sum(flow["delivered_packets"] for flow in of)
        assert queueing_ms == pytest.approx([1e3 * waited_s / packets])


def test_the_queue_is_attributed_to_its_scheme():
    """A scheme with routers brings its own; two that bring different ones cannot share a link."""
    options = OPTIONS | {"queue": "codel", "ecn": True}
    scenarios, refused = rival_scenarios(["cubic", "xcp", "vcp"], "10mbps", **options)
    queues = {pair: scenario.plan()["links"][0]["queue"]["kind"] for pair, scenario in scenarios.items()}
    assert queues == {
        ("cubic", "cubic"): "managed",
        ("cubic", "xcp"): "router",
        ("cubic", "vcp"): "router",
        ("xcp", "xcp"): "router",
        ("vcp", "vcp"): "router",
    }
    assert list(refused) == [("xcp", "vcp")]
    assert "flows of different routers cross" in refused["xcp", "vcp"]
    ecn = [flow["transport"]["ecn"] for flow in scenarios["cubic", "xcp"].plan()["flows"]]
    assert ecn == [True, False]


def test_pairs_without_runs_are_omitted():
    """As after an interrupt; the others keep their runs."""
    options = OPTIONS | {"duration": "1s", "warm_up": "0s"}
    scenarios, refused = rival_scenarios(["cubic", "newreno"], "10mbps", **options)
    last = {"newreno+newreno": scenarios["newreno", "newreno"]}
    found = met(["cubic", "newreno"], run_all(last, jobs=1), scenarios, refused)
    assert list(found.meetings) == [("newreno", "newreno")]
    assert found.meeting("cubic", "newreno") is None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"schemes": "cubic"}, 'schemes: found "cubic"; accepted: a list'),
        ({"schemes": ["cubic", "cubic"]}, 'the scheme "cubic" is given twice'),
        ({"schemes": ["cubik"]}, 'there is no scheme "cubik"; did you mean "cubic"'),
        ({"schemes": ["cubic", "bbr:x=1"]}, "schemes: x: unknown key"),
        ({"flows": 0}, "flows: found 0; accepted: at least 1$"),
        ({"warm_up": "8s"}, "warm_up: found 8 s, which must be shorter than the duration of 8 s"),
        ({"queue": "codle"}, 'queue: found "codle"'),
        ({"link": "10"}, "link: found"),
    ],
)
def test_errors_name_the_argument(wrong, said):
    with pytest.raises((UsageError, ScenarioError), match=f"^{said}"):
        rivals(**{"schemes": ["cubic", "bbr"], "link": "10mbps", **SHORT} | wrong)


def test_tables_and_json():
    nothing = np.array([np.nan])
    one, two = "a", "b"
    meetings = {
        (one, one): Meeting(one, one, "a+a", np.array([1.0, 1.1]), (nothing, nothing), np.array([1.0, 1.0])),
        (one, two): Meeting(
            one, two, "a+b", np.array([0.4, 0.6]), (np.array([3.0, 5.0]), np.array([1.0, 1.0])), np.ones(2)
        ),
    }
    made = Rivals((one, two), airpath.Results([]), meetings, {(two, two): "no room"})
    shares, delays, _ = rivals_tables(made)
    cells = [[str(cell) for cell in column.cells] for column in shares.columns]
    assert cells == [["a", "b"], ["1.05 ± 0.64", "1.5 ± 1.3"], ["0.5 ± 1.3", "—"]]
    assert [[str(cell) for cell in column.cells] for column in delays.columns][1] == ["—", "1"]
    told = rivals_json(made)
    assert told["refused"] == [{"schemes": ["b", "b"], "why": "no room"}]
    beside = [
        (meeting["scheme"], meeting["beside"], meeting["share"]["mean"]) for meeting in told["meetings"]
    ]
    assert beside == [("a", "a", 1.05), ("a", "b", 0.5), ("b", "a", 1.5)]
    assert told["meetings"][0]["queueing_ms"] == {"mean": None, "ci95_low": None, "ci95_high": None, "n": 0}
    assert (told["meetings"][0]["n"], told["meetings"][0]["share"]["n"]) == (2, 2)
    assert remarks(made) == ["b with b: no room"]


def test_a_run_in_which_a_scheme_starves_does_not_empty_the_cell():
    """It has no delay there; an empty field is a pair that cannot share a link."""
    some = np.array([2.0, np.nan, 4.0])
    meeting = Meeting("cubic", "cubic", "cubic+cubic", np.array([1.0, 0.0, 1.0]), (some, some), np.ones(3))
    made = Rivals(("cubic",), airpath.Results([]), {("cubic", "cubic"): meeting}, {})
    written = [[text.get_text() for text in one.figure.axes[0].texts] for one in rivals_figures(made)]
    assert written == [["0.67"], ["3.00"]]
    _, delays, _ = rivals_tables(made)
    assert [str(cell) for cell in delays.columns[1].cells] == ["3 ± 13"]
    assert rivals_json(made)["meetings"][0]["queueing_ms"]["n"] == 2


def test_the_command_writes_maps_tables_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "found"
    given = ["rivals", "cubic", "xcp", "vcp", "--link", "10mbps", "--duration", "4s", "--warm-up", "1s"]
    with pytest.raises(SystemExit) as left:
        main([*given, "--json", "--jobs", "1", "--figures", "--out", str(out)])
    assert left.value.code == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert "xcp with vcp: queue: scheme: required" in said.err
    assert told.pop("report") == str(out / "report.html")
    assert told.pop("out") == str(out)
    assert told.pop("interrupted") is False
    assert told == json.loads((out / "rivals.json").read_text())
    assert len(told["meetings"]) == 7
    pairs = ("cubic+cubic", "cubic+xcp", "cubic+vcp", "xcp+xcp", "vcp+vcp")
    assert read(out).schemes == pairs
    report = (out / "report.html").read_text()
    assert "Fairness between schemes" in report
    assert "Differences between schemes" not in report
    assert sorted(file.name for file in (out / "figures").glob("*.png")) == [
        "rivals-delay.png",
        "rivals-share.png",
    ]
    # XCP competing with CUBIC gets next to nothing, which is dark; an impossible pair is white.
    shares = mpl.image.imread(out / "figures" / "rivals-share.png")[:, :, :3]
    dark = (shares.sum(axis=2) < 0.9).mean()
    assert 0.05 < dark < 0.6
