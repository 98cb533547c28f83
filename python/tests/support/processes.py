"""Processes of other programs."""

import psutil


def is_alive(pid: int) -> bool:
    """Return whether a process has not ended. Its status may stay unread: a container may have no init."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
