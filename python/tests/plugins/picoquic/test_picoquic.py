"""Congestion control files of picoquic: one of ours, and those of picoquic if they are here."""

import os
import shutil
from pathlib import Path

import pytest
from commands import airpath as command
from commands import folder
from compiled import with_compiler

import airpath
from airpath.plugins.compiled.shims import SHIMS
from airpath.plugins.specs import PROGRAMS, Spec

__all__ = ["command", "folder"]

HERE = Path(__file__).parent
OWN = f"picoquic:{HERE / 'own.c'}"
THEIRS = os.environ.get("AIRPATH_PICOQUIC")

pytestmark = with_compiler


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_text_names_its_files():
    spec = Spec.parse("picoquic:a/newreno.c+a/prague.c:algorithm=prague")
    assert (spec.program, spec.files) == ("picoquic", (Path("a/newreno.c"), Path("a/prague.c")))
    assert spec.text == "picoquic:a/newreno.c+a/prague.c:algorithm=prague"
    assert set(PROGRAMS) == set(SHIMS)


@pytest.mark.parametrize("loss", [0.0, 0.02, 0.2])
def test_events_are_in_order_and_their_numbers_possible(loss):
    link = {"rtt": "40ms", "duration": "20s", "warm_up": "5s", "repetitions": 2, "loss": loss}
    results = airpath.compare([OWN, "newreno"], "20mbps", **link)
    ours, theirs = results.summary["utilisation"].to_pylist()[::2]
    assert ours > 0.8 * theirs


def test_faults_name_file_and_line(command):
    text = (HERE / "own.c").read_text()
    Path("own.h").write_text((HERE / "own.h").read_text())
    Path("own.c").write_text(text.replace("own->has_rtt && state->rtt_measurement > 0", "now > 3000000"))
    line = text[: text.index("OWN_REQUIRES(own->has_rtt")].count("\n") + 1
    outcome = command("compare", "picoquic:own.c", "--link", "12mbps", "--duration", "3s", "--reps", "1")
    assert outcome.code == 1
    assert f"on_ack: own.c:{line}: division by zero" in outcome.err
    assert "(own (picoquic), seed 1, at " in outcome.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "picoquic_congestion_algorithm_t *own_algorithm",
            "void *own_algorithm",
            "own.c: found no algorithm",
        ),
        ("calloc(1, sizeof(struct own))", "picoquic_make()", "implicit declaration of function"),
        (
            "free(path->congestion",
            "void gone(void *); gone(path->congestion",
            "it uses gone; name the file that",
        ),
    ],
)
def test_files_that_do_not_fit_are_refused(command, old, new, message):
    text = (HERE / "own.c").read_text()
    assert text.count(old) == 1
    Path("own.h").write_text((HERE / "own.h").read_text())
    Path("own.c").write_text(text.replace(old, new))
    outcome = command("list", "picoquic:own.c")
    assert outcome.code == 2
    assert message in outcome.err


def test_headers_of_picoquic_next_to_the_file_are_not_read(command):
    for name in ("own.c", "own.h"):
        shutil.copy(HERE / name, name)
    Path("picoquic_internal.h").write_text('#error "the real one"\n')
    assert command("list", "picoquic:own.c").code == 0


needs_theirs = pytest.mark.skipif(
    THEIRS is None,
    reason="AIRPATH_PICOQUIC is not set: it names the folder picoquic of a checkout of picoquic",
)


@needs_theirs
@pytest.mark.parametrize(
    "files", ["newreno.c", "cubic.c", "fastcc.c", "bbr1.c", "bbr.c", "c4.c", "newreno.c+prague.c"]
)
def test_unmodified_files_use_a_link(files):
    scheme = "picoquic:" + "+".join(str(Path(THEIRS, file)) for file in files.split("+"))
    results = airpath.compare([scheme], "20mbps", rtt="50ms", duration="20s", warm_up="5s", repetitions=2)
    assert min(results.summary["utilisation"].to_pylist()) > 0.9


@needs_theirs
@pytest.mark.parametrize(
    ("size", "rates", "delay", "seconds"),
    [
        ("10MB", [["0s", "20mbps"]], "40ms", 5.0),
        ("20MB", [["0s", "200mbps"]], "20ms", 1.25),
        ("7MB", [["0s", "5mbps"], ["2500ms", "10mbps"]], "50ms", 7.9),
        ("7MB", [["0s", "10mbps"], ["1500ms", "5mbps"], ["3500ms", "10mbps"]], "50ms", 8.15),
        ("10MB", [["0s", "25mbps"], ["2s", "0bps"], ["4s", "25mbps"]], "35ms", 6.1),
    ],
    ids=["20mbps", "200mbps", "low-and-up", "drop-and-back", "black-hole"],
)
def test_c4_is_as_fast_as_its_authors_accept(size, rates, delay, seconds):
    """`doc/c4-tests.md` and `sim_specs` of private-octopus/c4 (e3377b6), for picoquic's own simulator."""
    rate = rates[0][1] if len(rates) == 1 else {"kind": "steps", "steps": rates}
    bottleneck = {"rate": rate, "delay": delay, "queue": {"kind": "drop-tail", "limit": "80ms"}}
    flow = {"scheme": f"picoquic:{Path(THEIRS, 'c4.c')}", "traffic": {"kind": "file", "size": size}}
    scenario = {
        "name": "c4",
        "duration": "20s",
        "record": {"warm_up": "0s"},
        "topology": {"kind": "dumbbell", "bottleneck": bottleneck, "reverse": {"rate": rate}},
        "flows": [{"name": "transfer", **flow}],
    }
    airpath.allow_code()
    (done,) = airpath.run(airpath.Scenario(scenario), seed=1).table("completions").to_pylist()
    assert done["end_s"] - done["start_s"] < seconds
