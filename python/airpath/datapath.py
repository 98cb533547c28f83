"""Our Linux datapath: whether its daemon is here, and what is missing."""

import os
import shutil
from pathlib import Path
from typing import Final

DAEMON: Final = "airpathd"
"""The daemon that loads our controllers into the kernel."""

BTF: Final = Path("/sys/kernel/btf/vmlinux")
"""The kernel's description of its own types, which our programs need."""


def find_daemon() -> Path | None:
    """Return where the daemon is: on the path, in the build directory of a checkout, or as AIRPATHD says."""
    if named := os.environ.get("AIRPATHD"):
        return Path(named) if Path(named).is_file() else None
    if found := shutil.which(DAEMON):
        return Path(found)
    builds = Path(__file__).parents[2] / "target"
    return next((path for kind in ("release", "debug") if (path := builds / kind / DAEMON).is_file()), None)


def datapath_missing() -> str | None:
    """Say what the datapath lacks here; nothing if it can be started."""
    if find_daemon() is None:
        return f"the daemon {DAEMON} is not built (`cargo build --release -p airpath-linux`)"
    if os.geteuid() != 0:
        return f"{DAEMON} needs root"
    if not BTF.exists():
        return f"this kernel tells nothing of its types ({BTF} is missing)"
    return None
