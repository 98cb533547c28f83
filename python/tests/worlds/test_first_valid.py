"""The outcome of a real-time test if runs are not valid: without a clock."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from airpath import _core


@pytest.mark.parametrize(
    ("held_up", "outcome"),
    [
        ([0.0, 0.5] + [0.0] * 5, pytest.skip.Exception),  # busy during the runs, idle after them
        ([0.0] * 6 + [0.5], pytest.skip.Exception),
        ([0.0] * 7, pytest.fail.Exception),
    ],
)
def test_a_test_without_a_valid_run_is_skipped_only_on_a_busy_machine(
    held_up: Sequence[float],
    outcome: type[Exception],
    first_valid: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = iter(held_up)
    # A look checks the current state, and does not wait.
    runs: list[int] = []
    looks: list[int] = []

    def look(_milliseconds: int) -> float:
        looks.append(len(runs))
        return next(left)

    monkeypatch.setattr(_core, "held_up", look, raising=False)

    def spoilt() -> tuple[None, list[str]]:
        runs.append(1)
        return None, ["late"]

    with pytest.raises(outcome, match=r"no run was valid, and an idle thread .* the last one: late"):
        first_valid(spoilt)
    assert len(runs) == 3
    assert looks[:2] == [1, 2], "after each run, at once"


def test_the_first_valid_run_is_used(
    first_valid: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_core, "held_up", lambda _: 0.0, raising=False)
    runs = iter([("spoilt", ["late"]), ("good", []), ("never", [])])
    assert first_valid(lambda: next(runs)) == "good"
