"""The options of one link on the command line."""

import json

import pytest

from airpath.links.options import LinkAndFlows, OneLink, options_of

SHORT = ("--duration", "1s", "--jobs", "1")


@pytest.mark.parametrize(
    ("command", "kind"), [("compare", LinkAndFlows), ("rivals", LinkAndFlows), ("emulate", OneLink)]
)
def test_commands_have_every_option(airpath, command, kind):
    text = airpath(command, "--help").out
    for name in options_of(kind):
        assert f"--{name} " in text


def test_the_assumptions_are_the_first_line(airpath):
    done = airpath("compare", "cubic", *SHORT)
    assert done.code == 0
    assert done.out.startswith(
        "network lte (no --link or --network was given): 9 Mbit/s on average, RTT 40 ms"
    )
    assert "out/compare-lte" in done.out
    assert done.err == ""


def test_independent_losses_print_one_hint_about_bursts(airpath):
    hint = "airpath: losses are independent; radio loses in bursts: try --loss 1%:4\n"
    done = airpath("compare", "cubic", "--link", "5mbps", "--loss", "1%", *SHORT)
    assert (done.code, done.err) == (0, hint)
    done = airpath("compare", "cubic", "--link", "5mbps", "--loss", "1%:4", "--json", *SHORT)
    assert (done.code, done.err) == (0, "")
    assert set(json.loads(done.out)["schemes"]) == {"cubic"}


def test_a_rerun_has_the_same_random_samples(airpath):
    options = ("--network", "wifi", "--flows", "2", "--rtt", "20ms..60ms", "--reps", "2")
    assert airpath("compare", "cubic", *options, *SHORT, "--out", "kept").code == 0
    done = airpath("rerun", "kept", "--jobs", "1")
    assert done.code == 0
    assert "byte-equal" in done.out
