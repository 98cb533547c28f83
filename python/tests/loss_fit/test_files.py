"""`airpath fit` on files: what is read, refused with which message, and printed for pasting."""

import json
import os
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import airpath
from airpath.cli import main
from airpath.errors import AirpathError, FitError, UsageError
from airpath.scenario import Scenario

RECORDINGS = os.environ.get("AIRPATH_CAPTURES", "")


@pytest.fixture
def bursts():
    """Return 20 000 packets of a chain with p = 0.01 and q = 0.2, sampled by its geometric times."""
    random = np.random.default_rng(3)
    lengths = np.column_stack([random.geometric(0.01, 300), random.geometric(0.2, 300)]).ravel()
    return np.repeat(np.tile([False, True], 300), lengths)[:20_000]


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_line_of_digits_one_digit_per_line_and_a_table_are_equivalent(tmp_path, bursts):
    digits = ["1" if one else "0" for one in bursts]
    (given,) = airpath.fit(bursts)
    texts = {
        "plain": "# recorded in a train\n" + "".join(digits),
        "lines": "\n".join(digits) + "\n",
        "table": "Lost\n" + "\n".join("true" if one == "1" else "false" for one in digits),
    }
    for name, text in texts.items():
        (found,) = airpath.fit(written(tmp_path / name, text))
        assert found.gilbert == given.gilbert
        assert (found.count, found.lost, found.bursts) == (20_000, bursts.sum(), given.bursts)
        assert found.in_time is None
    milliseconds = "time_ms,lost\n" + "\n".join(f"{5 * k},{one}" for k, one in enumerate(digits))
    (timed,) = airpath.fit(written(tmp_path / "timed.csv", milliseconds))
    assert timed.gilbert == given.gilbert
    # Bursts of 5 packets, 5 ms apart, on average; a chain in time that is observed at its steps.
    assert timed.in_time.mean_loss.value == pytest.approx(given.gilbert.mean_loss.value, rel=0.02)
    stay = 1 - timed.gilbert.leave_bad.value - timed.gilbert.leave_good.value
    rate = -np.log(stay) / 0.005
    share_good = 1 - timed.in_time.mean_loss.value
    assert timed.in_time.mean_burst_s.value == pytest.approx(1 / (rate * share_good), rel=1e-3)


def test_a_line_of_digits_may_be_long(tmp_path, bursts):
    (found,) = airpath.fit(written(tmp_path / "long", "".join("01"[int(one)] for one in bursts) * 10))
    assert found.count == 200_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x" * 200_000, "line 1: found"),
        ('lost\n"0\nx\n', 'line 3: lost: found "x"'),
        ("time_s,lost\n0,1\n" + "9" * 200_000 + ",1\n", "line 3: found 0 columns; accepted: 2"),
    ],
    ids=["no table", "a quotation mark", "a long cell"],
)
def test_invalid_lines_are_rejected_by_number(tmp_path, text, said):
    with pytest.raises(FitError, match=said):
        airpath.fit(written(tmp_path / "odd.csv", text))


def test_the_printed_model_can_be_pasted(bursts):
    (found,) = airpath.fit(bursts)
    loss = tomllib.loads(found.toml)["loss"]
    plan = Scenario.load("satellite").override({"topology.bottleneck.loss": loss}).plan()
    chain = plan["links"][0]["bursts"]
    assert chain["mean_loss"] == pytest.approx(found.gilbert.mean_loss.value)
    assert 1 / chain["mean_burst"] == pytest.approx(found.gilbert.leave_bad.value)
    numbers = [float(word.rstrip("%")) / 100 for word in found.netem.split()[2:]]
    expected = [found.gilbert.leave_good.value, found.gilbert.leave_bad.value, 1.0, 0.0]
    assert numbers == pytest.approx(expected, rel=1e-5)


def test_a_chain_in_time_whose_states_are_too_short_for_a_scenario_is_not_offered(tmp_path, bursts):
    # Packets 0.01 us apart: losses last 50 ns on average, and scenarios accept states of 1 us and more.
    rows = "\n".join(f"{number / 100:.2f},{int(one)}" for number, one in enumerate(bursts))
    (found,) = airpath.fit(written(tmp_path / "fast.csv", "time_us,lost\n" + rows))
    assert found.in_time.mean_burst_s.value == pytest.approx(50e-9, rel=0.2)
    assert found.toml_in_time is None


def test_a_general_chain_and_one_in_time_can_be_pasted_too(tmp_path):
    random = np.random.default_rng(4)
    lengths = np.column_stack([random.geometric(0.01, 200), random.geometric(0.03, 200)]).ravel()
    bad = np.repeat(np.tile([False, True], 200), lengths)
    lost = random.random(len(bad)) < np.where(bad, 0.5, 0.002)
    rows = "\n".join(f"{k * 0.001:.3f},{int(one)}" for k, one in enumerate(lost))
    (found,) = airpath.fit(written(tmp_path / "losses.csv", f"time_s,lost\n{rows}"))
    assert found.general_is_better
    for line in (found.toml, found.toml_in_time):
        loss = tomllib.loads(line)["loss"]
        Scenario.load("satellite").override({"topology.bottleneck.loss": loss}).plan()
    assert tomllib.loads(found.toml)["loss"]["eps_bad"] == pytest.approx(found.general.loss_bad.value)


