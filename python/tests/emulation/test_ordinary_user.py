"""`airpath emulate` as an ordinary user: hosts in a user namespace, without any privilege outside."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import airpath

pytestmark = pytest.mark.usefixtures("emulated_hosts")

NOBODY = 65534


def closed_folder(path: Path) -> Path | None:
    """Return the first folder on the way to a path that not all users may enter."""
    return next((f for f in reversed(path.parents) if not f.stat().st_mode & stat.S_IXOTH), None)


def opened(folder: Path) -> str:
    """Return shell commands by which a mount namespace shows this Python and this package to all users.

    The Python of root may be under /root, which only root may enter. There an empty folder hides it, which
    contains only what this Python needs.
    """
    needed = {Path(sys.prefix), Path(sys.base_prefix), Path(airpath.__file__).parents[1]}
    hidden = sorted((path, closed) for path in needed if (closed := closed_folder(path)) is not None)
    commands = []
    for number, (path, _) in enumerate(hidden):
        commands += [f"mkdir {folder}/{number}", f"mount --bind {path} {folder}/{number}"]
    for closed in sorted({closed for _, closed in hidden}):
        commands.append(f"mount -t tmpfs -o mode=0755 tmpfs {closed}")
    for number, (path, _) in enumerate(hidden):
        commands += [f"mkdir -p {path}", f"mount --bind {folder}/{number} {path}"]
    return "\n".join(["set -e", *commands, 'exec "$@"'])


class Nobody:
    """An ordinary user with a folder of their own, which contains a TUN file that they may open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tun = folder / "tun"
        self._shown = ["unshare", "--mount", "sh", "-c", opened(folder / "shown"), "sh"]

    def runs(self, *command: str) -> subprocess.CompletedProcess[str]:
        shutil.rmtree(self.folder / "shown", ignore_errors=True)
        (self.folder / "shown").mkdir()
        return subprocess.run(
            [
                *self._shown,
                *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"),
                *command,
            ],
            cwd=self.folder,
            env={"PATH": os.defpath, "AIRPATH_TUN": str(self.tun), "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture
def nobody() -> Iterator[Nobody]:
    if os.geteuid() != 0 or shutil.which("setpriv") is None or shutil.which("unshare") is None:
        pytest.skip("only root with setpriv and unshare can become an ordinary user")
    folder = Path("/tmp") / f"airpath-test-{os.getpid()}"
    folder.mkdir()
    try:
        folder.chmod(0o777)
        os.mknod(folder / "tun", stat.S_IFCHR, os.makedev(10, 200))
        (folder / "tun").chmod(0o666)
        user = Nobody(folder)
        if (shown := user.runs("true")).returncode != 0:
            pytest.skip(f"a mount namespace cannot show them this Python: {shown.stderr.strip()}")
        yield user
    finally:
        shutil.rmtree(folder)


def test_ordinary_users_can_emulate(nobody: Nobody):
    allowed = nobody.runs("unshare", "--user", "--map-root-user", "true")
    if allowed.returncode != 0:
        pytest.skip(f"users may not make user namespaces here: {allowed.stderr.strip()}")
    if shutil.which("ping", path=os.defpath) is None:
        pytest.skip("there is no ping")
    done = nobody.runs(
        *(sys.executable, "-m", "airpath", "emulate", "--link", "8mbps", "--rtt", "20ms", "--json"),
        *("--", "ping", "-c", "3", "-i", "0.2", "10.8.0.1"),
    )
    assert done.returncode == 0, done.stderr
    assert "3 received" in done.stderr
    told = json.loads(done.stdout)
    assert (told["validity"]["sent_packets"], told["validity"]["delivered_packets"]) == (6, 6)
    assert (nobody.folder / told["out"]).stat().st_uid == NOBODY, "the files are the user's own"


def test_without_a_device_ordinary_users_get_a_message(nobody: Nobody):
    nobody.tun.chmod(0o600)
    done = nobody.runs(sys.executable, "-m", "airpath", "emulate", "--link", "8mbps", "--", "true")
    assert done.returncode == 1
    assert "airpath doctor" in done.stderr
    assert "Traceback" not in done.stderr
    told = nobody.runs(sys.executable, "-m", "airpath", "doctor", "--json")
    checks = {check["name"]: check for check in json.loads(told.stdout)["checks"]}
    assert checks["TUN devices"]["state"] == "missing"
    assert checks["emulated hosts"]["state"] == "missing"
    assert "chmod 0666" in checks["TUN devices"]["detail"]
