"""Runs of controllers in Python files."""

import pytest
from equal_tables import assert_equal

import airpath
from airpath.checks import Suite, check
from airpath.errors import PluginError, UsageError
from airpath.plugins.specs import allow
from airpath.precision import PrecisionRule

LINK = {"rtt": "40ms", "duration": "8s", "repetitions": 1}

FIXED = """
    import airpath

    class Fixed(airpath.Controller):
        packets: int = 40

        def start(self, facts):
            self.window = self.packets * facts.mss

        def on_ack(self, ack):
            pass

        def on_congestion(self, signal):
            pass
"""

SEEN = """
    import airpath

    class Seen(airpath.Controller):
        events = []

        def start(self, facts):
            self.draw = self.random.random()
            self.note("start", facts.mss, facts.initial_window, facts.handshake_rtt)

        def note(self, *event):
            self.events.append(event)

        def on_sent(self, sent):
            self.note("sent", sent.now, sent.payload, sent.retransmission, sent.app_limited, sent.in_flight)

        def on_ack(self, ack):
            self.window = 1e5
            self.pacing_rate = 9e6
            self.record("seen_draw", self.draw)
            type(self).last = ack
            names = [name for name in dir(ack) if not name.startswith("_")]
            self.note("ack", {name: getattr(ack, name) for name in names})
            if self.next_timer is None:
                self.next_timer = ack.now + 0.25

        def on_congestion(self, signal):
            names = [name for name in dir(signal) if not name.startswith("_")]
            self.note("signal", {name: getattr(signal, name) for name in names})

        def on_timer(self, now):
            self.note("timer", now, self.next_timer)
"""


def test_the_same_controller_in_python_and_in_the_engine_produces_the_same_tables(write):
    write("fixed.py", FIXED)
    schemes = ["fixed.py:Fixed", "fixed:window=40 packets"]
    assert_equal(*(airpath.compare([scheme], "12mbps", **LINK) for scheme in schemes))


def test_inputs_and_return_values_of_a_controller(write):
    write("seen.py", SEEN)
    results = airpath.compare(["seen.py:Seen"], "10mbps", loss="1%", **LINK)
    from airpath.plugins.loading import loaded_plugins

    (plugin,) = loaded_plugins(["seen.py:Seen"])
    events = plugin.made_by.component.events
    assert events[0][:3] == ("start", 1448, 14480)
    times = [event[1] if event[0] in ("sent", "timer") else event[1]["now"] for event in events[1:]]
    assert times == sorted(times)
    acks = [event[1] for event in events if event[0] == "ack"]
    assert all(0.039 < ack["rtt"] < 0.2 for ack in acks if ack["rtt"] is not None)
    assert all(ack["minimum_rtt"] <= ack["smoothed_rtt"] for ack in acks if ack["smoothed_rtt"] is not None)
    assert acks[-1]["now_ns"] == round(acks[-1]["now"] * 1e9)
    sent = [event for event in events if event[0] == "sent"]
    assert sum(ack["acked"] for ack in acks) <= sum(payload for _, _, payload, *_ in sent)
    assert any(retransmission for _, _, _, retransmission, *_ in sent)
    signals = [event[1] for event in events if event[0] == "signal"]
    assert {signal["kind"] for signal in signals} <= {"loss", "timeout"}
    timers = [event for event in events if event[0] == "timer"]
    assert timers
    assert all(next_timer is None for _, _, next_timer in timers)
    # The window and the rate of the controller apply: at most 9 Mbit/s of payload.
    flows = results.table("flow_series")
    assert max(flows["cwnd_bytes"].to_pylist()) == 1e5
    assert max(flows["pacing_rate_bps"].to_pylist()) == 9e6
    assert max(flows["sent_bytes"].to_pylist()[5:]) <= 1.1 * 9e6 * 0.1 / 8
    observed = results.table("flow_observations")
    assert set(observed["quantity"].to_pylist()) == {"seen_draw"}
    assert 0 < observed["value"][0].as_py() < 1
    with pytest.raises(RuntimeError, match="valid only during the call"):
        _ = plugin.made_by.component.last.acked


