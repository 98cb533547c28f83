//! Rows of integers, most of which are zero.

use std::{mem, slice};

/// Rows of integers, in words of 32 bits: a pair of short numbers, or a long one.
///
/// A row takes two bytes plus four for each word that is not zero. A row with an oversized number takes six
/// bytes plus four or eight for each number that is not zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SparseRows {
    /// For each row, one bit for each stored word, or [`WIDE`].
    masks: Pieces<u16>,
    /// The stored words, row after row.
    words: Pieces<u32>,
}

/// A row: pairs of numbers that usually fit into 16 bits, and numbers that usually fit into 32.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) pairs: [[u64; 2]; PAIRS],
    /// The last [`SELDOM`] numbers are rarely nonzero; a single test covers all of them.
    pub(crate) long: [u64; LONG],
}

const PAIRS: usize = 4;
const LONG: usize = 7;
const WORDS: usize = PAIRS + LONG;
const SELDOM: usize = 4;
const OFTEN: usize = WORDS - SELDOM;

/// Marks a row with an oversized number. Its first word contains a mask of the nonzero numbers and, in the
/// upper half, a mask of the numbers stored in two words, the lower half first.
const WIDE: u16 = 1 << 15;

impl SparseRows {
    /// Appends a row.
    #[inline]
    pub(crate) fn push(&mut self, row: &Row) {
        let short = row.pairs.as_flattened().iter().fold(0, |all, number| all | number);
        let long = row.long.iter().fold(0, |all, number| all | number);
        if short >> 16 | long >> 32 != 0 {
            return self.push_wide(row);
        }
        let words = row.words();
        let (mut mask, mut used) = (0, 0);
        let room = self.words.room();
        // Each word is written, and kept only if it is not zero: faster than an unpredictable branch.
        let mut put = |bit: usize| {
            let keeps = words[bit] != 0;
            room[used % LONGEST] = words[bit];
            mask |= u16::from(keeps) << bit;
            used += usize::from(keeps);
        };
        (0..OFTEN).for_each(&mut put);
        if words[OFTEN..] != [0; WORDS - OFTEN] {
            (OFTEN..WORDS).for_each(put);
        }
        self.words.used += used;
        self.push_mask(mask);
    }

    #[cold]
    fn push_wide(&mut self, row: &Row) {
        let room = self.words.room();
        let mut used = 1;
        let (mut kept, mut in_two) = (0, 0);
        for (bit, number) in row.numbers().enumerate().filter(|&(_, number)| number != 0) {
            kept |= 1 << bit;
            room[used] = number as u32; // the lower half
            used += 1;
            if number >> 32 != 0 {
                in_two |= 1 << bit;
                room[used] = (number >> 32) as u32;
                used += 1;
            }
        }
        room[0] = in_two << 16 | kept;
        self.words.used += used;
        self.push_mask(WIDE);
    }

    #[inline]
    fn push_mask(&mut self, mask: u16) {
        self.masks.room()[0] = mask;
        self.masks.used += 1;
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.masks.len()
    }

    /// Returns the rows, in order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Row> {
        let (mut masks, mut words) = (self.masks.reader(), self.words.reader());
        (0..self.len()).map(move |_| {
            let mask = masks.take(1)[0];
            if mask == WIDE { Row::read_wide(&mut words) } else { Row::read(mask, &mut words) }
        })
    }
}

impl Row {
    /// Returns the words of a row without oversized numbers.
    fn words(&self) -> [u32; WORDS] {
        let mut words = [0; WORDS];
        let (pairs, long) = words.split_at_mut(PAIRS);
        pairs.iter_mut().zip(self.pairs).for_each(|(word, [low, high])| *word = (high << 16 | low) as u32);
        long.iter_mut().zip(self.long).for_each(|(word, number)| *word = number as u32);
        words
    }

    fn numbers(&self) -> impl Iterator<Item = u64> {
        self.pairs.as_flattened().iter().chain(&self.long).copied()
    }

    fn read(mask: u16, kept: &mut Reader<'_, u32>) -> Self {
        let mut words = [0; WORDS];
        let mut left = mask;
        for &word in kept.take(mask.count_ones() as usize) {
            words[left.trailing_zeros() as usize % WORDS] = word;
            left &= left - 1;
        }
        let mut row = Self::default();
        let (pairs, long) = words.split_at(PAIRS);
        let halves = |word: u32| [u64::from(word & 0xffff), u64::from(word >> 16)];
        row.pairs.iter_mut().zip(pairs).for_each(|(pair, &word)| *pair = halves(word));
        row.long.iter_mut().zip(long).for_each(|(number, &word)| *number = u64::from(word));
        row
    }

