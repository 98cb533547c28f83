"""`airpath conform`: rules of controllers, and the operations that break them."""

import json

import pytest

from airpath.conform import Examination, processes
from airpath.conform.examination import LISTS
from airpath.plugins import watchdog

DIVIDES = """
    import airpath

    class Divides(airpath.Controller):
        '''Fails at an acknowledgment of two packets.'''

        def on_ack(self, ack):
            self.window += ack.mss / (2 * ack.mss - ack.acked)

        def on_congestion(self, signal):
            self.window = 2 * signal.mss
"""

GREEDY = """
    import airpath

    class Greedy(airpath.Controller):
        '''Grows in recovery.'''

        def on_ack(self, ack):
            if ack.window_limited:
                self.window += ack.mss * ack.acked / self.window

        def on_congestion(self, signal):
            if signal.consecutive <= 1:
                self.before = self.window
            self.window = min(self.window, max(signal.flight_size / 2, 2 * signal.mss))

        def on_spurious(self, now):
            self.window = max(self.window, self.before)
"""


def broken(examined):
    return {one["rule"]: one["lists"] for one in examined["rules"] if one["lists"]}


def test_controllers_of_the_engine_fulfil_every_rule(airpath):
    done = airpath("conform", "newreno", "cubic:beta=0.8", "bbr", "xcp", "--strict", "--json")
    assert done.code == 0
    controllers = json.loads(done.out)["controllers"]
    assert [one["controller"] for one in controllers] == ["newreno", "cubic:beta=0.8", "bbr", "xcp"]
    assert all(one["lists"] == LISTS and not broken(one) for one in controllers)
    assert all(
        len(one["links"]) == 11 and all(link["passed"] for link in one["links"]) for one in controllers
    )
    unbound = [{rule["rule"] for rule in one["rules"] if not rule["binds"]} for one in controllers]
    assert unbound[0] == unbound[1] == set()
    assert "recovery" in unbound[2] & unbound[3]


def test_the_controller_of_airpath_new_fulfils_every_rule(airpath):
    new = airpath("new", "controller", "mine")
    _, check, compare = (line.partition(": ")[2].split() for line in new.out.splitlines())
    assert compare[:3] == ["airpath", "compare", "mine.py:Mine"]
    done = airpath(*check[1:], "--strict", "--json")
    assert done.code == 0
    (examined,) = json.loads(done.out)["controllers"]
    assert not broken(examined)


def test_an_exception_violates_the_interface(airpath, write):
    write("divides.py", DIVIDES)
    done = airpath("conform", "divides.py:Divides", "--json")
    assert done.code == 1
    (examined,) = json.loads(done.out)["controllers"]
    assert "no-error" in broken(examined)
    failing = examined["failing"]
    assert failing["breach"]["message"].endswith("divides.py:8: ZeroDivisionError: division by zero")
    assert "acknowledge" in failing["operations"][-1]
    assert failing["breach"]["operation"] == len(failing["operations"]) - 1 <= 2


def test_a_rule_of_good_sense_fails_only_with_strict(airpath, write):
    write("greedy.py", GREEDY)
    done = airpath("conform", "greedy.py:Greedy")
    assert done.code == 0
    assert "1 of 12 rules of good sense are broken" in done.out
    assert "no growth in recovery (the window grew in recovery" in done.out
    assert airpath("conform", "greedy.py:Greedy", "--strict").code == 1


def test_a_bad_result_on_a_link_fails_only_with_strict(airpath):
    done = airpath("conform", "fixed:window=40 packets")
    assert done.code == 0
    assert "0 of 12 rules of good sense are broken" in done.out
    assert done.out.count("not met") > 2
    assert airpath("conform", "fixed:window=40 packets", "--strict").code == 1


def test_more_lists_are_examined_for_some_minutes(airpath, write):
    write("greedy.py", GREEDY)
    done = airpath("conform", "greedy.py:Greedy", "--fuzz", "0.005", "--seed", "5", "--json")
    assert done.code == 0
    (examined,) = json.loads(done.out)["controllers"]
    assert examined["seed"] == 5
    assert examined["lists"] > 10
    assert "links" not in examined
    assert airpath("conform", "newreno", "--fuzz", "1", "--replay", "some.json").code == 2


