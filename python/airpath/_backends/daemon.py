"""The daemons of the Linux datapath, and what this system lacks to start them."""

import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

from airpath._backends.kernel_routers import KernelRouter
from airpath.errors import EmulationError

DAEMON: Final = "airpathd"
"""The daemon that loads airpath's controllers into the kernel."""

BTF: Final = Path("/sys/kernel/btf/vmlinux")
"""The kernel's description of its own types, which our programs need."""

RELEASE: Final = Path("/proc/sys/kernel/osrelease")
MOUNTS: Final = Path("/proc/self/mounts")
OLDEST_KERNEL: Final = (6, 10)
"""Since this version the kernel notifies controllers of each acknowledgment."""

READY_WITHIN_S: Final = 30.0
STOPPED_WITHIN_S: Final = 5.0


def find_daemon() -> Path | None:
    """Return the path of the daemon: that of AIRPATHD, on the PATH, or in the build directory of a checkout.

    In a checkout it is the newest build, because another may be older than the sources.
    """
    if named := os.environ.get("AIRPATHD"):
        return Path(named) if Path(named).is_file() else None
    if found := shutil.which(DAEMON):
        return Path(found)
    builds = Path(__file__).parents[3] / "target"
    found_builds = [path for kind in ("release", "debug") if (path := builds / kind / DAEMON).is_file()]
    return max(found_builds, key=lambda path: path.stat().st_mtime, default=None)


def datapath_missing() -> str | None:
    """Return the first thing that this system lacks for the datapath; `None` if it can be started."""
    return next(datapath_lacks(), None)


def datapath_lacks() -> Iterator[str]:
    """Yield everything that this system lacks for the datapath, and how to get it."""
    if find_daemon() is None:
        yield f"the daemon {DAEMON} is not built (`make datapath`)"
    if os.geteuid() != 0:
        yield f"{DAEMON} needs root"
    if not BTF.exists():
        yield f"this kernel tells nothing of its types ({BTF} is missing: CONFIG_DEBUG_INFO_BTF is off)"
    release = RELEASE.read_text(encoding="ascii").strip() if RELEASE.exists() else ""
    # A version that cannot be parsed is assumed to be new enough.
    version = tuple(int(number) for number in re.findall(r"\d+", release)[:2])
    if len(version) == 2 and version < OLDEST_KERNEL:
        yield f"controllers need Linux {OLDEST_KERNEL[0]}.{OLDEST_KERNEL[1]} or newer; this is {release}"
    if not _cgroup_roots():
        yield "control groups of version 2 are not mounted (mount -t cgroup2 none /sys/fs/cgroup)"


class Daemon:
    """One daemon. When it ends, the kernel removes everything that it attached."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._errors: IO[str] | None = None
        self.end: dict[str, Any] = {}
        """Its last message, which contains its counters."""
        self.died = False
        """Whether it ended before it was stopped."""

    def start(self, arguments: Sequence[str]) -> None:
        """Start the daemon, and wait until it has attached everything.

        Raises
        ------
        EmulationError
            If the daemon cannot be started; the text is its message.
        """
        daemon = find_daemon()
        if daemon is None:
            raise EmulationError(datapath_missing() or f"there is no {DAEMON}")
        command = [*_while_we_live(), str(daemon), *arguments]
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by stop
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._errors, text=True
            )
        except OSError as error:
            raise EmulationError(f"{daemon}: {error.strerror or error}") from None
        if not self._said("ready", READY_WITHIN_S):
            self._errors.seek(0)
            text = self._errors.read().strip() or "it said nothing"
            self.stop()
            raise EmulationError(f"{DAEMON} did not start: {text}")

    def stop(self) -> None:
        """Stop the daemon, and wait until it has ended."""
        if self._process is not None:
            self.died = self._process.poll() is not None
            self._process.terminate()
            self._said("end", STOPPED_WITHIN_S)
            try:
                self._process.wait(STOPPED_WITHIN_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def _said(self, event: str, within_s: float) -> bool:
        """Wait for an event of the daemon, a line of JSON. Return whether it came in time."""
        process, until = self._process, time.monotonic() + within_s
        if process is None or process.stdout is None:
            return False
        while (left := until - time.monotonic()) > 0:
            if not select.select([process.stdout], [], [], left)[0]:
                return False
            line = process.stdout.readline()
            if not line:
                return False
            said = json.loads(line) if line.startswith("{") else {}
            if said.get("event") == event:
                self.end = said if event == "end" else self.end
                return True
        return False


class Datapath:
    """The daemons of one emulation: one for its hosts, and one for each of its routers of the kernel."""

    def __init__(self, routers: Sequence[KernelRouter] = ()) -> None:
        self._routers = {router.link: router for router in routers}
        self._daemons: list[Daemon] = []

    def start(
        self,
        namespaces: Sequence[os.PathLike[str]],
        device: str,
        routers: Sequence[tuple[int, os.PathLike[str]]],
    ) -> None:
        """Load the controllers for the hosts, and attach the routers.

        Parameters
        ----------
        namespaces
            The files of the hosts' network namespaces.
        device
            The name of the device in each namespace.
        routers
            The link of each router, and the file of its network namespace.

        Raises
        ------
        EmulationError
            If a daemon cannot be started; the text is its message.
        """
        hosts = ["host", "--cgroup", str(_own_cgroup())]
        for namespace in namespaces:
            hosts += ["--device", f"{os.fspath(namespace)}:{device}"]
        self._start(hosts)
        for link, namespace in routers:
            where = ("--netns", os.fspath(namespace), "--device", device)
            self._start(["router", *where, *self._routers[link].arguments])

    def _start(self, arguments: Sequence[str]) -> None:
        daemon = Daemon()
        daemon.start(arguments)
        self._daemons.append(daemon)

    def stop(self) -> tuple[dict[str, Any], list[str]]:
        """Stop all daemons, and wait until they have ended.

        Returns
        -------
        counters, problems
            The counters of the hosts' daemon, and the reasons why the run is not valid: without this daemon,
            connections continue as if there were no routers.
        """
        counters: dict[str, Any] = {}
        problems: list[str] = []
        while self._daemons:  # in reverse order, so that the hosts' daemon is last
            daemon = self._daemons.pop()
            daemon.stop()
            counters = daemon.end.get("counters", {})
            if daemon.died and not self._daemons:
                problems.append(f"{DAEMON}, which tells the hosts what routers say, ended during the run")
        return counters, problems


def _while_we_live() -> list[str]:
    """Return the prefix of a command that ends when this process ends in any way.

    If this process ended before the request, the kernel sends no signal, but the command has another parent.
    """
    if (setpriv := shutil.which("setpriv")) is None:
        return []
    same_parent = 'test "$PPID" = "$0" && exec "$@"'
    return [setpriv, "--pdeathsig", "TERM", "sh", "-c", same_parent, str(os.getpid())]


def _cgroup_roots() -> list[Path]:
    """Return the mount points of control groups, version 2."""
    if not MOUNTS.exists():
        return []
    mounts = (line.split() for line in MOUNTS.read_text(encoding="utf-8").splitlines())
    return [Path(fields[1]) for fields in mounts if fields[2] == "cgroup2"]


def _own_cgroup() -> Path:
    """Return the folder of the control group of this process."""
    roots = _cgroup_roots()
    groups = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    own = [line[3:].lstrip("/") for line in groups if line.startswith("0::")]
    if not roots or not own:
        raise EmulationError("the datapath needs control groups of version 2, which are not mounted")
    return roots[0] / own[0]
