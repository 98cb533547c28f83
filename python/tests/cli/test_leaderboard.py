"""`airpath leaderboard`: what is run, kept, continued, refused and repeated."""

import json

import pytest

from airpath.errors import ScenarioError, UsageError
from airpath.leaderboard import Board, running
from airpath.leaderboard.board import board_names
from airpath.runner import Interrupted

BOARD = """
name = "small"
title = "Two short cases"
columns = ["score", "utilisation", "queueing_p95_ms", "jain_index"]
repetitions = 2
entries = ["newreno", { entry = "newreno", name = "newreno, codel", queue = "codel" }]

[[cases]]
name = "one"
link = "4mbps"
duration = "2s"

[[cases]]
name = "two"
link = "4mbps"
flows = 2
duration = "2s"
tuning = true
"""
ESTIMATORS = """
name = "errors"
kind = "estimators"
columns = ["bandwidth_estimate_error_mean_percent", "bandwidth_estimate_bias_percent"]
repetitions = 2
entries = ["westwood+", "sarbe"]
cases = [{ name = "one", link = "4mbps", duration = "8s" }]
"""
RECORDED = """
[[cases]]
name = "road"
link = "road.down"
recorded = true
duration = "2s"
"""
ROAD = "".join(f"{time}\n" for time in range(4, 2000, 4))
OWN = """
import airpath


class Mine(airpath.Controller):
    def on_ack(self, ack):
        {body}

    def on_congestion(self, signal):
        self.window = 10_000
"""


@pytest.fixture(autouse=True)
def board(folder):
    (folder / "small.toml").write_text(BOARD)
    return folder / "small.toml"


@pytest.fixture
def done(monkeypatch):
    """Return the list of the pairs that are run from now on."""
    pairs = []

    def counted(work, *arguments, **options):
        pairs.append((work[0].scenario.name, work[0].scheme))
        return run_jobs(work, *arguments, **options)

    run_jobs = running.run_jobs
    monkeypatch.setattr(running, "run_jobs", counted)
    return pairs


def test_entries_are_ranked_and_written(airpath, folder):
    done = airpath("leaderboard", "small.toml", "cubic")
    assert (done.code, done.err) == (0, "")
    assert all(name in done.out for name in ("newreno, codel", "cubic", "behind first"))
    out = folder / "out" / "leaderboard-small"
    assert sorted(file.name for file in out.iterdir()) == [
        "leaderboard.json", "leaderboard.md", "leaderboard.png", "provenance.json",
    ]  # fmt: skip
    page = (out / "leaderboard.md").read_text()
    assert page.startswith("# Two short cases\n")
    assert "two (tuning)" in page
    values = json.loads((out / "leaderboard.json").read_text())["cases"]["one"]["cubic"]["values"]
    assert len(values["utilisation"]) == 2
    # A queue with an AQM is shorter.
    told = json.loads(airpath("leaderboard", "small.toml", "--json").out)
    queue = {one["entry"]: one["queueing_p95_ms"]["mean"] for one in told["entries"]}
    assert queue["newreno, codel"] < queue["newreno"]


def test_further_entries_only_add_their_own_runs_and_stay(airpath, folder, done):
    assert airpath("leaderboard", "small.toml").code == 0
    assert len(done) == 4
    assert airpath("leaderboard", "small.toml", "vegas").code == 0
    assert airpath("leaderboard", "small.toml", "cubic").code == 0
    assert done[4:] == [("one", "vegas"), ("two", "vegas"), ("one", "cubic"), ("two", "cubic")]
    together = airpath("leaderboard", "small.toml", "cubic", "vegas", "--out", "other", "--jobs", "1")
    assert together.code == 0
    file = folder / "out" / "leaderboard-small" / "leaderboard.json"
    assert file.read_bytes() == (folder / "other" / "leaderboard.json").read_bytes()


def test_other_seeds_have_a_folder_of_their_own(airpath, folder, done):
    assert airpath("leaderboard", "small.toml").code == 0
    assert airpath("leaderboard", "small.toml", "--seed", "9", "--reps", "1").code == 0
    assert len(done) == 8
    again = json.loads((folder / "out" / "leaderboard-small-2" / "leaderboard.json").read_text())
    assert again["board"]["seed"] == 9


def test_an_interrupt_keeps_what_was_finished(airpath, monkeypatch, done):
    finished = running.run_jobs

    def interrupted(work, *arguments, **options):
        results = finished(work, *arguments, **options)
        if len(done) == 3:
            raise Interrupted(results, 2)
        return results

    monkeypatch.setattr(running, "run_jobs", interrupted)
    stopped = airpath("leaderboard", "small.toml")
    assert stopped.code == 130
    assert "interrupted after 2 of 4 pairs of case and entry; the same command continues" in stopped.err
    assert airpath("leaderboard", "small.toml").code == 0
    assert len(done) == 5


def test_code_that_fails_has_no_rank_and_the_others_go_on(airpath, folder):
    (folder / "mine.py").write_text(OWN.format(body="raise ValueError('no')"))
    failed = airpath("leaderboard", "small.toml", "mine.py:Mine", "--json")
    assert failed.code == 1
    assert "one: mine.py:7" in failed.err
    ranks = {one["entry"]: one["rank"] for one in json.loads(failed.out)["entries"]}
    assert sorted(filter(None, ranks.values())) == [1, 2]
    assert ranks["Mine"] is None
    assert "Mine has no rank, because it has no values in one" in failed.err
    again = airpath("leaderboard", "small.toml", "mine.py:Mine")
    assert again.code == 1
    assert "one: mine.py:7" in again.err
    # Corrected code is run again.
    (folder / "mine.py").write_text(OWN.format(body="self.window = 20_000"))
    assert airpath("leaderboard", "small.toml", "mine.py:Mine").code == 0


