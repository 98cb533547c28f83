"""The digest of the installed package, on which stored runs depend."""

import shutil
from pathlib import Path

import pytest

import airpath
from airpath._os.fingerprint import fingerprint
from airpath.sweeps.task import COMPUTED_BY


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a copy of the package, from which `version` is computed."""
    source, copy = Path(airpath.__file__).parent, tmp_path / "airpath"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyd"))
    monkeypatch.setattr(airpath, "__file__", str(copy / "__init__.py"))
    return copy


def version():
    return fingerprint.__wrapped__(*COMPUTED_BY)


@pytest.mark.parametrize(
    "name",
    [
        "_backends/simulated.py",
        "_declared/messages.py",
        "_run/workers.py",
        "links/lte.down",
        "links/lte.up",
        "links/networks.toml",
        "metrics/summary.py",
        "new/folder/code.py",
        "plugins/compiled/linux/include/airpath/kernel.h",
    ],
)
def test_it_changes_with_all_code(package, name):
    before, file = version(), package / name
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as content:
        content.write(b" ")
    assert version() != before


def test_it_does_not_depend_on_bytecode(package):
    before = version()
    for folder in (
        package,
        package / "links",
        package / "plugins/compiled",
        package / "plugins/compiled/linux",
    ):
        bytecode = folder / "__pycache__" / "build.cpython-311.pyc"
        bytecode.parent.mkdir()
        bytecode.write_bytes(b"bytecode")
    assert version() == before