def test_the_command_prints_text_or_json(tmp_path, bursts, capsys):
    file = written(tmp_path / "losses", "".join("1" if one else "0" for one in bursts))
    assert run("fit", str(file)) == 0
    said = capsys.readouterr().out
    assert 'loss = { kind = "gilbert", mean_loss = ' in said
    assert "netem:  loss gemodel " in said
    assert run("fit", str(file), "--json", "--confidence", "0.99") == 0
    content = json.loads(capsys.readouterr().out)
    (fit,) = content["fits"]
    assert content["confidence"] == 0.99
    assert fit["gilbert"]["leave_bad"]["low"] < 0.2 < fit["gilbert"]["leave_bad"]["high"]
    assert fit["in_time"] is None


def run(*arguments):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return left.value.code


def test_a_flow_of_a_capture_shows_what_its_link_lost(tmp_path):
    loss = {"kind": "gilbert", "mean_loss": 0.02, "mean_burst": 3.0}
    scenario = Scenario.load("satellite-bursts-packet").override(
        {
            "topology.bottleneck.loss": loss,
            "topology.bottleneck.delay": "10ms",
            "topology.bottleneck.queue.limit": "4000 packets",
            "duration": "60s",
            "record.interval": "1s",
            "record.capture": ["bottleneck"],
            "repetitions": 1,
        }
    )
    results = airpath.run(scenario)
    capture = tmp_path / "one.pcapng"
    capture.write_bytes(results.runs[0].record.capture)
    # One random sample: an interval that contains the truth 999 times in 1000.
    (found,) = airpath.fit(capture, confidence=0.999)
    flow = results.table("flows").to_pylist()[0]
    # Each loss was detected by its retransmission, also losses of retransmissions.
    assert found.lost == flow["lost_packets"] > 300
    assert found.gilbert.mean_loss.low < 0.02 < found.gilbert.mean_loss.high
    assert found.gilbert.mean_burst.low < 3.0 < found.gilbert.mean_burst.high
    assert found.independence.p < 1e-6
    assert found.ended_early == ""
    with pytest.raises(UsageError, match=r": flow: found 7; accepted: the number 1, or a part of"):
        airpath.fit(capture, flow=["7"])


def test_a_capture_with_trailing_garbage_is_fitted_up_to_it_with_a_message(tmp_path, capsys):
    scenario = Scenario.load("satellite-bursts-packet").override(
        {"duration": "20s", "record.interval": "1s", "record.capture": ["bottleneck"], "repetitions": 1}
    )
    whole = airpath.run(scenario).runs[0].record.capture
    half = len(whole) // 2
    capture = tmp_path / "mid.pcapng"
    capture.write_bytes(whole[:half] + bytes([0xAB]) * 5000)
    said = re.compile(r"reading ended after (\d+) bytes: ")
    for command in (["fit"], ["estimate", "--out", str(tmp_path / "out"), "--estimator", "samples"]):
        assert run(*command, str(capture), "--json") == 0
        printed = capsys.readouterr()
        until = int(said.search(printed.err).group(1))
        assert half - 200 < until <= half
    assert run("fit", str(capture), "--json") == 0
    ended = json.loads(capsys.readouterr().out)["fits"][0]["ended_early"]
    assert said.match(ended).group(1) == str(until)
    capture.write_bytes(whole[:700])
    with pytest.raises(FitError, match=r"mid.pcapng: .*; reading ended after \d+ bytes: "):
        airpath.fit(capture)


def test_outages_of_a_trace_are_steps_without_an_opportunity(tmp_path):
    # 20 opportunities, one in each of 20 ms, then 30 ms of silence, repeatedly.
    instants = [50 * cycle + k for cycle in range(400) for k in range(1, 21)]
    trace = written(tmp_path / "cell.down", "\n".join(map(str, [*instants, 20_000])) + "\n")
    (found,) = airpath.fit(trace, step="10ms")
    assert found.unit == "steps"
    assert found.step_ns == 10_000_000
    # A step includes the opportunity at its end: 3 of 5 are silent.
    assert found.gilbert.mean_loss.value == pytest.approx(3 / 5, abs=0.01)
    assert found.gilbert.mean_burst.value == pytest.approx(3.0, abs=0.01)
    assert found.netem is None
    (by_itself,) = airpath.fit(trace)
    # 400 cycles of 20 opportunities in 20 s: ten in 25 ms.
    assert by_itself.step_ns == 25_000_000


