"""The command line, called in this process, in an empty directory."""

from commands import airpath, folder

__all__ = ["airpath", "folder"]
