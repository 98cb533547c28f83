"""Prefixes of a command that set its place or user: `sudo`, `ip netns exec NS` and others."""

from pathlib import PurePosixPath

from airpath_lint.words import UNKNOWN

_WITH_VALUE = {
    "sudo": ("-u", "-g", "-h", "-p", "-C"),
    "docker": ("-u", "-w", "-e", "--user", "--workdir", "--env"),
    "ssh": ("-p", "-i", "-l", "-o", "-F", "-J"),
    "nice": ("-n",),
    "env": ("-u",),
    "timeout": ("-k", "-s"),
}
_PLAIN = ("sudo", "env", "time", "nice", "exec", "command", "nohup", "doas", "stdbuf", "builtin")
SHELLS = ("sh", "bash", "dash", "ash")


def unwrapped(words: list[str]) -> tuple[str, list[str]]:
    """Return the namespace (or host) that a command runs in, and the command itself.

    Parameters
    ----------
    words
        The words of a simple command.

    Returns
    -------
    tuple
        The namespaces joined by slashes, empty for that of the script; the words starting with the program,
        the program without its folder.
    """
    places: list[str] = []
    while words:
        name = PurePosixPath(words[0]).name
        rest = words[1:]
        if name in _PLAIN or name == "timeout":
            words = _after_options(name, rest)
            while name in ("env", "sudo") and words and "=" in words[0]:
                words = words[1:]
            if name == "timeout":
                words = words[1:]
        elif name == "ip" and rest[:2] == ["netns", "exec"]:
            places += rest[2:3]
            words = rest[3:]
        elif name == "nsenter":
            words, place = _nsenter(rest)
            places += [place] if place else []
        elif name in ("docker", "podman", "lxc", "kubectl") and rest[:1] == ["exec"]:
            after = _after_options("docker", rest[1:])
            places += after[:1]
            words = after[1:]
            while words and words[0] == "--":
                words = words[1:]
        elif name == "ssh":
            after = _after_options("ssh", rest)
            places += after[:1]
            words = after[1:]
            if len(words) == 1:
                # A single quoted word is a command line of its own.
                words = words[0].split()
        elif UNKNOWN in name and [PurePosixPath(one).name for one in rest[:1]] == ["tc"]:
            # `$SUDO tc …`: the user that runs it does not matter.
            words = rest
        else:
            return "/".join(places), [name, *rest]
    return "/".join(places), []


def _after_options(name: str, words: list[str]) -> list[str]:
    with_value = _WITH_VALUE.get(name, ())
    while words and words[0].startswith("-") and len(words[0]) > 1:
        words = words[2:] if words[0] in with_value else words[1:]
    return words


def _nsenter(words: list[str]) -> tuple[list[str], str]:
    place = ""
    while words and words[0].startswith("-"):
        option, _, value = words[0].partition("=")
        if option in ("--net", "-n") and value:
            place = PurePosixPath(value).name
        elif option in ("-t", "--target"):
            place = value or (words[1] if len(words) > 1 else "")
            words = words if value else words[1:]
        words = words[1:]
    return words, place
