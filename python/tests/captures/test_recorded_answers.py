"""Answers for recorded captures of known truth, in folders of `AIRPATH_CAPTURES` and `AIRPATH_POLICING`."""

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
    """Return the flow with the most payload."""
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


def test_policed_transfers_are_distinguished_from_shaped_ones() -> None:
    captures = sorted(folder("AIRPATH_POLICING").glob("*.pcap.gz"))
    assert len(captures) == 26
    found = 0
    for path in captures:
        diagnosis = largest(path).diagnosis
        kind, _, configured, burst, *_ = path.name.split("-")
        rate = float(configured.removesuffix("mbps")) * 1e6
        if kind == "shaped":
            assert not diagnosis.policers
            # Some applications pause, but most data left while the shaper was the limit.
            assert max(diagnosis.shares, key=lambda share: share.data).label in ("bottleneck", "overflow")
            headline = diagnosis.answer.headline
            # With a bucket of 8 kB no window ever fills the link; cross traffic takes a share.
            if headline.full and "cross" not in path.name:
                assert 0.85 * rate <= headline.rate_bps <= rate
        elif diagnosis.policers:
            found += 1
            assert diagnosis.shares[0].label == "policer"
            assert diagnosis.policers[0]["rate_bps"] == pytest.approx(rate, rel=0.11)
            if burst in ("burst100kB", "burst2000kB"):
                size = float(burst.removeprefix("burst").removesuffix("kB")) * 1e3
                assert diagnosis.policers[0]["burst_bytes"] == pytest.approx(size, rel=0.05)
    assert found == 12
