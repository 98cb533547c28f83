//! Unwrapping of sequence numbers.

/// Converts wrapping 32-bit numbers to offsets from the first one. Each is assumed to be within 2 GiB of the
/// newest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unwrapped {
    newest: Option<(u32, i64)>,
}

impl Unwrapped {
    /// Creates a sequence in which `first` has the offset `offset`.
    pub(crate) fn starting_at(first: u32, offset: i64) -> Self {
        Self { newest: Some((first, offset)) }
    }

    /// Returns the offset of `number`; negative if it is before the first.
    pub(crate) fn offset(&mut self, number: u32) -> i64 {
        let (newest, at) = *self.newest.get_or_insert((number, 0));
        let offset = at + i64::from(number.wrapping_sub(newest) as i32);
        if offset > at {
            self.newest = Some((number, offset));
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_are_unwrapped() {
        let mut sequence = Unwrapped::starting_at(u32::MAX - 1, 0);
        assert_eq!(sequence.offset(u32::MAX), 1);
        assert_eq!(sequence.offset(8), 10);
        assert_eq!(sequence.offset(u32::MAX), 1, "an old one");
        assert_eq!(sequence.offset(1_000_000_008), 1_000_000_010);
        assert_eq!(sequence.offset(2_900_000_000), 2_900_000_002);
        assert_eq!(Unwrapped::starting_at(100, 0).offset(90), -10);
    }
}
