//! Corruption of input, for all targets.

use airpath_model::RandomStream;

use crate::text;

/// The kind of an input, which determines how it is corrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes with headers at their beginning.
    Bytes,
    /// Lines with numbers and words.
    Text,
}

/// Returns input number `case`, a function of the seeds and the number alone: one seed with a few pieces
/// changed, moved, repeated or removed. Empty without seeds.
pub fn damaged(kind: Kind, seeds: &[Vec<u8>], case: u64) -> Vec<u8> {
    let mut random = RandomStream::new(case, "fuzz");
    let mut below = move |end: usize| (random.bits() % end.max(1) as u64) as usize;
    let Some(seed) = seeds.get(below(seeds.len())) else { return Vec::new() };
    let mut bytes = seed.clone();
    // Little of a text remains valid after many changes, and input that is rejected at once tests little.
    let most = if kind == Kind::Text { 1 << below(4) } else { 12 };
    for _ in 0..=below(most) {
        if bytes.is_empty() {
            break;
        }
        // Text with invalid syntax is rejected at once, so most of its changes keep the syntax valid.
        if kind == Kind::Text && below(8) != 0 {
            text::damage(&mut bytes, seeds, &mut below);
        } else {
            damage(&mut bytes, seeds, &mut below);
        }
    }
    bytes
}

/// Corrupts one piece of the bytes, which must not be empty.
fn damage(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], below: &mut impl FnMut(usize) -> usize) {
    // Half of the changes are in the first headers.
    let reach = if below(2) == 0 { bytes.len().min(256) } else { bytes.len() };
    let at = below(reach);
    let length = 1 + below(64).min(bytes.len() - at - 1);
    match below(8) {
        0 => bytes[at] = below(256) as u8,
        1 => bytes[at] ^= 1 << below(8),
        2 => bytes[at..at + length].fill([0, 0xFF, 0x80, 0x7F][below(4)]),
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at..at + length)),
        5 => {
            let piece = bytes[at..at + length].to_vec();
            let to = below(bytes.len());
            bytes.splice(to..to, piece);
        }
        6 => {
            let from = &seeds[below(seeds.len())];
            let start = below(from.len());
            let piece = from[start..(start + length).min(from.len())].to_vec();
            bytes.splice(at..at, piece);
        }
        _ => {
            let word = [0_u32, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF, 16][below(7)];
            let end = (at + 4).min(bytes.len());
            bytes[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds() -> Vec<Vec<u8>> {
        [&b"duration = \"5s\"\ncount = 12\n"[..], b"{\n \"rate\": 1e6,\n \"loss\": [0.5, 2]\n}", b"", b"x"]
            .map(<[u8]>::to_vec)
            .to_vec()
    }

    #[test]
    fn a_case_is_a_function_of_its_number() {
        for kind in [Kind::Bytes, Kind::Text] {
            let twice =
                [0, 1].map(|_| (0..500).map(|case| damaged(kind, &seeds(), case)).collect::<Vec<_>>());
            assert_eq!(twice[0], twice[1]);
            let mut different = twice[0].clone();
            different.sort_unstable();
            different.dedup();
            assert!(different.len() > 200, "{} of 500 differ", different.len());
        }
    }

    #[test]
    fn without_seeds_the_case_is_empty() {
        for seeds in [vec![], vec![vec![]]] {
            assert_eq!(damaged(Kind::Text, &seeds, 7), b"");
        }
    }

    #[test]
    fn corrupted_text_mostly_keeps_its_structure() {
        let seed = vec![b"{\n \"rate\": 1000000,\n \"loss\": 0.5\n}".to_vec()];
        let text = |case| String::from_utf8(damaged(Kind::Text, &seed, case)).ok();
        let told = (0..1000).filter_map(text).filter(|text| text.contains("\"loss\": ")).count();
        assert!((300..1000).contains(&told), "{told} of 1000 have the field");
    }
}
