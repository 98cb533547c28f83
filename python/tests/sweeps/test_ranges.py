"""Values of axes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airpath.errors import UsageError
from airpath.sweeps.ranges import expand
from airpath.units import parse_duration, parse_rate


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("10mbps..40mbps / 4", ("10 Mbit/s", "20 Mbit/s", "30 Mbit/s", "40 Mbit/s")),
        ("1 Mbit/s .. 2 Mbit/s / 3", ("1 Mbit/s", "1.5 Mbit/s", "2 Mbit/s")),
        ("1mbps..100mbps / 3 log", ("1 Mbit/s", "10 Mbit/s", "100 Mbit/s")),
        ("10ms..50ms step 20ms", ("10 ms", "30 ms", "50 ms")),
        ("10ms..59ms step 20ms", ("10 ms", "30 ms", "50 ms")),
        ("0ms..1s / 2", ("0 s", "1 s")),
        ("0.5bdp..2bdp / 4", ("0.5 bdp", "1 bdp", "1.5 bdp", "2 bdp")),
        ("10 packets..30 packets / 3", ("10 packets", "20 packets", "30 packets")),
        ("50 packets..400 packets / 3 log", ("50 packets", "141 packets", "400 packets")),
        ("30kB..60kB step 10kB", ("30 kB", "40 kB", "50 kB", "60 kB")),
        ("1..8 step 2", (1, 3, 5, 7)),
        ("0.1..0.5 step 0.1", (0.1, 0.2, 0.3, 0.4, 0.5)),
        ([1, "x", {"kind": "y"}], (1, "x", {"kind": "y"})),
    ],
)
def test_values(text, values):
    assert expand(text) == values
    assert [type(value) for value in expand(text)] == [type(value) for value in values]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10..20mbps / 3", "whose limits have different units"),
        ("10mbps..20ms / 3", "whose limits have different units"),
        ("20mbps..10mbps / 3", "does not increase"),
        ("10mbps..20mbps", "accepted: a list of values, or a range"),
        ("10mbps..20mbps / 1", "must be 2 to"),
        ("10mbps..20mbps step 1ms", "another unit than its limits"),
        ("10mbps..20mbps step 0mbps", "step is zero"),
        ("10ms..20ms step -1ms", "does not lead from the first value to the last"),
        ("10..20 step -1", "does not lead from the first value to the last"),
        ("1e999999999..2e999999999 / 2", 'found the number "1e999999999"; accepted'),
        ("1..1e400 / 3 log", 'found the number "1e400"; accepted'),
        ("1e-999999999..1 / 3", 'found the number "1e-999999999"; accepted'),
        ("1..2 step 1e-999999999", "found the number"),
        ("1..1e19 / 3", "found the number"),
        ("0..8 / 3 log", "cannot begin at zero"),
        ("10 packets..25 packets / 3", "whole number"),
        ("1bps..2bps / 9", "equal after rounding"),
        ("1..9000000 step 1", "at most 100000"),
        ([], "empty list"),
        (7, "found 7"),
    ],
)
def test_invalid_ranges_are_rejected(text, said):
    with pytest.raises(UsageError, match=said):
        expand(text)


@given(low=st.integers(1, 10**6), span=st.integers(1, 10**6), count=st.integers(2, 50))
def test_equal_steps_with_both_ends(low, span, count):
    values = [parse_rate(value) for value in expand(f"{low}kbps..{low + span}kbps / {count}")]
    assert (values[0], values[-1], len(values)) == (low * 1000, (low + span) * 1000, count)
    exact = [low * 1000 + span * 1000 * k / (count - 1) for k in range(count)]
    assert all(abs(value - wanted) <= 0.5 + 1e-6 for value, wanted in zip(values, exact, strict=True))


@given(low=st.integers(1, 1000), factor=st.integers(2, 1000), count=st.integers(3, 20))
def test_equal_ratios_with_both_ends(low, factor, count):
    values = [parse_duration(value) for value in expand(f"{low}ms..{low * factor}ms / {count} log")]
    assert (values[0], values[-1]) == (low * 10**6, low * factor * 10**6)
    ratio = factor ** (1 / (count - 1))
    for one, following in pairwise(values):
        assert following / one == pytest.approx(ratio, rel=3e-5)
