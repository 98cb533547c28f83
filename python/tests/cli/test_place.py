"""Results of an earlier command are replaced only if the user asks for it."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from airpath.cli.place import claim, claim_file, settle
from airpath.errors import OutputError

COMPARE = ("compare", "newreno", "--link", "2mbps", "--duration", "2s", "--no-report")


def schemes(folder: Path) -> list[str]:
    return sorted(set(pq.read_table(folder / "summary.parquet")["scheme"].to_pylist()))


def test_default_folders_are_numbered_and_latest_is_the_newest(airpath, folder: Path):
    for scheme in ("newreno", "cubic", "vegas"):
        assert airpath("compare", scheme, *COMPARE[2:]).code == 0
    out = folder / "out"
    names = ["compare-2mbps", "compare-2mbps-2", "compare-2mbps-3"]
    assert sorted(path.name for path in out.iterdir()) == [*names, "latest"]
    assert [schemes(out / name) for name in names] == [["newreno"], ["cubic"], ["vegas"]]
    assert schemes(out / "latest") == ["vegas"]
    assert (out / "latest").readlink() == Path(names[-1])


def test_an_existing_output_folder_is_rejected_unless_forced(airpath, folder: Path):
    assert airpath(*COMPARE, "--out", "mine").code == 0
    again = airpath("compare", "cubic", *COMPARE[2:], "--out", "mine")
    assert again.code == 1
    assert again.err == (
        "airpath: mine contains the results of an earlier command; choose another directory with --out, or"
        " replace them by --force\n"
    )
    assert schemes(folder / "mine") == ["newreno"]
    assert airpath("compare", "cubic", *COMPARE[2:], "--out", "mine", "--force").code == 0
    assert schemes(folder / "mine") == ["cubic"]
    assert [path.name for path in folder.iterdir()] == ["mine"]


def test_foreign_files_are_never_replaced(airpath, folder: Path):
    (folder / "mine").mkdir()
    (folder / "mine" / "precious.txt").write_text("precious")
    refused = airpath(*COMPARE, "--out", "mine", "--force")
    assert (refused.code, "contains no airpath results" in refused.err) == (1, True)
    assert (folder / "mine" / "precious.txt").read_text() == "precious"


def test_an_empty_folder_may_be_given(airpath, folder: Path):
    (folder / "mine").mkdir()
    assert airpath(*COMPARE, "--out", "mine").code == 0
    assert schemes(folder / "mine") == ["newreno"]


def test_captures_that_differ_after_the_first_dot_have_separate_folders(airpath, folder: Path):
    settings = ("--set", "duration=2s", "--set", "record.warm_up=0s", "--reps", "1", "--no-report")
    assert airpath("run", "two-way", *settings, "--capture", "bottleneck").code == 0
    (capture,) = (folder / "out" / "two-way" / "captures").iterdir()
    for name in ("drive.1.pcapng", "drive.2.pcapng"):
        (folder / name).write_bytes(capture.read_bytes())
        assert airpath("estimate", name, "--estimator", "sarbe").code == 0
    assert {path.name for path in (folder / "out").glob("estimate-*")} == {
        "estimate-drive.1",
        "estimate-drive.2",
    }


def test_no_two_commands_claim_one_folder(folder: Path):
    first, second = (claim(None, Path("out") / "name") for _ in range(2))
    assert (first, second) == (Path("out/name"), Path("out/name-2"))
    (second / "file").write_text("")
    settle()
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["latest", "name-2"]


def test_unfinished_work_of_the_same_command_continues_in_its_folder(folder: Path):
    work = folder / "out" / "sweep"
    work.mkdir(parents=True)
    (work / "ours").write_text("")
    assert claim(None, Path("out/sweep"), resumes=lambda path: (path / "ours").exists()) == Path("out/sweep")
    assert claim(None, Path("out/sweep")) == Path("out/sweep-2")
    settle()


def test_a_file_next_to_the_folder_keeps_its_name_too(folder: Path):
    (folder / "out").mkdir()
    (folder / "out" / "emulate.pcapng").write_text("packets")
    assert claim(None, Path("out/emulate"), beside=".pcapng") == Path("out/emulate-2")
    given = Path("out/emulate")
    with pytest.raises(OutputError, match=r"out/emulate\.pcapng exists"):
        claim(given, given, beside=".pcapng")
    assert claim(given, given, force=True, beside=".pcapng") == given
    settle()
    assert [path.name for path in (folder / "out").iterdir()] == ["emulate.pcapng"]


def test_files_are_numbered_or_rejected(folder: Path):
    assert claim_file(None, Path("a.png")) == Path("a.png")
    (folder / "a.png").write_text("")
    assert claim_file(None, Path("a.png")) == Path("a-2.png")
    with pytest.raises(OutputError, match=r"^a\.png exists; choose another file, or replace it by --force$"):
        claim_file(Path("a.png"), Path("b.png"))
    assert claim_file(Path("a.png"), Path("b.png"), force=True) == Path("a.png")
