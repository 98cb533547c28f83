"""`airpath doctor` on backends: which can run, and how to get what the others lack."""

import json
import sys

import pytest

from airpath import _core
from airpath._backends import BACKENDS
from airpath.cli import doctor, doctor_emulation
from airpath.cli.doctor_emulation import lacking, worlds_text

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="emulations need Linux")


def test_a_backend_runs_if_all_its_requirements_are_met() -> None:
    checks = ["engine", "emulated hosts", "Linux datapath", "kernel queues"]
    assert not any(lacking(checks).values())
    assert worlds_text(lacking(checks)) == "sim, quic, emulate, datapath, routers can run"
    without = lacking(["engine", "emulated hosts", "kernel queues"])
    assert without == {
        "sim": [],
        "quic": [],
        "emulate": [],
        "datapath": ["Linux datapath"],
        "routers": ["Linux datapath"],
    }
    assert worlds_text(lacking(["engine", "emulated hosts"])) == (
        "sim, quic, emulate can run; datapath lacks Linux datapath;"
        " routers lacks Linux datapath and kernel queues"
    )
    assert worlds_text(lacking([])).startswith("none can run; sim lacks engine; quic lacks engine; ")


def test_backends_require_existing_checks() -> None:
    needed = {check for backend in BACKENDS.values() for check in backend.needs}
    assert needed <= set(doctor.CHECKS)


@pytest.mark.parametrize("state", ["good", "missing"])
def test_backends_follow_from_the_checks(airpath, monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    for name in doctor_emulation.CHECKS:
        monkeypatch.setitem(doctor.CHECKS, name, lambda: ("good", ""))
    monkeypatch.setitem(doctor.CHECKS, "kernel queues", lambda: (state, "modprobe sch_htb"))
    outcome = airpath("doctor", "--json")
    assert outcome.code == 0, "what emulations lack breaks nothing"
    told = json.loads(outcome.out)
    routers = ["routers"] if state == "good" else []
    assert told["worlds"] == ["sim", "quic", "emulate", "datapath", *routers]
    (check,) = (check for check in told["checks"] if check["name"] == "worlds")
    assert check["state"] == state
    assert ("routers lacks kernel queues" in check["detail"]) == (state == "missing")


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        ("a queue of the kernel (sch_htb): No such file or directory", "modprobe sch_htb, or a kernel"),
        ("opening /dev/net/tun: No such file or directory", "/dev/net/tun: No such file or directory"),
    ],
)
def test_a_kernel_without_the_queues_gets_instructions(
    monkeypatch: pytest.MonkeyPatch, refused: str, expected: str
) -> None:
    monkeypatch.setattr(doctor_emulation, "_refused", lambda _: refused)
    state, detail = doctor_emulation.kernel_queues()
    assert state == "missing"
    assert detail.startswith(f"no backend routers: {refused}")
    assert detail.endswith(expected) or expected in detail


def test_setpriv_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda tool, **_: f"/usr/bin/{tool}")
    assert doctor_emulation.setpriv() == ("good", "/usr/bin/setpriv")
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    state, detail = doctor_emulation.setpriv()
    assert state == "missing"
    assert "outlive a killed airpath" in detail
    assert detail.endswith("apt-get install util-linux")


@pytest.mark.usefixtures("emulated_hosts")
def test_the_finding_is_the_error_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        _core.try_kernel_router()
    except _core.EmulationFailed as error:
        pytest.skip(str(error))
    assert doctor_emulation.kernel_queues() == ("good", "htb, bfifo")
    monkeypatch.setattr(
        doctor_emulation,
        "_TRIED_IN_A_PROCESS",
        "import sys; sys.exit('a queue of the kernel (sch_htb):\\nnot there')",
    )
    state, detail = doctor_emulation.kernel_queues()
    assert state == "missing"
    assert "a queue of the kernel (sch_htb): not there: modprobe" in detail
