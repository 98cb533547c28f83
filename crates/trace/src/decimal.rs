//! Decimal numbers without conversion to binary floating point, so that written values are read back exactly.

/// Returns `text` times ten to the power of `decimals`, halves rounded up; `None` for anything but a plain
/// nonnegative decimal number (an exponent is allowed) and for results above `u64::MAX`.
pub(crate) fn parse(text: &[u8], decimals: i32) -> Option<u64> {
    let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&text[..at], parse_exponent(&text[at + 1..])?),
        None => (text, 0),
    };
    let (whole, fraction) = match mantissa.iter().position(|byte| *byte == b'.') {
        Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
        None => (mantissa, &b""[..]),
    };
    if whole.len() + fraction.len() == 0 || !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
        return None;
    }

    // The result is the first `kept` digits, with zeros after the last; the next digit rounds.
    let kept = i64::try_from(whole.len()).ok()? + i64::from(exponent) + i64::from(decimals);
    let Ok(kept) = usize::try_from(kept) else { return Some(0) };
    let mut digits = whole.iter().chain(fraction).map(|byte| u64::from(byte - b'0'));
    let mut value: u64 = 0;
    for digit in digits.by_ref().take(kept) {
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    let zeros = kept.saturating_sub(whole.len() + fraction.len());
    if zeros > 0 && value > 0 {
        value = value.checked_mul(10u64.checked_pow(u32::try_from(zeros).ok()?)?)?;
    }
    value.checked_add(u64::from(digits.next().is_some_and(|digit| digit >= 5)))
}

/// Formats `units` divided by ten to the power of `decimals`, as a decimal number without trailing zeros.
pub(crate) fn format(units: u64, decimals: u32) -> String {
    let scale = 10u64.pow(decimals);
    let (whole, fraction) = (units / scale, units % scale);
    if fraction == 0 {
        return whole.to_string();
    }
    let digits = format!("{fraction:0width$}", width = decimals as usize);
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

/// Parses a small signed integer; unreasonably long ones are rejected.
fn parse_exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 4 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0, |value, byte| value * 10 + i32::from(byte - b'0'));
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_scaled_and_rounded_to_the_nearest() {
        for (text, decimals, value) in [
            ("0", 9, 0),
            ("1.5", 0, 2),
            ("1.49999999999999999999999999", 0, 1),
            ("461.922", 9, 461_922_000_000),
            ("2357.2727272727275", 3, 2_357_273),
            (".5", 1, 5),
            ("5.", 1, 50),
            ("1e-05", 6, 10),
            ("2.5E+2", 0, 250),
            ("0.04", 1, 0),
            ("0.05", 1, 1),
            ("1e-9999", 9, 0),
            ("0e9999", 9, 0),
            ("18446744073709551615", 0, u64::MAX),
        ] {
            assert_eq!(parse(text.as_bytes(), decimals), Some(value), "{text}");
        }
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in [
            "",
            ".",
            "-1",
            "+1",
            "nan",
            "inf",
            "1e",
            "1e+",
            "1e99999",
            "0e10000",
            "0e-10000",
            "1e-x",
            "1e30",
            "0x10",
            "1_0",
            "1 ",
            "1.2.3",
            "18446744073709551616",
        ] {
            assert_eq!(parse(text.as_bytes(), 0), None, "{text}");
        }
    }

    #[test]
    fn written_data_is_read_back() {
        for units in [0, 1, 999_999, 1_000_000, 1_500_000, u64::MAX] {
            assert_eq!(parse(format(units, 6).as_bytes(), 6), Some(units));
        }
        assert_eq!(format(1_500_000, 6), "1.5");
    }
}
