//! Quantities with units in a configuration, in the notation of the scenario language; rates also in the
//! notation of `tc`.

use std::fmt;
use std::marker::PhantomData;

use airpath_model::{Bytes, Duration, Rate};
use serde::{Deserializer, de};

/// A quantity that is written as text with a unit.
pub trait Quantity: Sized {
    /// The accepted notation, for error messages.
    const ACCEPTED: &'static str;

    /// Parses `text`; returns `None` if it is not a valid quantity.
    fn read(text: &str) -> Option<Self>;
}

impl Quantity for Rate {
    const ACCEPTED: &'static str = "a rate in bits, such as \"10Mbit\", \"10mbps\" or \"1.5 Mbit/s\"";

    fn read(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        if unit.contains('B') {
            return None; // a rate in bytes, which is not accepted
        }
        let unit = unit.to_ascii_lowercase();
        let prefix = ["bit/s", "bps", "b/s", "bit"].iter().find_map(|end| unit.strip_suffix(end))?;
        let rate = Self::from_bps_f64(number * factor(prefix)?);
        (rate < Self::UNLIMITED).then_some(rate)
    }
}

impl Quantity for Bytes {
    const ACCEPTED: &'static str = "a size in bytes, such as \"575kB\" or \"64KiB\"";

    fn read(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        let prefix = unit.strip_suffix('B')?;
        let factor = match prefix {
            "Ki" => 1024.0,
            "Mi" => 1024.0 * 1024.0,
            "Gi" => 1024.0 * 1024.0 * 1024.0,
            prefix => factor(&prefix.to_ascii_lowercase())?,
        };
        let bytes = number * factor;
        (bytes < 1e18).then(|| Self::new((bytes + 0.5) as u64))
    }
}

impl Quantity for Duration {
    const ACCEPTED: &'static str = "a time, such as \"2ms\" or \"500us\"";

    fn read(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        let factor = match unit {
            "s" => 1.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            _ => return None,
        };
        let seconds = number * factor;
        (seconds < 1e9).then(|| Self::from_secs_f64(seconds))
    }
}

/// Splits `text` into a nonnegative number and the rest.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|sign: char| !sign.is_ascii_digit() && sign != '.')?;
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then_some((number, text[end..].trim_start()))
}

fn factor(prefix: &str) -> Option<f64> {
    Some(match prefix {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        _ => return None,
    })
}

/// Deserializes a quantity from text, for `serde(with)`.
pub(crate) fn quantity<'de, Q: Quantity, D: Deserializer<'de>>(deserializer: D) -> Result<Q, D::Error> {
    struct Reader<Q>(PhantomData<Q>);
    impl<Q: Quantity> de::Visitor<'_> for Reader<Q> {
        type Value = Q;
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str(Q::ACCEPTED)
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Q, E> {
            Q::read(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
        }
    }
    deserializer.deserialize_str(Reader(PhantomData))
}

/// Deserializes an optional field as [`quantity`] does.
pub(crate) fn optional<'de, Q: Quantity, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Q>, D::Error> {
    quantity(deserializer).map(Some)
}

/// Parses a command-line argument; the error message lists the accepted notation.
pub fn argument<Q: Quantity>(text: &str) -> Result<Q, String> {
    Q::read(text).ok_or_else(|| format!("found {text:?}; accepted: {}", Q::ACCEPTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_in_bits() {
        for text in ["10Mbit", "10mbps", "10 Mbit/s", "10000 kbit", "0.01gbps"] {
            assert_eq!(Rate::read(text), Some(Rate::from_bps(10_000_000)), "{text}");
        }
        for text in ["10", "10MB", "10MBps", "ten", "", "10 furlong", "1e3bit", "-1bit"] {
            assert_eq!(Rate::read(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_are_in_bytes() {
        assert_eq!(Bytes::read("575kB"), Some(Bytes::new(575_000)));
        assert_eq!(Bytes::read("1.5 KiB"), Some(Bytes::new(1536)));
        for text in ["575", "575kb", "575kbit", "B"] {
            assert_eq!(Bytes::read(text), None, "{text}");
        }
    }

    #[test]
    fn times_have_a_unit() {
        for text in ["2ms", "2 ms", "2000us", "0.002s"] {
            assert_eq!(Duration::read(text), Some(Duration::from_millis(2)), "{text}");
        }
        for text in ["2", "ms", "2m", "2MS", "-2ms", "1e3ms", "10000000000s"] {
            assert_eq!(Duration::read(text), None, "{text}");
        }
    }
}
