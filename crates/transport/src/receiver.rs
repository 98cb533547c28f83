//! The receiving endpoint of a connection.

use airpath_model::{Bytes, Ecn, PathHeader, Timestamp, XcpHeader};

use crate::acknowledgment::{Acknowledgment, SackBlocks};
use crate::config::{EcnMode, ReceiverConfig};
use crate::ranges::Ranges;
use crate::segment::Segment;

/// A receiver: takes segments, delivers payload in order, and returns acknowledgments.
///
/// It acknowledges every second segment, or after a timeout (RFC 5681, section 4.2). It acknowledges at once
/// if a segment arrives out of order or fills a gap, and when ECN marks begin or end (as in Linux). The
/// application reads payload as soon as it is in order, so the advertised window never shrinks.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    /// The next byte expected in order.
    next: u64,
    /// The ranges received above `next`.
    out_of_order: Ranges,
    /// The blocks of `out_of_order` that changed last, newest first (RFC 2018, section 4). Blocks that end at
    /// [`Receiver::next`] or below have been delivered; they keep their slot until another block replaces
    /// them.
    recent: [Block; 3],
    /// Whether a segment not yet acknowledged had already arrived.
    repeated: bool,
    /// The number of segments not yet acknowledged.
    pending: u32,
    acknowledge_now: bool,
    delayed_until: Timestamp,
    /// The number of acknowledgments still to be sent without delay.
    quick_acks: u64,
    /// The window to advertise.
    window: u64,
    /// TS.Recent and Last.ACK.sent of RFC 7323, section 4.3.
    timestamp_recent: Option<Timestamp>,
    last_acknowledged: u64,
    ece: bool,
    /// The number of marked segments received, modulo 2^16.
    marked: u16,
    last_was_marked: bool,
    path: PathHeader,
}

impl Receiver {
    /// Creates the receiving endpoint of a new connection.
    pub fn new(config: ReceiverConfig) -> Self {
        Self {
            config,
            next: 0,
            out_of_order: Ranges::default(),
            recent: [(0, 0); 3],
            repeated: false,
            pending: 0,
            acknowledge_now: false,
            delayed_until: Timestamp::NEVER,
            quick_acks: config.quick_acks,
            window: config.initial_receive_window.min(config.receive_window).get(),
            timestamp_recent: None,
            last_acknowledged: 0,
            ece: false,
            marked: 0,
            last_was_marked: false,
            path: PathHeader::None,
        }
    }

    /// Processes an arriving segment; its ECN field is as the routers left it.
    pub fn on_segment(&mut self, now: Timestamp, segment: &Segment) {
        if segment.sequence <= self.last_acknowledged && segment.timestamp >= self.timestamp_recent {
            self.timestamp_recent = segment.timestamp;
        }
        self.note_marks(segment);
        self.note_path(&segment.path);

        let had_gap = !self.out_of_order.is_empty();
        let in_order = segment.sequence <= self.next && segment.end() > self.next;
        if in_order {
            self.next = segment.end();
            if let Some((_, right)) = self.out_of_order.containing(self.next) {
                self.next = right;
            }
            self.out_of_order.remove_below(self.next);
        } else if segment.sequence > self.next && segment.payload > 0 {
            let mut repeated = true;
            let block = self.out_of_order.insert(segment.sequence, segment.end(), |_, _| repeated = false);
            self.repeated |= repeated;
            self.note_recent(block);
        } else {
            self.repeated |= segment.payload > 0;
        }

        self.window =
            self.window.saturating_add(2 * u64::from(segment.payload)).min(self.config.receive_window.get());
        self.pending += 1;
        let due = self.quick_acks > 0 || self.pending >= self.config.delayed_ack_segments;
        if !in_order || had_gap || due {
            self.acknowledge_now = true;
        } else if !self.delayed_until.is_scheduled() {
            self.delayed_until = now + self.config.delayed_ack_timeout;
        }
    }

