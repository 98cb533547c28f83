"""`airpath diff`: the differences between two results, with intervals, and its exit codes."""

import json

import pytest

SHORT = ("--link", "2mbps", "--duration", "3s", "--reps", "3")
SWEEP = """
name = "small"
scenario = "three-worlds"
schemes = ["cubic", "newreno"]
repetitions = 2
set = { duration = "5s" }
grid = { "topology.bottleneck.queue.limit" = ["10 packets", "20 packets"] }
"""


@pytest.fixture
def kept(airpath, folder):
    assert airpath("compare", "newreno", "cubic", *SHORT, "--out", "first").code == 0
    return folder / "first"


def differences(airpath, *arguments):
    done = airpath("diff", *arguments, "--json")
    assert done.code == 1, done.err
    return json.loads(done.out)


def test_equal_results_do_not_differ_for_any_time_of_creation(airpath, kept):
    assert airpath("rerun", "first", "--out", "second").code == 0
    facts = json.loads((kept / "provenance.json").read_text())
    (kept / "provenance.json").write_text(json.dumps({**facts, "created": "2020-01-01T00:00:00+00:00"}))
    done = airpath("diff", "first", "second")
    assert (done.code, done.err) == (0, "")
    assert "no differences" in done.out
    assert json.loads(airpath("diff", "first", "second", "--json").out)["same"] is True


@pytest.mark.usefixtures("kept")
def test_keys_and_metrics_are_compared_in_pairs_of_seeds(airpath, folder):
    changed = (*SHORT, "--buffer", "2bdp")
    assert airpath("compare", "newreno", "cubic", *changed, "--out", "second").code == 0
    told = differences(airpath, "first", "second")
    (key,) = [one for one in told["changes"] if "queue" in one["what"] and "limit" in one["what"]]
    assert key["second"] == '"2 bdp"'
    assert {one["scheme"] for one in told["metrics"]} == {"newreno", "cubic"}
    assert {one["pairs"] for one in told["metrics"]} == {3}
    sides = [json.loads((folder / name / "summary.json").read_text())["runs"] for name in ("first", "second")]
    by_hand = {
        (a["scheme"], a["seed"]): b["queueing_p95_ms"] - a["queueing_p95_ms"]
        for a, b in zip(*sides, strict=True)
    }
    (found,) = [
        one for one in told["metrics"] if (one["scheme"], one["metric"]) == ("cubic", "queueing_p95_ms")
    ]
    expected = sum(by_hand["cubic", seed] for seed in (1, 2, 3)) / 3
    assert found["difference"] == pytest.approx(expected)
    assert found["improves"] is (expected < 0)
    # Significant differences come first, then the order is by share.
    order = [(not one["excludes_zero"], -abs(one["share"] or float("inf"))) for one in told["metrics"]]
    assert order == sorted(order)


@pytest.mark.usefixtures("kept")
def test_other_seeds_are_compared_by_welch_and_reported(airpath):
    assert airpath("compare", "newreno", "cubic", *SHORT, "--seed", "11", "--out", "second").code == 0
    told = differences(airpath, "first", "second")
    assert {"what": "seeds", "first": "1 to 3", "second": "11 to 13"} in told["changes"]
    assert {one["pairs"] for one in told["metrics"]} == {0}
    assert any(one["ci95_low"] is not None for one in told["metrics"])


@pytest.mark.usefixtures("kept")
def test_two_single_schemes_are_compared_with_each_other(airpath):
    assert airpath("compare", "newreno", "vegas", *SHORT, "--out", "second").code == 0
    told = differences(airpath, "first", "second")
    assert {one["scheme"] for one in told["metrics"]} == {"cubic → vegas"}
    assert "cubic → vegas" in airpath("diff", "first", "second").out
    assert airpath("compare", "newreno", "vegas", "bic", *SHORT, "--out", "third").code == 0
    told = differences(airpath, "first", "third")
    assert (told["only_first"], told["only_second"], told["metrics"]) == (["cubic"], ["vegas", "bic"], [])


@pytest.mark.usefixtures("kept")
def test_another_version_alone_is_a_difference(airpath, kept):
    assert airpath("rerun", "first", "--out", "second").code == 0
    facts = json.loads((kept / "provenance.json").read_text())
    facts["versions"]["airpath"] = "0.0.1"
    (kept / "provenance.json").write_text(json.dumps(facts))
    told = differences(airpath, "first", "second")
    assert [one["what"] for one in told["changes"]] == ["airpath"]
    assert told["metrics"] == []
    assert "no metric differs" in airpath("diff", "first", "second").out


def test_sweeps_are_compared_point_by_point(airpath, folder):
    (folder / "small.toml").write_text(SWEEP)
    assert airpath("sweep", "small.toml", "--out", "first", "--jobs", "1").code == 0
    assert airpath("sweep", "small.toml", "--out", "second", "--jobs", "1").code == 0
    assert airpath("diff", "first", "second").code == 0
    (folder / "small.toml").write_text(SWEEP.replace("5s", "6s"))
    assert airpath("sweep", "small.toml", "--out", "third", "--jobs", "1").code == 0
    told = differences(airpath, "first", "third")
    assert told["changes"] == [{"what": "sweep: set.duration", "first": '"5s"', "second": '"6s"'}]
    assert len({one["scheme"] for one in told["metrics"]}) == 4
    assert {one["pairs"] for one in told["metrics"]} == {2}


def test_errors_have_their_own_exit_code(airpath, kept, folder):
    (folder / "sweep").mkdir()
    (folder / "sweep" / "provenance.json").write_text('{"format": "airpath sweep 1"}')
    (folder / "damaged").mkdir()
    (folder / "empty").mkdir()
    (folder / "file").write_text("")
    (folder / "damaged" / "provenance.json").write_bytes(b"\xff{")
    for other, said in [
        ("nowhere", "nowhere: does not exist"),
        ("file", "file: does not exist"),
        ("empty", "empty contains no airpath results"),
        ("damaged", "cannot read results from damaged"),
        ("sweep", "contains no results of a sweep"),
    ]:
        done = airpath("diff", "first", other)
        assert (done.code, done.out) == (2, "")
        assert said in done.err
        assert len(done.err.splitlines()) == 1
    (kept / "summary.parquet").write_bytes(b"PAR1")
    assert airpath("diff", "first", "first").code == 2
