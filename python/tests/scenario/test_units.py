"""Quantities with units."""

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airpath.errors import AirpathError, UnitError
from airpath.units import (
    LARGEST,
    Amount,
    AmountUnit,
    format_amount,
    format_duration,
    format_rate,
    format_size,
    parse_buffer,
    parse_duration,
    parse_rate,
    parse_size,
    parse_window,
)

integers = st.integers(min_value=0, max_value=LARGEST)


@given(integers)
def test_formatted_quantities_parse_back_to_the_same_integer(value):
    assert parse_rate(format_rate(value)) == value
    assert parse_duration(format_duration(value)) == value
    assert parse_size(format_size(value)) == value


@given(st.integers(min_value=1, max_value=10**12), st.sampled_from(["bytes", "packets", "ns", "bdp"]))
def test_formatted_amounts_parse_back_to_the_same(value, unit):
    amount = Amount(Decimal(value) / (4 if unit == "bdp" else 1), AmountUnit(unit))
    assert parse_buffer(format_amount(amount)) == amount
    if unit in ("bytes", "packets"):
        assert parse_window(format_amount(amount)) == amount


@given(st.text(max_size=30))
def test_any_text_raises_only_airpath_errors(text):
    for parse in (parse_rate, parse_duration, parse_size, parse_window, parse_buffer):
        with contextlib.suppress(UnitError):
            parse(text)


@pytest.mark.parametrize(
    ("text", "bits_per_second"),
    [
        ("10mbps", 10_000_000),
        ("10 Mbps", 10_000_000),
        ("1.5Mbit/s", 1_500_000),
        ("1.5 Mb/s", 1_500_000),
        ("800kbps", 800_000),
        ("2 Gbit/s", 2_000_000_000),
        ("1e3 bps", 1000),
        ("0bps", 0),
    ],
)
def test_rates(text, bits_per_second):
    assert parse_rate(text) == bits_per_second


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("32ms", 32_000_000),
        ("0.5 s", 500_000_000),
        ("2min", 120 * 10**9),
        ("1h", 3600 * 10**9),
        ("3us", 3000),
        ("3µs", 3000),
    ],
)
def test_durations(text, nanoseconds):
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize(
    ("text", "size"),
    [("575kB", 575_000), ("575 KB", 575_000), ("2MiB", 2 * 2**20), ("1KiB", 1024), ("40B", 40)],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("575kB", "575000", AmountUnit.BYTES),
        ("500packets", "500", AmountUnit.PACKETS),
        ("1 packet", "1", AmountUnit.PACKETS),
        ("100ms", "100000000", AmountUnit.NANOSECONDS),
        ("1.5bdp", "1.5", AmountUnit.BANDWIDTH_DELAY_PRODUCTS),
        ("1.5 BDP", "1.5", AmountUnit.BANDWIDTH_DELAY_PRODUCTS),
        ("unlimited", "0", AmountUnit.UNLIMITED),
    ],
)
def test_buffers(text, value, unit):
    assert parse_buffer(text) == Amount(Decimal(value), unit)


RATES = 'accepted: a rate in bits, such as "10mbps", "1.5 Mbit/s" or "800 kbit/s"'
DURATIONS = 'accepted: a duration with a unit (ns, us, ms, s, min, h), such as "32ms"'


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_rate, 10, f"found the bare number 10, which has no unit; {RATES}"),
        (parse_rate, 1.5, f"found the bare number 1.5, which has no unit; {RATES}"),
        (parse_rate, "10", f'found "10", which has no unit; {RATES}'),
        (parse_rate, "-1mbps", f'found "-1mbps", which is negative; {RATES}'),
        (parse_rate, "10 mbyte", f'found "10 mbyte"; {RATES}'),
        (parse_rate, "", f'found ""; {RATES}'),
        (parse_rate, None, f"found None; {RATES}"),
        (parse_rate, True, f"found True; {RATES}"),
        (
            parse_rate,
            "10MB/s",
            'found "10MB/s": rates are in bits, never bytes; if bytes were meant, write "80 Mbit/s"',
        ),
        (
            parse_rate,
            "1.5 GBps",
            'found "1.5 GBps": rates are in bits, never bytes; if bytes were meant, write "12 Gbit/s"',
        ),
        (parse_rate, "1e30bps", f'found "1e30bps", which is more than the largest value, {LARGEST} bit/s'),
        (parse_rate, "1e999999999bps", f'found "1e999999999bps"; {RATES}'),
        (
            parse_duration,
            "5m",
            'found "5m": "m" is ambiguous; write "min" for minutes or "ms" for milliseconds',
        ),
        (parse_duration, "0.1ns", 'found "0.1ns", which is less than 1 ns'),
        (parse_duration, "3 days", f'found "3 days"; {DURATIONS}'),
        (
            parse_size,
            "5kb",
            'found "5kb": a lower-case b means bits; sizes are in bytes, such as "575kB" or "2MiB"',
        ),
        (parse_window, "1.5 packets", 'found "1.5 packets"; packets must be a whole number'),
        (parse_window, "0 packets", 'found "0 packets"; a window must be more than zero'),
        (
            parse_window,
            "3 ms",
            'found "3 ms"; accepted: a window in packets or bytes, such as "10 packets" or "64KiB"',
        ),
        (
            parse_buffer,
            "5 apples",
            'found "5 apples"; accepted: a buffer such as "575kB", "500 packets", "100ms", "1.5bdp"'
            ' or "unlimited"',
        ),
    ],
)
def test_errors_name_what_was_found_and_what_is_accepted(parse, text, message):
    with pytest.raises(UnitError) as caught:
        parse(text)
    assert str(caught.value) == message
    assert isinstance(caught.value, AirpathError)


def test_formatting_for_people():
    assert format_rate(12_000_000) == "12 Mbit/s"
    assert format_rate(12_345_678, digits=3) == "12.3 Mbit/s"
    assert format_rate(0) == "0 bit/s"
    assert format_duration(0) == "0 s"
    assert format_duration(1_500_000) == "1.5 ms"
    assert format_size(999_999, digits=2) == "1 MB"
