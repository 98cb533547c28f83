"""Answers for recorded captures with a known truth: folders of `AIRPATH_CAPTURES`, `AIRPATH_POLICING`."""

import os
from pathlib import Path

import pytest

from airpath.captures import FlowAnalysis, analyse


def folder(variable: str) -> Path:
    """Return the folder that a variable of the environment names, or skip the test."""
    if variable not in os.environ:
        pytest.skip(f"{variable} names no folder of captures")
    return Path(os.environ[variable])


def largest(path: Path) -> FlowAnalysis:
    """Return the flow with most payload."""
    return analyse(path, ["samples"]).flows[0]


@pytest.mark.parametrize(
    ("name", "label", "share", "rate_mbps"),
    [
        ("ndt-4c6fb_1625899199_000000000121C1A0.pcap.gz", "bottleneck", 0.8, 17.0),
        ("cubic_fq_codel_wifi.pcap.gz", "bottleneck", 0.9, 8.7),
        ("prague_dualpi2_wifi.pcap.gz", "bottleneck", 0.9, 5.9),
        ("mlab-large-ndt.pcap", "application", 0.9, None),
    ],
)
def test_public_captures(name: str, label: str, share: float, rate_mbps: float | None) -> None:
    diagnosis = largest(folder("AIRPATH_CAPTURES") / name).diagnosis
    assert diagnosis.shares[0].label == label
    assert diagnosis.shares[0].time >= share
    headline = diagnosis.answer.headline
    assert headline is not None
    assert headline.full == (rate_mbps is not None)
    if rate_mbps is not None:
        assert headline.rate_bps == pytest.approx(rate_mbps * 1e6, rel=0.05)


def test_shaped_transfers_are_not_called_policed_and_a_policed_one_is() -> None:
    captures = sorted(folder("AIRPATH_POLICING").glob("*.pcap.gz"))
    assert len(captures) == 26
    found = {path.name: largest(path).diagnosis for path in captures}
    policed = [name for name, diagnosis in found.items() if diagnosis.policers]
    assert not [name for name in policed if name.startswith("shaped")]
    # Of the policed transfers this one has its policer for itself; the others share it with a second flow.
    assert "policed-12-0.5mbps-burst100kB-loss0.pcap.gz" in policed
    (rate, *_) = (one["rate_bps"] for one in found["policed-12-0.5mbps-burst100kB-loss0.pcap.gz"].policers)
    assert rate == pytest.approx(0.5e6 * 0.956 * 0.92, rel=0.05)  # payload; the bucket overflows at timeouts
    for name, diagnosis in found.items():
        assert name.startswith("policed") or diagnosis.shares[0].label in ("bottleneck", "overflow")
