"""Requirements of emulations and of the Linux datapath: whether they are met, and how to meet them."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from airpath._backends import BackendName

State = Literal["good", "missing"]

TUN: Final = Path("/dev/net/tun")
BTF: Final = Path("/sys/kernel/btf/vmlinux")
_TRIED_IN_A_PROCESS: Final = """
import sys
from airpath import _core
try:
    _core.become_root_in_user_namespace()
    getattr(_core, sys.argv[1])()
except _core.EmulationFailed as error:
    sys.exit(str(error))
"""


def root() -> tuple[State, str]:
    """Check whether this is root, which has all privileges that emulations need."""
    if os.geteuid() == 0:
        return "good", "this is root"
    return (
        "missing",
        "this is not root; emulations then need user namespaces (next line), BPF programs need root",
    )


def user_namespaces() -> tuple[State, str]:
    """Check whether an ordinary user may create user namespaces."""
    if (found := _number("/proc/sys/user/max_user_namespaces")) == 0:
        return "missing", "switched off: sysctl user.max_user_namespaces=10000"
    if _number("/proc/sys/kernel/unprivileged_userns_clone") == 0:
        return "missing", "for root only: sysctl kernel.unprivileged_userns_clone=1"
    if _number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1:
        return "missing", "restricted: sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    if found is None:
        return "missing", "the kernel has none (CONFIG_USER_NS); use root"
    return "good", "users may make them"


def tun() -> tuple[State, str]:
    """Check whether TUN devices can be created."""
    path = Path(os.environ.get("AIRPATH_TUN", TUN))
    if not path.exists():
        return (
            "missing",
            f"there is no {path}: modprobe tun, or mknod {path} c 10 200; in a container, --device",
        )
    if not os.access(path, os.R_OK | os.W_OK):
        return "missing", f"{path} is not for this user: chmod 0666 {path} (as distributions do), or use root"
    return "good", str(path)


def hosts() -> tuple[State, str]:
    """Check the combination: create two hosts, and remove them."""
    if (refused := _refused("try_emulated_hosts")) is None:
        return "good", "`airpath emulate` works here"
    return "missing", f"`airpath emulate` does not work here: {refused}"


def real_time() -> tuple[State, str]:
    """Check whether the link thread gets real time and its processor; measure its scheduling delay."""
    from airpath import _core

    granted, processor, refused = _core.try_emulation_scheduling()
    pinned = "" if processor is None else f", pinned to processor {processor}"
    kept = f"delayed by others for {_core.held_up(500):.2%} of half a second"
    if granted:
        lacking = f"; not granted: {refused}" if refused else ""
        return "good", f"SCHED_FIFO{pinned}; {kept}{lacking}"
    how = "use root, `setcap cap_sys_nice+ep` on the interpreter, or `ulimit -r 10`"
    return "missing", f"packets will be less punctual ({refused}; {kept}): {how}"


def btf() -> tuple[State, str]:
    """Check whether the kernel describes its types, which BPF programs need."""
    if BTF.exists():
        return "good", str(BTF)
    return "missing", "the kernel has none (CONFIG_DEBUG_INFO_BTF); needed for BPF programs only"


def bpf_tools() -> tuple[State, str]:
    """Check whether BPF programs can be built."""
    return _tools({"clang": "clang", "bpftool": "bpftool"}, "to build BPF programs")


def linux_datapath() -> tuple[State, str]:
    """Check whether backends `datapath` and `routers` work: daemon, root, and kernel features."""
    from airpath._backends.daemon import datapath_lacks, find_daemon

    if lacking := list(datapath_lacks()):
        return "missing", "no backends datapath and routers: " + "; ".join(lacking)
    return "good", f"{find_daemon()}, Linux {platform.release()}, control groups of version 2"


def kernel_queues() -> tuple[State, str]:
    """Check whether the kernel has the queues of backend `routers`: create one, and remove it."""
    if (refused := _refused("try_kernel_router")) is None:
        return "good", "htb, bfifo"
    how = "modprobe sch_htb, or a kernel with CONFIG_NET_SCHED and CONFIG_NET_SCH_HTB"
    return "missing", f"no backend routers: {refused}" + (f": {how}" if "sch_" in refused else "")


def setpriv() -> tuple[State, str]:
    """Check whether daemons of the datapath end if the process that started them is killed."""
    return _tools({"setpriv": "util-linux"}, "without it daemons of the datapath outlive a killed airpath")


def iperf3() -> tuple[State, str]:
    """Check for iperf3, which generates traffic for emulations."""
    return _tools({"iperf3": "iperf3"}, "handy in emulations")


def _refused(attempt: str) -> str | None:
    """Try an operation of the engine in a separate process, as root there; return the refusal."""
    tried = subprocess.run(
        [sys.executable, "-c", _TRIED_IN_A_PROCESS, attempt],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return None if tried.returncode == 0 else " ".join(tried.stderr.split())


def _tools(packages: dict[str, str], purpose: str) -> tuple[State, str]:
    search = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    found = {tool: shutil.which(tool, path=search) for tool in packages}
    if lacking := [packages[tool] for tool, path in found.items() if path is None]:
        return "missing", f"{purpose}: apt-get install {' '.join(lacking)}"
    return "good", ", ".join(str(path) for path in found.values())


def _number(path: str) -> int | None:
    """Return the number in a file of the kernel, if there is one."""
    try:
        return int(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


CHECKS: Final[dict[str, Callable[[], tuple[State, str]]]] = (
    {
        "root": root,
        "user namespaces": user_namespaces,
        "TUN devices": tun,
        "emulated hosts": hosts,
        "real time": real_time,
        "BTF": btf,
        "BPF tools": bpf_tools,
        "Linux datapath": linux_datapath,
        "kernel queues": kernel_queues,
        "setpriv": setpriv,
        "iperf3": iperf3,
    }
    if sys.platform == "linux"
    else {}
)
"""The checks by name; none on systems without emulations."""

_ELSEWHERE: Final = MappingProxyType({} if sys.platform == "linux" else {"emulated hosts": "Linux"})
"""The names of checks on systems without emulations."""


def lacking(good: Collection[str]) -> "dict[BackendName, list[str]]":
    """Return the failed checks that each backend needs, given those that succeeded; none if it can run."""
    from airpath._backends import BACKENDS

    return {
        backend.name: [_ELSEWHERE.get(check, check) for check in backend.needs if check not in good]
        for backend in BACKENDS.values()
    }


def worlds_text(lacks: "Mapping[BackendName, Sequence[str]]") -> str:
    """Return which backends can run, and the checks that explain what the others lack."""
    can = ", ".join(world for world, lacked in lacks.items() if not lacked) or "none"
    rest = [f"{world} lacks {' and '.join(lacked)}" for world, lacked in lacks.items() if lacked]
    return "; ".join([f"{can} can run", *rest])
