//! The data of a window of time.

use super::samples::Quantiles;

/// Number of equal parts of a window in which delivered bytes are counted, for the interval of its rate.
pub(super) const PARTS: usize = 5;

/// Sums and quantiles of one window. Times in nanoseconds, samples in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Window {
    /// Number of acknowledgments.
    pub(super) acks: u32,
    /// Number of data packets.
    pub(super) packets: u32,
    /// Payload newly acknowledged.
    pub(super) delivered: u64,
    /// Payload newly acknowledged, at the time at which it left the bottleneck: half the smallest round trip
    /// earlier.
    pub(super) parts: [u64; PARTS],
    /// Round-trip times.
    pub(super) rtt: Quantiles<21>,
    /// Differences of successive round-trip times.
    pub(super) step: Quantiles<3>,
    /// Rates between successive acknowledgments, bit/s.
    pub(super) rates: Quantiles<5>,
    /// Times between acknowledgments that delivered data, without pauses of the application: sum, and sum of
    /// squares in s².
    pub(super) gaps_ns: u64,
    pub(super) gap_squares: f64,
    /// Bytes in flight when data packets were sent.
    pub(super) flight: Quantiles<21>,
    /// Delay of the forward path by the receiver's clock, minus an unknown constant.
    pub(super) there: Quantiles<3>,
    /// Delay of the reverse path by the receiver's clock, minus an unknown constant.
    pub(super) back: Quantiles<3>,
    /// Time for which the receive window had no room for two segments.
    pub(super) full_ns: u64,
    /// Time for which everything sent was acknowledged.
    pub(super) idle_ns: u64,
    /// Number of data packets sent just after an acknowledgment.
    pub(super) near: u32,
    /// Number of data packets shorter than a full segment.
    pub(super) short: u32,
    /// The first and the last data packet, and the longest time between two.
    pub(super) sent: Option<(u64, u64)>,
    pub(super) silence_ns: u64,
    /// Retransmitted segments, except those known to be unnecessary.
    pub(super) losses: u32,
    /// Number of acknowledgments that report congestion marks.
    pub(super) marks: u32,
    /// Whether data was outstanding at its end.
    pub(super) outstanding: bool,
    /// Whether the receive window had no room for one segment at its end.
    pub(super) shut: bool,
}

impl Window {
    /// Adds the events of a later window, except the parts.
    pub(super) fn absorb(&mut self, later: &Self) {
        self.acks = self.acks.saturating_add(later.acks);
        self.packets = self.packets.saturating_add(later.packets);
        self.delivered = self.delivered.saturating_add(later.delivered);
        self.rtt = self.rtt.merged(&later.rtt);
        self.step = self.step.merged(&later.step);
        self.rates = self.rates.merged(&later.rates);
        self.gaps_ns = self.gaps_ns.saturating_add(later.gaps_ns);
        self.gap_squares += later.gap_squares;
        self.flight = self.flight.merged(&later.flight);
        self.there = self.there.merged(&later.there);
        self.back = self.back.merged(&later.back);
        self.full_ns = self.full_ns.saturating_add(later.full_ns);
        self.idle_ns = self.idle_ns.saturating_add(later.idle_ns);
        self.near = self.near.saturating_add(later.near);
        self.short = self.short.saturating_add(later.short);
        if let Some((first, last)) = later.sent {
            let between = self.sent.map_or(0, |(_, before)| first.saturating_sub(before));
            self.silence_ns = self.silence_ns.max(later.silence_ns).max(between);
            self.sent = Some((self.sent.map_or(first, |(first, _)| first), last));
        }
        self.losses = self.losses.saturating_add(later.losses);
        self.marks = self.marks.saturating_add(later.marks);
        (self.outstanding, self.shut) = (later.outstanding, later.shut);
    }

    /// Returns the mean time from a random instant to the next delivery, in seconds: the wait of a packet that
    /// meets no other one.
    pub(super) fn lone_wait(&self) -> f64 {
        if self.gaps_ns == 0 { 0.0 } else { self.gap_squares / (2e-9 * self.gaps_ns as f64) }
    }

    /// Returns a window without events, with the state at the end of this one.
    pub(super) fn silent_after(&self) -> Self {
        Self { outstanding: self.outstanding, shut: self.shut, ..Self::default() }
    }
}

/// Returns the parts of successive windows as the parts of one.
pub(super) fn joined_parts(windows: &[Window]) -> [u64; PARTS] {
    let mut parts = [0; PARTS];
    for (place, part) in windows.iter().flat_map(|window| window.parts).enumerate() {
        parts[place / windows.len()] += part;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_silence_may_span_windows() {
        let mut first = Window { sent: Some((0, 10)), silence_ns: 4, ..Window::default() };
        first.absorb(&Window { shut: true, ..Window::default() });
        first.absorb(&Window { sent: Some((40, 50)), silence_ns: 9, ..Window::default() });
        assert_eq!((first.sent, first.silence_ns, first.shut), (Some((0, 50)), 30, false));
    }

    #[test]
    fn a_single_packet_waits_half_of_a_regular_gap() {
        let mut regular =
            Window { gaps_ns: 8_000_000, gap_squares: 2.0 * 0.004 * 0.004, ..Window::default() };
        assert!((regular.lone_wait() - 0.002).abs() < 1e-12);
        // A random instant lies in the gap of 8 ms as often as in the two others.
        regular.absorb(&Window { gaps_ns: 8_000_000, gap_squares: 0.008 * 0.008, ..Window::default() });
        assert!((regular.lone_wait() - 0.003).abs() < 1e-12);
    }

    #[test]
    fn parts_of_two_windows_are_merged_in_order() {
        let windows = [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]].map(|parts| Window { parts, ..Window::default() });
        assert_eq!(joined_parts(&windows), [3, 7, 11, 15, 19]);
    }
}