    /// Returns the acknowledgment that is due, if any.
    pub fn poll_ack(&mut self, now: Timestamp) -> Option<Acknowledgment> {
        if !self.acknowledge_now {
            return None;
        }
        self.acknowledge_now = false;
        self.quick_acks = self.quick_acks.saturating_sub(1);
        self.pending = 0;
        let repeated = core::mem::take(&mut self.repeated) && self.config.sack;
        self.delayed_until = Timestamp::NEVER;
        self.last_acknowledged = self.next;
        let path = self.path;
        if let PathHeader::Xcp(_) = path {
            self.path = PathHeader::None;
        }
        Some(Acknowledgment {
            cumulative: self.next,
            sack: if self.config.sack && !self.out_of_order.is_empty() {
                self.sack_blocks()
            } else {
                SackBlocks::new()
            },
            repeated,
            receive_window: Bytes::new(self.window),
            timestamp: self.config.timestamps.then_some(now),
            timestamp_echo: self.timestamp_recent.filter(|_| self.config.timestamps),
            ece: self.ece,
            marked: self.marked,
            path,
        })
    }

    /// Returns when a delayed acknowledgment becomes due.
    pub fn next_timer(&self) -> Timestamp {
        self.delayed_until
    }

    /// Processes the expiry of the timer set by [`Receiver::next_timer`].
    pub fn on_timer(&mut self, now: Timestamp) {
        if self.delayed_until <= now {
            self.acknowledge_now = true;
        }
    }

    /// Returns the payload delivered to the application so far.
    pub fn delivered(&self) -> Bytes {
        Bytes::new(self.next)
    }

    fn note_marks(&mut self, segment: &Segment) {
        let marked = segment.ecn == Ecn::Ce;
        match self.config.ecn {
            EcnMode::Off => return,
            EcnMode::Classic => self.ece = marked || self.ece && !segment.cwr,
            EcnMode::Accurate => self.marked = self.marked.wrapping_add(marked.into()),
        }
        if marked != self.last_was_marked {
            self.acknowledge_now = true;
        }
        self.last_was_marked = marked;
    }

    /// Combines path headers: XCP feedback adds up over the segments of one acknowledgment; other fields take
    /// the newest value.
    fn note_path(&mut self, path: &PathHeader) {
        match (&mut self.path, path) {
            (PathHeader::None, PathHeader::None) => {}
            (PathHeader::Xcp(earlier), PathHeader::Xcp(newest)) => {
                let delta_throughput = earlier.delta_throughput + newest.delta_throughput;
                *earlier = XcpHeader { delta_throughput, ..*newest };
            }
            (kept, newest) => *kept = *newest,
        }
    }

    /// Moves a block that is new, has grown, or has merged with others to the front.
    fn note_recent(&mut self, block: Block) {
        let is_part = |of: Block| block.0 <= of.0 && of.1 <= block.1;
        let [first, second, third] = self.recent.map(|other| if is_part(other) { block } else { other });
        self.recent = if first == block {
            [block, second, third]
        } else if second == block {
            [block, first, third]
        } else {
            [block, first, second]
        };
    }

    /// Returns the blocks that changed last, then others while there is room (RFC 2018, section 4: as many as
    /// possible).
    fn sack_blocks(&self) -> SackBlocks {
        let recent = self.recent.iter().copied().filter(|block| block.1 > self.next);
        let others = self.out_of_order.iter().rev();
        let mut blocks = SackBlocks::new();
        let mut reported = [None; 3];
        for (left, right) in recent.chain(others) {
            let Some(place) = reported.iter().position(Option::is_none) else { break };
            if !reported.contains(&Some(left)) {
                blocks.push(self.next, left, right);
                reported[place] = Some(left);
            }
        }
        blocks
    }
}

/// A contiguous received range, bounded by gaps.
type Block = (u64, u64);
