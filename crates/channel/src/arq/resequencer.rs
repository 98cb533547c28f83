//! The receiving end of a link with ARQ: restores the order of first transmissions.

use alloc::collections::VecDeque;

/// A buffer that holds packets until all previous ones have arrived or are given up.
#[derive(Clone, Debug)]
pub(super) struct Resequencer<P> {
    /// Number of the packet to be delivered next: that of the first entry.
    expected: u32,
    /// Never begins with [`Place::GivenUp`].
    places: VecDeque<Place<P>>,
}

/// The state of one packet.
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
    /// Records that packet `number` arrived, or is given up.
    pub(super) fn receive(&mut self, number: u32, packet: Option<P>) {
        let place = number.wrapping_sub(self.expected) as usize;
        while self.places.len() <= place {
            self.places.push_back(Place::Missing);
        }
        self.places[place] = packet.map_or(Place::GivenUp, Place::Held);
        self.skip_given_up();
    }

    /// Returns the next packet in order, if it has arrived.
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
    fn sequence_numbers_wrap_around() {
        let mut resequencer = Resequencer { expected: u32::MAX, ..Resequencer::default() };
        resequencer.receive(0, Some('b'));
        assert_eq!(resequencer.release(), None);
        resequencer.receive(u32::MAX, Some('a'));
        assert_eq!([resequencer.release(), resequencer.release()], [Some('a'), Some('b')]);
    }

    proptest! {
        /// For any order of arrival, the output is sorted and complete, and a packet is released as soon as
        /// the fates of all previous ones are known.
        #[test]
        fn packets_leave_in_order_without_additional_delay(
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
