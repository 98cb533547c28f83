"""`airpath lint`: exit codes, JSON, the scenario, and refusals."""

import io
import json
import os
import sys
import tomllib

import pytest

GOOD = """ethtool -K eth0 tso off gso off gro off
ethtool -K eth1 tso off gso off gro off
tc qdisc add dev eth0 root netem delay 10ms rate 10mbit limit 40
tc qdisc add dev eth1 root netem delay 10ms rate 10mbit limit 40
"""
BAD = GOOD.replace("rate 10mbit", "rate 10mbps", 1)


@pytest.fixture
def script(folder):
    def write(text, name="setup.sh"):
        (folder / name).write_text(text)
        return name

    return write


def test_exit_codes(airpath, script):
    good, bad = airpath("lint", script(GOOD)), airpath("lint", script(BAD, "bad.sh"))
    assert (good.code, bad.code) == (0, 1)
    assert "0 errors, 0 warnings, 1 note\n" in good.out
    assert "rate-in-bytes" in bad.out
    assert "bad.sh:3 eth0" in bad.out
    assert "80 Mbit/s" in bad.out


def test_json_has_everything_and_nothing_else_is_printed(airpath, script):
    outcome = airpath("lint", script(BAD), "--json", "--scenario", "link.toml")
    read = json.loads(outcome.out)
    assert outcome.code == 1
    assert read["inputs"] == ["setup.sh"]
    assert not read["clean"]
    assert [one["way"] for one in read["amounts"]] == ["eth0", "eth1"]
    assert [one["rate_bps"] for one in read["amounts"]] == [80_000_000, 10_000_000]
    assert {one["level"] for one in read["findings"]} <= {"error", "warning", "note"}
    assert all(one["why"] and one["source"] for one in read["findings"])
    assert read["scenario"] == {"file": "link.toml", "missing": []}


def test_the_written_scenario_is_valid(airpath, script, folder):
    airpath("lint", script(GOOD), "--scenario", "link.toml")
    assert tomllib.loads((folder / "link.toml").read_text())["topology"]["bottleneck"]["delay"] == "10 ms"
    assert airpath("validate", "link.toml").code == 0


def test_several_inputs_are_one_configuration(airpath, script):
    lines = GOOD.splitlines(keepends=True)
    first, second = script("".join(lines[::2]), "a.sh"), script("".join(lines[1::2]), "b.sh")
    assert airpath("lint", first, second).code == 0
    assert "one-direction" in airpath("lint", first).out


def test_standard_input(airpath, monkeypatch):
    screen = b"qdisc netem 1: dev eth0 root refcnt 2 limit 1000 delay 100ms\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(screen)))
    outcome = airpath("lint", "-")
    assert outcome.code == 1
    assert "stdin:1 eth0" in outcome.out


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no tc command"),
        (b"echo hello\n", "no tc command"),
        (b"[{}]", "kind"),
        (b"\xff\xfe", "not text (byte 1)"),
        (b"#" * ((4 << 20) + 1), "more than 4 MiB"),
    ],
)
def test_inputs_that_are_no_configuration_are_rejected(airpath, folder, content, says):
    (folder / "odd").write_bytes(content)
    outcome = airpath("lint", "odd", "--scenario", "link.toml")
    assert outcome.code == 2
    assert outcome.out == ""
    assert says in outcome.err
    assert "odd" in outcome.err
    assert not (folder / "link.toml").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["lint"], "no input"),
        (["lint", "nothing.sh"], "no such file"),
        (["lint", "setup.sh", "--live"], "one of the two"),
        (["lint", "-", "-"], "once"),
        (["lint", "setup.sh", "--scenario", "."], "directory"),
    ],
)
def test_errors_before_any_work(airpath, script, arguments, says):
    script(GOOD)
    outcome = airpath(*arguments)
    assert outcome.code == 2
    assert says in outcome.err


def test_a_configuration_without_a_link_has_no_scenario(airpath, script, folder):
    outcome = airpath("lint", script("tc qdisc add dev eth0 ingress\n"), "--scenario", "link.toml")
    assert outcome.code == 2
    assert "no queueing discipline" in outcome.err
    assert not (folder / "link.toml").exists()


def test_control_characters_in_an_input_do_not_reach_the_terminal(airpath, script):
    outcome = airpath("lint", script("tc qdisc add dev e\x1b[2Jth0 root netem delay $1[bold]\n"))
    assert "\x1b" not in outcome.out
    assert "[bold]" in outcome.out


def test_a_live_system_is_only_read(airpath, folder, monkeypatch):
    # A program in place of tc records its arguments.
    shown = [{"kind": "netem", "handle": "1:", "dev": "eth0", "root": True, "options": {"limit": 1000}}]
    program = folder / "tc"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {folder}/asked\n'
        f"case \"$*\" in *qdisc*) echo '{json.dumps(shown)}';; *) echo '[]';; esac\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    outcome = airpath("lint", "--live")
    assert outcome.code == 0
    assert "netem 1:" in outcome.out
    assert (folder / "asked").read_text().splitlines() == [
        "-json -statistics qdisc show",
        "-json -statistics class show dev eth0",
        "-json -statistics filter show dev eth0",
    ]


def test_an_output_without_configuration(airpath, folder):
    (folder / "screen").write_text("qdisc pfifo_fast 0: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2\n")
    outcome = airpath("lint", "screen")
    assert outcome.code == 0
    assert "no configuration" in outcome.out


def test_errors_of_a_live_system_are_reported(airpath, folder, monkeypatch):
    program = folder / "tc"
    program.write_text("#!/bin/sh\necho 'Cannot open netlink socket' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    outcome = airpath("lint", "--live")
    assert outcome.code == 2
    assert "Cannot open netlink socket" in outcome.err


def test_variables_from_elsewhere(airpath, script):
    text = GOOD.replace("eth0 root netem delay 10ms", "$1 root netem delay ${DELAY:-5ms}")
    assert airpath("lint", script(text)).code == 1
    outcome = airpath("lint", "setup.sh", "--set", "1=eth0", "--set", "DELAY=10ms", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["amounts"][0]["delay_s"] == 0.01
    refused = airpath("lint", "setup.sh", "--set", "eth0")
    assert refused.code == 2
    assert "NAME=VALUE" in refused.err
