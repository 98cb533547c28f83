"""The measures that only the parking lot has."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from airpath_papers.ebe_j import parking_lot
from airpath_papers.settings import PARKING_LOT_LINKS

SMALL_AND_SURE = (0.010, 0.011, 0.012, 0.010, 0.011)
LARGE_AND_UNSURE = (-0.2, 0.3, -0.1, 0.4, 0.1)


@pytest.mark.parametrize(("repetitions", "expected"), [(5, 0.1), (1, -0.2)])
def test_a_large_uncertain_lead_outweighs_a_small_certain_one(
    monkeypatch: pytest.MonkeyPatch, repetitions: int, expected: float
) -> None:
    leads = dict.fromkeys(PARKING_LOT_LINKS, SMALL_AND_SURE) | {PARKING_LOT_LINKS[2]: LARGE_AND_UNSURE}

    def utilisation(run: tuple[str, int], name: str) -> float:
        scheme, repetition = run
        return leads[name][repetition] if scheme == "ahead" else 0.0

    def of_each(runs: Sequence[Any], measure: Any) -> list[float]:
        return [measure(run) for run in runs]

    runs: Mapping[str, Sequence[tuple[str, int]]] = {
        scheme: [(scheme, repetition) for repetition in range(repetitions)] for scheme in ("ahead", "behind")
    }
    monkeypatch.setattr(parking_lot, "utilisation", utilisation)
    monkeypatch.setattr(parking_lot, "of_each", of_each)
    found = parking_lot._least_sure(runs.__getitem__, "ahead", "behind")
    assert found.mean == pytest.approx(expected)