@pytest.mark.parametrize("world", ["sim", "quic"])
def test_runs_do_not_depend_on_the_number_of_jobs(aimd, world):
    schemes = [aimd, f"{aimd}:keep=0.8", "newreno"]
    options = {**LINK, "repetitions": 2, "world": world}
    first, second = (airpath.compare(schemes, "12mbps", **options, jobs=jobs) for jobs in (1, 3))
    assert_equal(first, second)


def test_random_numbers_follow_from_the_seed(write):
    write(
        "draws.py", FIXED.replace("self.packets * facts.mss", "facts.mss * (10 + 50 * self.random.random())")
    )
    first, second, third = (
        airpath.compare(["draws.py:Fixed"], "12mbps", **LINK, seed=seed) for seed in (1, 1, 2)
    )
    assert_equal(first, second)
    last = [results.table("flow_series")["cwnd_bytes"][-1] for results in (first, third)]
    assert last[0] != last[1]


def test_a_failing_run_ends_alone(aimd, write):
    write(
        "broken.py",
        "import airpath\nclass Broken(airpath.Controller):\n"
        "    def on_ack(self, ack):\n        ack.acked / 0\n    def on_congestion(self, signal): pass\n",
    )
    with pytest.raises(PluginError) as failed:
        airpath.compare([aimd, "broken.py:Broken"], "12mbps", **{**LINK, "repetitions": 2})
    first, second = str(failed.value).splitlines()
    assert "broken.py:4: ZeroDivisionError: division by zero (Broken, seed 1, at " in first
    assert "seed 2" in second
    assert [(run.record.scheme, run.record.seed) for run in failed.value.results.runs] == [
        ("Aimd", 1),
        ("Aimd", 2),
    ]


LATE = """
    import airpath

    class Late(airpath.Controller):
        connections = 0

        def start(self, facts):
            Late.connections += 1
            if Late.connections > 3:
                raise RuntimeError("enough")

        def on_ack(self, ack):
            pass

        def on_congestion(self, signal):
            pass
"""


def test_finished_runs_are_kept_when_more_repetitions_fail(write):
    write("late.py", LATE)
    rule = PrecisionRule(1e-9, min_repetitions=2, max_repetitions=64)
    with pytest.raises(PluginError) as failed:
        airpath.compare(["late.py:Late"], "12mbps", duration="3s", loss="1%", until=rule, jobs=1)
    # The second step asks for more repetitions than the class allows.
    repetitions = [run.record.repetition for run in failed.value.results.runs]
    assert repetitions == list(range(len(repetitions)))
    assert len(repetitions) >= 2


FAULTS = {
    "self.window = -1": "after on_ack, window is -1; accepted: 1 to 1073741824",
    "self.window = 0": "after on_ack, window is 0; accepted: 1 to 1073741824",
    "self.window *= 2": "after on_ack, window is ",
    "self.window = float('nan')": "after on_ack, window is NaN",
    "self.window = 'much'": "faults.py:5: TypeError: must be real number, not str",
    "self.pacing_rate = 0": "after on_ack, pacing_rate is 0; accepted: 1 to 1000000000000000",
    "self.quantum = -5": "after on_ack, quantum is -5; accepted: 1 to 1073741824",
    "self.next_timer = ack.now / 2": "in the past: it is ",
    "self.next_timer = ack.now": "next_timer is set, but there is no method on_timer",
    "self.record('my window', 1)": 'faults.py:5: ValueError: found the quantity "my window"',
    "raise SystemExit(3)": "faults.py:5: SystemExit: 3",
    "self.missing": "faults.py:5: AttributeError: 'Faulty' object has no attribute 'missing'",
}


