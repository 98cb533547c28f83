//! The transmissions of a flow, for the policer test.

/// Recording starts again after a pause of this length if the flow was skipped.
const PAUSE_NS: u64 = 500_000_000;
/// Maximum number of segments of a flow.
const MOST_SEGMENTS: usize = 8192;
/// A flow without losses in this many bytes is not policed. The burst of a policer is smaller, and a loss is
/// detected a round trip later.
const MOST_BEFORE_LOSS: u64 = 4_000_000;
/// Size of IP and TCP headers, which policers count as well.
const HEADERS: u32 = 52;

/// One transmission of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transmission {
    pub(super) at_ns: u64,
    /// The size of payload and headers.
    pub(super) bytes: u32,
    pub(super) lost: bool,
}

/// Collects transmissions, retransmissions included.
#[derive(Clone, Debug, Default)]
pub(super) struct Transmissions {
    pub(super) sent: Vec<Transmission>,
    bytes: u64,
    lost: bool,
    last_ns: Option<u64>,
    /// Whether the flow is skipped, because it had no losses for too long.
    skipping: bool,
}

impl Transmissions {
    /// Records a packet; a super-segment counts as the segments into which it is split.
    pub(super) fn on_sent(&mut self, now_ns: u64, payload: u32, mss: u64) {
        let pause = self.last_ns.replace(now_ns).is_some_and(|last| now_ns.saturating_sub(last) > PAUSE_NS);
        self.skipping &= !pause;
        if self.skipping || self.sent.len() >= MOST_SEGMENTS {
            return;
        }
        let mss = u32::try_from(mss).unwrap_or(u32::MAX).max(1);
        let mut left = payload;
        while left > 0 && self.sent.len() < MOST_SEGMENTS {
            let segment = left.min(mss);
            self.sent.push(Transmission { at_ns: now_ns, bytes: segment + HEADERS, lost: false });
            left -= segment;
        }
        self.bytes += u64::from(payload);
        if !self.lost && self.bytes > MOST_BEFORE_LOSS {
            (self.skipping, self.bytes) = (true, 0);
            self.sent = Vec::new();
        }
    }

    /// Marks `segments` segments sent at `at_ns` as lost, or as not lost after all. In a burst, a full queue
    /// and an empty bucket drop the last segments.
    pub(super) fn on_loss(&mut self, at_ns: u64, segments: u32, lost: bool) {
        let first = self.sent.partition_point(|one| one.at_ns < at_ns);
        let count = self.sent[first..].partition_point(|one| one.at_ns == at_ns);
        let same = self.sent[first..first + count].iter_mut().filter(|one| one.lost != lost);
        let mark = |one: &mut Transmission| one.lost = lost;
        if lost {
            self.lost |= segments > 0 && count > 0;
            same.rev().take(segments as usize).for_each(mark);
        } else {
            same.take(segments as usize).for_each(mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_flows_with_losses_are_kept() {
        let mut transmissions = Transmissions::default();
        for number in 0..3_000_u64 {
            transmissions.on_sent(number * 1_000_000, 2_000, 1_000);
        }
        assert!(transmissions.skipping && transmissions.sent.is_empty());
        transmissions.on_sent(60_000_000_000, 2_500, 1_000);
        let bytes: Vec<u32> = transmissions.sent.iter().map(|one| one.bytes).collect();
        assert_eq!(bytes, [1_052, 1_052, 552]);
        transmissions.on_loss(60_000_000_000, 2, true);
        transmissions.on_loss(60_000_000_000, 1, false);
        assert_eq!(transmissions.sent.iter().map(|one| one.lost).collect::<Vec<_>>(), [false, false, true]);
        for number in 0..20_000_u64 {
            transmissions.on_sent(60_000_000_000 + number, 1_000, 1_000);
        }
        assert_eq!(transmissions.sent.len(), MOST_SEGMENTS);
    }
}