    fn read_wide(kept: &mut Reader<'_, u32>) -> Self {
        let masks = kept.take(1)[0];
        let mut half = |bit: usize| if masks >> bit & 1 == 0 { 0 } else { u64::from(kept.take(1)[0]) };
        let mut row = Self::default();
        for (bit, number) in row.pairs.as_flattened_mut().iter_mut().chain(&mut row.long).enumerate() {
            *number = half(bit) | half(bit + 16) << 32;
        }
        row
    }
}

/// A list that grows by pieces of 32 or 64 KiB. Pieces can reuse freed memory, because fresh memory costs
/// more than writing to it. Words written together are never split between two pieces.
#[derive(Clone, Debug, Default, PartialEq)]
struct Pieces<T> {
    full: Vec<Vec<T>>,
    /// The number of entries in `full`.
    before: usize,
    last: Vec<T>,
    /// The used length of the last piece.
    used: usize,
}

/// The capacity of a piece.
const PIECE: usize = 1 << 14;

/// An upper bound of the words of a row; a power of two, so that an index within it needs no check.
const LONGEST: usize = 64;

impl<T: Copy + Default> Pieces<T> {
    /// Returns the space after the used part.
    #[inline]
    fn room(&mut self) -> &mut [T; LONGEST] {
        if self.used + LONGEST > self.last.len() {
            self.begin_piece();
        }
        self.last[self.used..].first_chunk_mut().expect("a piece has room")
    }

    #[cold]
    fn begin_piece(&mut self) {
        let mut full = mem::replace(&mut self.last, vec![T::default(); PIECE]);
        if self.used > 0 {
            full.truncate(self.used);
            self.full.push(full);
            self.before += self.used;
            self.used = 0;
        }
    }

    fn len(&self) -> usize {
        self.before + self.used
    }

    fn reader(&self) -> Reader<'_, T> {
        Reader { left: &[], full: self.full.iter(), last: &self.last[..self.used] }
    }
}

/// Reads the entries in the portions in which they were written, or smaller ones.
struct Reader<'a, T> {
    /// The rest of the current piece.
    left: &'a [T],
    /// The full pieces after it.
    full: slice::Iter<'a, Vec<T>>,
    last: &'a [T],
}

impl<'a, T> Reader<'a, T> {
    #[inline]
    fn take(&mut self, count: usize) -> &'a [T] {
        if self.left.len() < count {
            self.left = self.full.next().map_or(self.last, Vec::as_slice);
        }
        let (taken, left) = self.left.split_at(count);
        self.left = left;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_model::RandomStream;

    #[test]
    fn rows_are_returned_unchanged() {
        let mut stream = RandomStream::new(1, "rows");
        // Numbers of every size, in rows that are full, empty and in between.
        let row = |stream: &mut RandomStream| {
            let (longest, share) = (1 + stream.bits() % 64, stream.bits() % 5);
            let mut number = || if stream.bits() % 4 < share { stream.bits() >> (64 - longest) } else { 0 };
            Row {
                pairs: [(); PAIRS].map(|()| [(); 2].map(|()| number())),
                long: [(); LONG].map(|()| number()),
            }
        };
        let rows: Vec<_> = (0..40_000).map(|_| row(&mut stream)).collect();
        let mut kept = SparseRows::default();
        for row in &rows {
            kept.push(row);
        }
        assert!(kept.masks.full.len() > 1 && kept.words.full.len() > 1);
        assert_eq!(kept.len(), rows.len());
        assert!(kept.iter().eq(rows));
    }

    #[test]
    fn the_size_of_a_row_depends_on_its_numbers() {
        let words = |pairs, long| {
            let mut rows = SparseRows::default();
            let row = Row { pairs, long };
            rows.push(&row);
            assert_eq!((rows.len(), rows.iter().collect()), (1, vec![row]));
            rows.words.len()
        };
        let (no_pairs, no_long) = ([[0; 2]; PAIRS], [0; LONG]);
        assert_eq!(words(no_pairs, no_long), 0);
        assert_eq!(words([[0xffff; 2]; PAIRS], [0xffff_ffff; LONG]), WORDS);
        assert_eq!(words([[u64::MAX; 2]; PAIRS], [u64::MAX; LONG]), 1 + 2 * (2 * PAIRS + LONG));
        let short = |number| words([[0; 2], [0; 2], [0; 2], [0, number]], no_long);
        assert_eq!([short(7), short(0xffff), short(0x1_0000), short(0x1_0000_0000)], [1, 1, 2, 3]);
        let long = |number| words(no_pairs, [0, 0, 0, 0, 0, 0, number]);
        assert_eq!([long(7), long(0xffff_ffff), long(0x1_0000_0000)], [1, 1, 3]);
    }
}