@pytest.mark.parametrize("line", FAULTS)
def test_an_invalid_return_value_ends_the_run_with_one_line(write, line):
    write(
        "faults.py",
        f"import airpath\nclass Faulty(airpath.Controller):\n    n = 0\n"
        f"    def on_ack(self, ack):\n        {line}\n    def on_congestion(self, signal): pass\n",
    )
    with pytest.raises(PluginError) as failed:
        airpath.compare(["faults.py:Faulty"], "12mbps", **LINK)
    assert FAULTS[line] in str(failed.value)
    assert len(str(failed.value).splitlines()) == 1


def test_a_timer_that_never_advances_is_detected(write):
    write(
        "zeno.py",
        FIXED.replace("pass", "self.next_timer = ack.now", 1)
        + "\n        def on_timer(self, now):\n            self.next_timer = now\n",
    )
    with pytest.raises(PluginError, match="for the 1001th time"):
        airpath.compare(["zeno.py:Fixed"], "12mbps", **LINK)


def test_failures_to_start_are_reported(write):
    write("start.py", FIXED.replace("self.packets * facts.mss", "1 / 0"))
    write("missing.py", FIXED.replace("on_congestion", "on_loss"))
    with pytest.raises(PluginError, match=r"start.py:8: ZeroDivisionError: division by zero \(Fixed"):
        airpath.compare(["start.py:Fixed"], "12mbps", **LINK)
    with pytest.raises(UsageError, match=r"missing.py: Fixed has no method on_congestion"):
        airpath.compare(["missing.py:Fixed"], "12mbps", **LINK)


@pytest.mark.parametrize("traffic", ["repeated", "arrivals"])
def test_a_later_connection_that_cannot_start_ends_the_run(write, traffic):
    write("late.py", LATE)
    times = {"repeated": {"pause": "100ms"}, "arrivals": {"mean_interval": "200ms"}}
    link = {"kind": "dumbbell", "bottleneck": {"rate": "10mbps", "delay": "10ms"}}
    flow = {
        "name": "files",
        "scheme": "late.py:Late",
        "traffic": {"kind": traffic, "size": "50kB", **times[traffic]},
    }
    with pytest.raises(PluginError, match=r"RuntimeError: enough \(Late, seed 1, at its start"):
        airpath.run({"name": "late", "duration": "5s", "topology": link, "flows": [flow]})


def test_a_call_that_does_not_return_is_ended(write, monkeypatch):
    from airpath.plugins import watchdog

    monkeypatch.setattr(watchdog, "LIMIT_S", 0.01)
    write("endless.py", FIXED.replace("pass", "\n                while True:\n                    pass", 1))
    with pytest.raises(PluginError, match="NoReturnError: the call did not return"):
        airpath.compare(["endless.py:Fixed"], "12mbps", **LINK)


def test_a_suite_runs_code_with_permission_only(aimd, write):
    case = 'name = "one"\nlink = "12mbps"\nduration = "2s"\nexpect.utilisation = { at_least = 0.5 }\n'
    head = 'name = "own"\ntitle = "own"\ndescription = "Own."\n'
    write("suite.toml", f'{head}scheme = "{aimd}"\n[[cases]]\n{case}')
    with pytest.raises(UsageError, match="--allow-code"):
        Suite.load("suite.toml")
    allow([aimd])
    assert Suite.load("suite.toml").cases[0].scheme == "Aimd"


def test_a_failing_controller_fails_its_case_only(write):
    write("late.py", FIXED.replace("pass", "1 / 0", 1))
    case = 'link = "12mbps"\nduration = "2s"\nexpect.utilisation = { at_least = 0.5 }\n'
    write(
        "suite.toml",
        'name = "two"\ntitle = "two"\ndescription = "Two cases."\nscheme = "cubic"\nrepetitions = 2\n'
        f'[[cases]]\nname = "fails"\nscheme = "late.py:Fixed"\n{case}[[cases]]\nname = "passes"\n{case}',
    )
    allow(["late.py:Fixed"])
    checked = check(Suite.load("suite.toml"), progress=False)
    assert [one.passed for one in checked.cases] == [False, True]
    assert "late.py:11: ZeroDivisionError: division by zero (Fixed, seed" in checked.cases[0].judged[0].remark
