"""`make test-realtime`: how outcomes are counted, and which checks run again."""

import json
from collections import Counter
from pathlib import Path

import pytest
import realtime as tool
from realtime import Program

CARGO = """
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 2.00s
test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 2.00s
"""


@pytest.mark.parametrize(
    ("output", "code", "counts"),
    [
        (CARGO, 101, {"passed": 4, "failed": 2, "skipped": 1}),
        (CARGO, 0, {"passed": 4, "failed": 2, "skipped": 1}),
        ("== 45 passed, 6 skipped, 4389 deselected in 2.63s ==", 0, {"passed": 45, "skipped": 6}),
        ("== 1 failed, 1 passed, 2 errors in 0.10s ==", 1, {"passed": 1, "failed": 3}),
        ("== 1 error in 0.07s ==", 2, {"failed": 1}),
        ("SKIPPED [1] 2 failed\n", -9, {"failed": 1}),
    ],
)
def test_outcomes_are_counted(output: str, code: int, counts: dict[str, int]) -> None:
    assert tool.counted(output, code) == Counter(counts)


def test_programs_are_found_in_the_messages_of_cargo() -> None:
    def artifact(name: str, executable: str | None) -> str:
        target = {"name": name, "kind": ["test"]}
        return json.dumps({"executable": executable, "manifest_path": "/a/emu/Cargo.toml", "target": target})

    messages = [artifact("it", "/t/it"), artifact("realtime", None), '{"reason": "build-finished"}']
    assert tool.in_rust(messages) == {}
    program = tool.in_rust([*messages, artifact("realtime", "/t/realtime")])["emu"]
    assert program.folder == Path("/a/emu")
    assert program.some == ("/t/realtime", "--test-threads", "1", "--exact")


def test_inconclusive_checks_run_again_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rust = Program(Path("crate"), ("rust",), ("rust", "--exact"), "passed")
    python = Program(Path(), ("pytest",), ("pytest", "-m"), "skipped")
    # Lines of the file, and counts. The body and the end of a check in Python may fail.
    outcomes = {
        ("rust",): (["a", "b", "c"], Counter(passed=9)),
        ("rust", "--exact", "a", "b", "c"): (["inconclusive: a: late"], Counter(passed=2)),
        ("pytest",): (["d::e", "d::f", "d::e"], Counter(passed=3, skipped=3)),
        ("pytest", "-m", "d::e", "d::f"): (["inconclusive: d::e: late"], Counter(failed=1, skipped=1)),
    }

    def shown(command: tuple[str, ...], _folder: Path, environment: dict[str, str]) -> tuple[str, int]:
        if command == ("lint",):
            return "", 2
        lines, counts = outcomes.pop(command)
        name = "AIRPATH_AGAIN" if len(command) == 1 else "AIRPATH_INCONCLUSIVE"
        Path(environment[name]).write_text("".join(f"{line}\n" for line in lines))
        return "== " + ", ".join(f"{number} {outcome}" for outcome, number in counts.items()), 0

    monkeypatch.setattr(tool, "shown", shown)
    total, inconclusive, code = tool.run_groups([[rust], [python]], ("lint",))
    # One of the three in Rust passes, one is inconclusive, and the third was not run.
    assert total == Counter(passed=6 + 1 + 3, failed=1 + 1, skipped=1)
    assert inconclusive == ["inconclusive: a: late", "inconclusive: d::e: late"]
    assert code == 2
    assert not outcomes
