//! Rows of whole numbers most of which are zero.

/// The most numbers of a row.
pub(crate) const MOST: usize = 15;

/// Rows of up to [`MOST`] whole numbers. Two bytes for each row, and four for each number that is not zero; eight where one
/// of the row's needs more than 32 bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SparseRows {
    /// Of each row one bit for each number that is kept, and [`WIDE`].
    masks: Vec<u16>,
    /// What is kept, row after row.
    words: Vec<u32>,
}

/// Numbers of this row are in two words each, the lower half first.
const WIDE: u16 = 1 << MOST;

impl SparseRows {
    /// Appends a row.
    pub(crate) fn push(&mut self, numbers: [u64; MOST]) {
        let (mut mask, mut all, mut count) = (0, 0, 0);
        let mut kept = [0; MOST + 1];
        // Each number is written and kept only if it is not zero: faster than a branch that nobody can foretell.
        for (bit, number) in numbers.into_iter().enumerate() {
            let keeps = number != 0;
            kept[count] = number as u32; // the lower half
            mask |= u16::from(keeps) << bit;
            count += usize::from(keeps);
            all |= number;
        }
        if all >> 32 == 0 {
            self.masks.push(mask);
            self.words.extend_from_slice(&kept[..count]);
        } else {
            self.masks.push(mask | WIDE);
            let halves = |number| [number as u32, (number >> 32) as u32];
            self.words.extend(numbers.into_iter().filter(|&number| number != 0).flat_map(halves));
        }
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.masks.len()
    }

    /// The rows, in their order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = [u64; MOST]> {
        let mut words = self.words.iter().map(|&word| u64::from(word));
        self.masks.iter().map(move |&mask| {
            let mut next = || words.next().unwrap_or_default(); // the masks tell how many there are
            let mut numbers = [0; MOST];
            let mut left = mask & !WIDE;
            while left != 0 {
                let number = &mut numbers[left.trailing_zeros() as usize];
                *number = next();
                if mask & WIDE != 0 {
                    *number |= next() << 32;
                }
                left &= left - 1;
            }
            numbers
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_model::RandomStream;

    #[test]
    fn rows_come_back_as_they_were() {
        let mut stream = RandomStream::new(1, "rows");
        // Numbers of every size, in rows that are full, empty and in between.
        let row = |stream: &mut RandomStream| {
            let (longest, share) = (1 + stream.bits() % 64, stream.bits() % 5);
            [(); MOST].map(|()| if stream.bits() % 4 < share { stream.bits() >> (64 - longest) } else { 0 })
        };
        let rows: Vec<_> = (0..10_000).map(|_| row(&mut stream)).collect();
        let mut kept = SparseRows::default();
        for &row in &rows {
            kept.push(row);
        }
        assert_eq!(kept.len(), rows.len());
        assert!(kept.iter().eq(rows));
    }

    #[test]
    fn a_row_takes_four_bytes_for_each_number_that_is_not_zero() {
        let mut rows = SparseRows::default();
        rows.push([0; MOST]);
        rows.push([7; MOST]);
        assert_eq!((rows.masks.len(), rows.words.len()), (2, MOST));
    }
}
