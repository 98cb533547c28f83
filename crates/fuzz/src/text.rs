//! Corruption of text that mostly keeps its syntax valid: numbers, words and lines.

use std::ops::Range;

/// Values that parsers often mishandle: limits of number ranges, and values that are not numbers.
const NUMBERS: [&str; 32] = [
    "0",
    "1",
    "-1",
    "2",
    "0.5",
    "-0.0",
    "1.0",
    "1e-13",
    "5e-324",
    "1e-320",
    "1e308",
    "1e309",
    "-1e308",
    "nan",
    "inf",
    "-inf",
    "null",
    "true",
    "\"x\"",
    "[]",
    "{}",
    "255",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1000000000",
    "99999999999999999999999999999999999999",
];

/// Pieces that nest, and pieces that make input long.
const REPEATED: [&[u8]; 10] =
    [b"[", b"{", b"(", b"{\"a\":", b"[[", b"9", b"a.", b" ", b"\n", "\u{fc}".as_bytes()];

/// Corrupts one piece of the text, which must not be empty.
pub(crate) fn damage(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], below: &mut impl FnMut(usize) -> usize) {
    match below(16) {
        0..=3 => replace(bytes, number, below, |_, below| NUMBERS[below(NUMBERS.len())].as_bytes().to_vec()),
        4..=5 => replace(bytes, number, below, scaled),
        6 => {
            let other = pick(bytes, number, below).map_or_else(Vec::new, |range| bytes[range].to_vec());
            replace(bytes, number, below, |_, _| other);
        }
        7..=8 => {
            let from = &seeds[below(seeds.len())];
            let other = pick(from, word, below).map_or_else(Vec::new, |range| from[range].to_vec());
            replace(bytes, word, below, |_, _| other);
        }
        9 => drop(pick(bytes, line, below).map(|range| bytes.drain(range).count())),
        10..=12 => {
            // A line of this or another seed, which often assigns the same property of another object.
            let from = if below(2) == 0 { bytes.clone() } else { seeds[below(seeds.len())].clone() };
            if let (Some(copied), Some(to)) = (pick(&from, line, below), pick(bytes, line, below)) {
                let to = if below(2) == 0 { to } else { to.start..to.start };
                bytes.splice(to, from[copied].iter().copied());
            }
        }
        13 => {
            let from = &seeds[below(seeds.len())];
            let (start, at) = (below(from.len()), below(bytes.len()));
            let end = (start + 1 + below(600)).min(from.len());
            bytes.splice(at..at, from[start.min(end)..end].iter().copied());
        }
        14 => {
            if below(8) == 0 {
                let (piece, times, at) =
                    (REPEATED[below(REPEATED.len())], 1 << below(13), below(bytes.len()));
                bytes.splice(at..at, piece.repeat(times));
            }
        }
        _ => {
            let at = below(bytes.len());
            bytes[at] = b"\"'[]{}=:,.#-+ \n\r\t0eEx\\"[below(22)];
        }
    }
}

/// Returns a number with one to twelve more zeros, with fewer digits, or with a sign.
fn scaled(number: &[u8], below: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut number = number.to_vec();
    match below(4) {
        0 | 1 => number.extend_from_slice(&b"000000000000"[..=below(12)]),
        2 => number.truncate(1 + below(number.len())),
        _ => number.insert(0, b'-'),
    }
    number
}

fn replace<F: FnMut(usize) -> usize>(
    bytes: &mut Vec<u8>,
    of: fn(u8) -> bool,
    below: &mut F,
    by: impl FnOnce(&[u8], &mut F) -> Vec<u8>,
) {
    if let Some(range) = pick(bytes, of, below) {
        let instead = by(&bytes[range.clone()], below);
        bytes.splice(range, instead);
    }
}

/// Returns the range of a run of such bytes: the first run that contains a random position or follows it.
fn pick(bytes: &[u8], of: fn(u8) -> bool, below: &mut impl FnMut(usize) -> usize) -> Option<Range<usize>> {
    let from = below(bytes.len());
    let found = from + bytes[from..].iter().position(|&byte| of(byte))?;
    let start = bytes[..found].iter().rposition(|&byte| !of(byte)).map_or(0, |before| before + 1);
    let end = bytes[found..].iter().position(|&byte| !of(byte)).map_or(bytes.len(), |length| found + length);
    Some(start..end)
}

fn number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+')
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

fn line(byte: u8) -> bool {
    byte != b'\n'
}
