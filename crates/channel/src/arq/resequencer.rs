//! The receiving end of a link that repeats: packets in the order in which they were first sent.

use alloc::collections::VecDeque;

/// Holds packets until all before them have arrived or are given up.
#[derive(Clone, Debug)]
pub(super) struct Resequencer<P> {
    /// Number of the packet that is delivered next: that of the first place.
    expected: u32,
    /// Never begins with [`Place::GivenUp`].
    places: VecDeque<Place<P>>,
}

/// What is known of one packet.
#[derive(Clone, Copy, Debug)]
enum Place<P> {
    Missing,
    Held(P),
    GivenUp,
}

impl<P> Default for Resequencer<P> {
    fn default() -> Self {
        Self { expected: 0, places: VecDeque::new() }
    }
}

impl<P> Resequencer<P> {
    /// Packet `number` arrived, or is given up.
    pub(super) fn receive(&mut self, number: u32, packet: Option<P>) {
        let place = number.wrapping_sub(self.expected) as usize;
        while self.places.len() <= place {
            self.places.push_back(Place::Missing);
        }
        self.places[place] = packet.map_or(Place::GivenUp, Place::Held);
        self.skip_given_up();
    }

    /// The next packet in order, if it is there.
    pub(super) fn release(&mut self) -> Option<P> {
        if !self.can_release() {
            return None;
        }
        self.expected = self.expected.wrapping_add(1);
        let Some(Place::Held(packet)) = self.places.pop_front() else { return None };
        self.skip_given_up();
        Some(packet)
    }

    pub(super) fn can_release(&self) -> bool {
        matches!(self.places.front(), Some(Place::Held(_)))
    }

    pub(super) fn held(&self) -> u64 {
        self.places.iter().filter(|place| matches!(place, Place::Held(_))).count() as u64
    }

    fn skip_given_up(&mut self) {
        while let Some(Place::GivenUp) = self.places.front() {
            self.places.pop_front();
            self.expected = self.expected.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_start_over() {
        let mut resequencer = Resequencer { expected: u32::MAX, ..Resequencer::default() };
        resequencer.receive(0, Some('b'));
        assert_eq!(resequencer.release(), None);
        resequencer.receive(u32::MAX, Some('a'));
        assert_eq!([resequencer.release(), resequencer.release()], [Some('a'), Some('b')]);
    }

    proptest! {
        /// Whatever the order of arrival: what comes out is sorted, complete, and out as soon as all before it are known.
        #[test]
        fn comes_out_in_order_and_without_waiting_longer(
            (order, lost) in (1_usize..40).prop_flat_map(|count| (
                Just((0..count as u32).collect::<Vec<_>>()).prop_shuffle(),
                prop::collection::vec(any::<bool>(), count),
            ))
        ) {
            let mut resequencer = Resequencer::default();
            let (mut out, mut known) = (Vec::new(), Vec::new());
            for number in order {
                known.push(number);
                resequencer.receive(number, (!lost[number as usize]).then_some(number));
                while let Some(packet) = resequencer.release() {
                    out.push(packet);
                }
                let complete = (0..).take_while(|number| known.contains(number));
                let expected: Vec<u32> = complete.filter(|&number| !lost[number as usize]).collect();
                prop_assert_eq!(&out, &expected);
                let arrived = known.iter().filter(|&&number| !lost[number as usize]).count();
                prop_assert_eq!(resequencer.held(), (arrived - out.len()) as u64);
            }
        }
    }
}
