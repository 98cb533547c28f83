//! The flows of which something happened.

/// A bit for each flow: whether anything happened to it in the interval of the series that is under way. Where flows are many
/// and an interval is short, nothing happened to most, and nobody needs to look at them.
#[derive(Debug)]
pub(crate) struct Happened(Vec<u64>);

impl Happened {
    /// Of that many flows; something happened to each, since nothing is known of them yet.
    pub(crate) fn new(flows: usize) -> Self {
        let mut all = Self(Vec::new());
        (0..flows).for_each(|flow| all.to(flow as u32));
        all
    }

    /// Something happened to a flow.
    #[inline]
    pub(crate) fn to(&mut self, flow: u32) {
        let word = flow as usize / WORD;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (flow as usize % WORD);
    }

    /// How many words [`Happened::take`] has.
    pub(crate) fn words(&self) -> usize {
        self.0.len()
    }

    /// Forgets the flows of one word, and gives them in their order.
    pub(crate) fn take(&mut self, word: usize) -> impl Iterator<Item = u32> + use<> {
        let mut bits = std::mem::take(&mut self.0[word]);
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros())?;
            bits &= bits - 1;
            Some((word * WORD) as u32 + bit)
        })
    }
}

const WORD: usize = u64::BITS as usize;

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(happened: &mut Happened) -> Vec<u32> {
        (0..happened.words()).flat_map(|word| happened.take(word).collect::<Vec<_>>()).collect()
    }

    #[test]
    fn flows_are_given_once_and_in_order() {
        let mut happened = Happened::new(70);
        assert_eq!(taken(&mut happened), (0..70).collect::<Vec<_>>());
        assert!(taken(&mut happened).is_empty());
        [130, 3, 63, 64, 3].iter().for_each(|&flow| happened.to(flow));
        assert_eq!(taken(&mut happened), [3, 63, 64, 130]);
    }
}