def test_a_file_repeats_the_calls_that_broke_a_rule(airpath, write, folder):
    write("greedy.py", GREEDY)
    assert airpath("conform", "greedy.py:Greedy", "--out", "lists").code == 0
    file = "lists/greedy.py-Greedy.json"
    again = airpath("conform", "greedy.py:Greedy", "newreno", "--replay", file, "--strict", "--json")
    assert again.code == 1
    greedy, newreno = json.loads(again.out)["controllers"]
    assert [one["rule"] for one in greedy["breaches"]] == ["recovery"]
    operation = greedy["breaches"][0]["operation"]
    assert operation == len(greedy["steps"]) - 1
    assert greedy["steps"][-1]["window_bytes"] > greedy["steps"][-2]["window_bytes"]
    assert newreno["breaches"] == []
    assert airpath("conform", "greedy.py:Greedy", "--replay", file).code == 0
    content = json.loads((folder / file).read_text())
    content["operations"].append("explode")
    (folder / file).write_text(json.dumps(content))
    refused = airpath("conform", "newreno", "--replay", file)
    assert refused.code == 2
    assert "explode" in refused.err


def test_a_seed_gives_the_same_lists(write):
    write("greedy.py", GREEDY)
    first, again, other = (Examination("greedy.py:Greedy", seed) for seed in (1, 1, 2))
    first.examine(300)
    again.examine(100)
    again.examine(200)
    other.examine(300)
    assert first.verdicts() == again.verdicts() != other.verdicts()
    assert first.shortest("recovery") == again.shortest("recovery")


def test_dependence_on_the_order_of_sets_is_detected(airpath, write):
    text = DIVIDES.replace("self.window += ack.mss / (2 * ack.mss - ack.acked)", "self.window += {}")
    write("ordered.py", text.format("len(next(iter(['a', 'bb', 'ccc'])))"))
    assert airpath("conform", "ordered.py:Divides").code == 0
    write("hashed.py", text.format("len(next(iter({'a', 'bb', 'ccc'})))"))
    done = airpath("conform", "hashed.py:Divides")
    assert done.code == 1
    assert "answers differ between processes" in done.err


def test_a_call_that_does_not_return_ends_the_examination(airpath, write, monkeypatch):
    monkeypatch.setattr(watchdog, "LIMIT_S", 0.2)
    write("stuck.py", DIVIDES.replace("self.window += ack.mss /", "while ack.acked > 2 * ack.mss: pass  #"))
    done = airpath("conform", "stuck.py:Divides")
    assert done.code == 1
    assert "stuck.py:8: NoReturnError" in done.err


def test_other_processes_end_in_time(airpath, monkeypatch):
    monkeypatch.setattr(processes, "LIMIT_S", 0.0)
    assert airpath("new", "controller", "mine").code == 0
    done = airpath("conform", "mine.py:Mine")
    assert done.code == 1
    assert "mine.py:Mine: 100 lists in another process took more than 0 s" in done.err


def test_a_class_declares_the_rules_for_its_window(airpath, write):
    head = "'''Grows in recovery.'''\n"
    write("greedy.py", GREEDY.replace(head, f"{head}        follows = 'model'\n"))
    done = airpath("conform", "greedy.py:Greedy", "--json")
    (examined,) = json.loads(done.out)["controllers"]
    assert "recovery" not in broken(examined)
    assert "recovery" in {rule["rule"] for rule in examined["rules"] if not rule["binds"]}
    write("greedy.py", GREEDY.replace(head, f"{head}        follows = 'bbr'\n"))
    refused = airpath("list", "greedy.py")
    assert refused.code == 2
    assert "greedy.py: Greedy.follows: found 'bbr'; accepted: 'rfc5681', " in refused.err


@pytest.mark.parametrize("scheme", ["kernel:cubic", "agent", "no-such-scheme", "no-such.py:Mine"])
def test_controllers_that_cannot_be_examined_are_named(airpath, scheme):
    done = airpath("conform", scheme)
    assert done.code == 2
    assert scheme.partition(":")[0] in done.err
