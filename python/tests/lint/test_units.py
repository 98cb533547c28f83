"""Quantities are read as tc reads them: values of tc(8) and tc_util.c, computed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airpath_lint.rules.context import tc_rate
from airpath_lint.units import RefusedError, rate_bps, share, size_bytes, time_ns, whole


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("8", 8),
        ("10bit", 10),
        ("10kbit", 10_000),
        ("10Mbit", 10_000_000),
        ("1.5gbit", 1_500_000_000),
        ("1tbit", 10**12),
        ("1kibit", 1024),
        ("1mibit", 1_048_576),
        ("1bps", 8),
        ("1kbps", 8_000),
        ("10mbps", 80_000_000),
        ("1Gbps", 8_000_000_000),
        ("1KiBps", 8_192),
        ("1e3kbit", 1_000_000),
    ],
)
def test_rates(text, bits):
    assert rate_bps(text) == bits


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1600", 1600),
        ("1600b", 1600),
        ("32k", 32_768),
        ("32kb", 32_768),
        ("32KB", 32_768),
        ("1m", 1_048_576),
        ("1mb", 1_048_576),
        ("1g", 2**30),
        ("32kbit", 4_096),
        ("1mbit", 131_072),
    ],
)
def test_sizes(text, size):
    assert size_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("100", 100_000),
        ("100us", 100_000),
        ("100usecs", 100_000),
        ("20ms", 20_000_000),
        ("20msec", 20_000_000),
        ("1.5s", 1_500_000_000),
        ("2secs", 2_000_000_000),
    ],
)
def test_times(text, nanoseconds):
    assert time_ns(text) == nanoseconds


def test_percentages_have_their_sign_or_not():
    assert share("1%") == share("1") == 0.01
    assert share("0.3%") == pytest.approx(0.003)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (rate_bps, "10mb"),
        (rate_bps, "10 mbit"),
        (rate_bps, "fast"),
        (rate_bps, "-1mbit"),
        (rate_bps, "inf"),
        (rate_bps, "1e99tbit"),
        (rate_bps, "1%"),
        (size_bytes, "1kbps"),
        (size_bytes, "5gb"),
        (time_ns, "1min"),
        (time_ns, "99999s"),
        (share, "101%"),
        (share, "1ms"),
        (whole, "1.5"),
        (whole, "٣"),
        (rate_bps, "٣mbit"),
    ],
)
def test_values_rejected_by_tc_are_rejected(read, text):
    with pytest.raises(RefusedError, match="found"):
        read(text)


@given(st.integers(1, 999_999), st.sampled_from([1, 10**3, 10**6]))
def test_a_suggested_rate_has_the_intended_value(number, scale):
    assert rate_bps(tc_rate(number * scale)) == pytest.approx(number * scale, rel=1e-5)


@given(st.text(max_size=30))
def test_any_text_is_read_or_rejected(text):
    for read in (rate_bps, size_bytes, time_ns, share, whole):
        try:
            assert read(text) >= 0
        except RefusedError:
            continue