def test_the_last_step_of_a_trace_counts_when_it_is_whole(tmp_path):
    # Ten steps of 10 ms; the last step has the last opportunity; at 30 ms the last step is cut short.
    trace = written(tmp_path / "cell.down", "\n".join(map(str, [10, 40, 50, 70, 80, 100])) + "\n")
    (found,) = airpath.fit(trace, step="10ms")
    (same,) = airpath.fit(written(tmp_path / "losses", "0110010010"))
    assert (found.count, found.lost, found.bursts) == (10, 4, 3) == (same.count, same.lost, same.bursts)
    assert found.gilbert == same.gilbert
    with pytest.raises(FitError, match="none of 3 steps"):
        airpath.fit(trace, step="30ms")


def test_names_of_columns_may_be_quoted(tmp_path):
    rows = "".join(f"{time},{int(time % 3 == 0)}\n" for time in range(27))
    (plain,) = airpath.fit(written(tmp_path / "plain.csv", f"time_s,lost\n{rows}"))
    (quoted,) = airpath.fit(written(tmp_path / "quoted.csv", f'"time_s","lost"\n{rows}'))
    assert (quoted.count, quoted.lost) == (plain.count, plain.lost) == (27, 9)


ACCEPTED = "accepted: a capture, a trace of losses (0 and 1, or a table with a column lost), a trace of"
REFUSED = {
    "no file": (None, {}, "there is no such file"),
    "empty": ("", {}, "is empty"),
    "nothing lost": ("0" * 100, {}, "none of 100 packets was lost"),
    "everything lost": ("1" * 100, {}, "tell no chain"),
    "one packet": ("0", {}, "fewer than two packets"),
    "no word of losses": ("lost\n0\nmaybe\n", {}, 'line 3: lost: found "maybe"; accepted: 0, 1, false, true'),
    "columns": ("time_s,lost\n0,1\n5\n", {}, "line 3: found 1 columns; accepted: 2"),
    "no time": ("time_s,lost\n0,1\nnoon,0\n", {}, 'line 3: time_s: found "noon"; accepted: a number'),
    "back in time": ("time_s,lost\n5,1\n4,0\n", {}, "line 3: time_s: earlier than the line before"),
    "a log of rates": (
        "time_s,rate_mbps\n0,5\n1,6\n",
        {},
        "has no losses; accepted: a capture, a trace of losses",
    ),
    "prose": ("all is well\n", {}, f'line 1: found "all is well"; {ACCEPTED}'),
    "neither lost nor not": ("0 1 0 0 1 2 0\n", {}, f'line 1: found "0 1 0 0 1 2 0"; {ACCEPTED}'),
    "a later line": ("# home\n0 1 0\n0 x\n", {}, f'line 3: found "0 x"; {ACCEPTED}'),
    "a word among lines": ("0\n1\nlost\n", {}, f'line 3: found "lost"; {ACCEPTED}'),
    "a misspelt column": ("time_s,lst\n0,1\n", {}, f'line 1: found "time_s,lst"; {ACCEPTED}'),
    "semicolons": ("lost;time_s\n0;1\n", {}, f'line 1: found "lost;time_s"; {ACCEPTED}'),
    "opportunities back in time": ("5\n3\n", {}, "line 2: found `3`; accepted: an integer not below"),
    "flows of a trace": ("0110100", {"flow": ["1"]}, "only captures have flows"),
    "steps of packets": ("0110100", {"step": "5ms"}, "only traces of delivery opportunities have steps"),
    "a step too short": ("0\n10\n20\n", {"step": "10us"}, "at least 1 ms"),
    "confidence": ("0110100", {"confidence": 95}, "confidence: found 95; accepted: from 0.5 to below 1"),
}


@pytest.mark.parametrize(("text", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_one_clear_message(tmp_path, text, options, message):
    file = tmp_path / "prose"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(AirpathError) as caught:
        airpath.fit(file, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_not_text_are_reported_as_such(tmp_path):
    file = tmp_path / "garbage"
    file.write_bytes(bytes(range(128, 256)))
    with pytest.raises(FitError, match=re.escape(f"garbage: found bytes that are not text; {ACCEPTED}")):
        airpath.fit(file)


def test_other_sequences_are_rejected():
    with pytest.raises(FitError, match="accepted: a sequence of 0"):
        airpath.fit([0, 1, 2])


@pytest.mark.skipif(not RECORDINGS, reason="AIRPATH_CAPTURES does not name a folder of captures")
def test_recorded_captures_yield_a_chain_or_one_message():
    files = [
        file
        for file in Path(RECORDINGS).iterdir()
        if file.name.removesuffix(".gz").endswith((".pcap", ".pcapng", ".dmp"))
    ]
    assert files
    said = [found_or_refused(file) for file in files]
    assert any(isinstance(one, tuple) for one in said)
    for file, one in zip(files, said, strict=True):
        if isinstance(one, tuple):
            assert all(bool(fit.missing) != (fit.gilbert is not None) for fit in one)
        else:
            assert one.startswith(str(file))
            assert "\n" not in one


def found_or_refused(file):
    """Return the fit, or the reason why there is none."""
    try:
        return airpath.fit(file)
    except AirpathError as error:
        return str(error)
