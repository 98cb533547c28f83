//! A sender whose peer is the test. Segments are numbered: segment k carries the bytes from k MSS on.

use airpath_model::{Bytes, Duration, Measurement, Probe, Timestamp};
use airpath_transport::{Acknowledgment, Recovery, SackBlocks, Segment, Sender, SenderConfig};

use crate::controller::{Handle, Rule};

pub(crate) const MSS: u64 = 1000;

pub(crate) fn at(ms: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(ms)
}

pub(crate) fn config(recovery: Recovery) -> SenderConfig {
    SenderConfig { mss: Bytes::new(MSS), recovery, ..SenderConfig::default() }
}

pub(crate) struct Script {
    pub(crate) sender: Sender,
    pub(crate) controller: Handle,
    pub(crate) now: Timestamp,
    /// Whether the following acknowledgments carry ECE.
    pub(crate) ece: bool,
    /// The receiver's count of marked segments.
    pub(crate) marked: u16,
    /// Whether the next acknowledgment reports a duplicate segment.
    pub(crate) repeated: bool,
    pub(crate) receive_window: Bytes,
    /// The timestamp echoed by the following acknowledgments.
    pub(crate) echo: Option<Timestamp>,
    pub(crate) notes: Notes,
}

/// The measurements that the sender reported to its probe.
#[derive(Default)]
pub(crate) struct Notes(pub(crate) Vec<Measurement>);

impl Probe for Notes {
    fn record(&mut self, _now: Timestamp, measurement: Measurement) {
        self.0.push(measurement);
    }
}

impl Script {
    /// Creates a script with unlimited data.
    pub(crate) fn new(config: SenderConfig, rule: Rule, window: u64) -> Self {
        let mut script = Self::idle(config, rule, window);
        script.sender.offer(Bytes::MAX);
        script
    }

    /// Creates a script without data.
    pub(crate) fn idle(config: SenderConfig, rule: Rule, window: u64) -> Self {
        let controller = Handle::new(rule, Bytes::new(window * MSS));
        let sender = Sender::new(config, controller.controller()).expect("a valid configuration");
        let (now, receive_window) = (Timestamp::ZERO, config.receive_window);
        let notes = Notes::default();
        Self {
            sender,
            controller,
            now,
            ece: false,
            marked: 0,
            repeated: false,
            receive_window,
            echo: None,
            notes,
        }
    }

    pub(crate) fn at(&mut self, ms: u64) -> &mut Self {
        assert!(at(ms) >= self.now, "scripts are in time order");
        self.now = at(ms);
        self
    }

    /// Returns all segments that may be sent now.
    pub(crate) fn segments(&mut self) -> Vec<Segment> {
        let (sender, notes, now) = (&mut self.sender, &mut self.notes, self.now);
        std::iter::from_fn(|| sender.poll_transmit(now, notes)).collect()
    }

    /// Returns the numbers of all segments that may be sent now.
    pub(crate) fn send(&mut self) -> Vec<u64> {
        self.segments().iter().map(|segment| segment.sequence / MSS).collect()
    }

    /// Acknowledges all segments below `cumulative` and the given ranges of segments; returns the segments
    /// sent in response.
    pub(crate) fn ack(&mut self, cumulative: u64, sack: &[(u64, u64)]) -> Vec<u64> {
        self.give(cumulative * MSS, sack);
        self.send()
    }

    /// Acknowledges as [`Script::ack`] does, but with the cumulative acknowledgment in bytes and without
    /// polling for segments.
    pub(crate) fn give(&mut self, cumulative: u64, sack: &[(u64, u64)]) {
        let mut blocks = SackBlocks::new();
        for &(left, right) in sack {
            assert!(blocks.push(cumulative, left * MSS, right * MSS));
        }
        let ack = Acknowledgment {
            repeated: std::mem::take(&mut self.repeated),
            cumulative,
            sack: blocks,
            receive_window: self.receive_window,
            timestamp: None,
            timestamp_echo: self.echo,
            ece: self.ece,
            marked: self.marked,
            path: airpath_model::PathHeader::None,
        };
        self.sender.on_ack(self.now, &ack, &mut self.notes);
    }

    /// Advances to the next timer; returns the segments sent in response.
    pub(crate) fn expire(&mut self) -> Vec<u64> {
        self.pass();
        self.send()
    }

    /// Expires as [`Script::expire`] does, but without polling for segments.
    pub(crate) fn pass(&mut self) {
        let timer = self.sender.next_timer();
        assert!(timer.is_scheduled() && timer >= self.now, "{timer:?}");
        self.now = timer;
        self.sender.on_timer(timer, &mut self.notes);
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.sender.in_flight().get() / MSS
    }
}