def test_a_leaderboard_can_be_repeated_elsewhere(airpath, folder):
    assert airpath("leaderboard", "small.toml", "mild=newreno", "--out", "kept").code == 0
    again = airpath("rerun", "kept")
    assert (again.code, again.err) == (0, "")
    assert again.out == "all values of 6 pairs of case and entry are the same; the files are byte-equal\n"
    content = json.loads((folder / "kept" / "leaderboard.json").read_text())
    content["cases"]["one"]["mild"]["values"]["utilisation"][0] += 0.01
    (folder / "kept" / "leaderboard.json").write_text(json.dumps(content))
    again = airpath("rerun", "kept", "--out", "again")
    assert (again.code, again.out) == (1, "1 of 6 pairs of case and entry differ: one, mild\n")


def test_a_recorded_case_needs_its_trace(board, folder):
    board.write_text(BOARD + RECORDED)
    assert "AIRPATH_TRACES" in Board.load(board).skipped["road"]
    (folder / "traces").mkdir()
    assert "is not in" in Board.load(board, traces=folder / "traces").skipped["road"]
    (folder / "traces" / "road.down").write_text(ROAD)
    loaded = Board.load(board, traces=folder / "traces")
    assert not loaded.skipped
    assert loaded.cases[-1].name == "road"


def test_only_the_cases_of_the_scores_are_repeated(airpath, board, folder, monkeypatch):
    monkeypatch.delenv("AIRPATH_TRACES", raising=False)
    board.write_text(BOARD + RECORDED)
    first = airpath("leaderboard", "small.toml", "--out", "kept")
    assert first.err == "airpath: skipped: road: no folder of recorded traces (--traces or AIRPATH_TRACES)\n"
    (folder / "traces").mkdir()
    (folder / "traces" / "road.down").write_text(ROAD)
    monkeypatch.setenv("AIRPATH_TRACES", str(folder / "traces"))
    again = airpath("rerun", "kept")
    assert (again.code, again.err) == (0, "")
    assert again.out == "all values of 4 pairs of case and entry are the same; the files are byte-equal\n"


def test_a_directory_is_not_shared_by_different_seeds(airpath, folder, done):
    assert airpath("leaderboard", "small.toml", "vegas", "--out", "kept").code == 0
    refused = airpath("leaderboard", "small.toml", "--seed", "9", "--out", "kept")
    assert refused.code != 0
    assert "--force" in refused.err
    assert airpath("leaderboard", "small.toml", "--seed", "9", "--out", "kept", "--force").code == 0
    content = json.loads((folder / "kept" / "leaderboard.json").read_text())
    assert content["board"]["seed"] == 9
    assert "vegas" not in content["cases"]["one"]
    assert len(done) == 10


def test_estimators_are_those_of_the_flows_under_test():
    (two_way,) = (case for case in Board.load("estimators").cases if case.name == "lte-two-way")
    flows = two_way.scenarios["sarbe"].to_dict()["flows"]
    assert [flow.get("estimators") for flow in flows] == [["sarbe"], None]


def test_estimators_of_the_flows_are_ranked(airpath, folder):
    (folder / "errors.toml").write_text(ESTIMATORS)
    told = json.loads(airpath("leaderboard", "errors.toml", "--json").out)
    errors = [one["bandwidth_estimate_error_mean_percent"]["mean"] for one in told["entries"]]
    assert len(errors) == 2
    assert 0 <= errors[0] <= errors[1] < 100


def test_routers_of_all_bottlenecks_and_of_the_reverse_link_have_the_scheme_of_the_entry():
    cases = {case.name: case for case in Board.load("sources", repetitions=1).cases}
    for entry in ("xcp-busy", "abc-busy"):
        lot = cases["parking-lot"].scenarios[entry].to_dict()["topology"]
        queues = [link["queue"] for link in lot["bottlenecks"]]
        queues.append(cases["l"].scenarios[entry].to_dict()["topology"]["reverse"]["queue"])
        assert {queue["scheme"] for queue in queues} == {entry}


@pytest.mark.parametrize("name", board_names())
def test_every_shipped_leaderboard_can_be_loaded(name):
    assert any(case.tuning for case in Board.load(name).cases)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"score", ', '"power", '), 'columns: found "power"'),
        (('name = "two"', 'name = "one"'), "the name one is given twice"),
        (('link = "4mbps"\nduration', "duration"), "link"),
        (("repetitions = 2", "repetitions = 0"), "repetitions"),
        (("tuning = true", "repetitions = 3"), "repetitions"),
    ],
)
def test_wrong_leaderboards_are_refused(board, change, message):
    board.write_text(BOARD.replace(*change))
    with pytest.raises(ScenarioError, match=message):
        Board.load(board)


def test_an_entry_twice_or_unknown_is_refused(board):
    with pytest.raises(UsageError, match='found "newreno" twice'):
        Board.load(board, ["newreno"])
    with pytest.raises(ScenarioError, match="entry cubc"):
        Board.load(board, ["cubc"])
