//! An ACK-rate estimator, a capacity source and a queue that fail in the way that their parameter says, for tests.

use std::collections::VecDeque;
use std::ffi::CStr;

use airpath_plugin::model::{
    AckEvent, AckRateEstimator, Backlog, Bytes, CapacitySource, ControlInterval, DropReason, Duration,
    Measurement, Packet, Probe, Qdisc, QueueSink, Spare, Timestamp,
};
use airpath_plugin::{
    EstimatorPlugin, LinkFacts, Parameter, QueuePlugin, QueuedPacket, SourcePlugin, Values,
};

/// The components fail when this number of acknowledgments or packets has arrived.
const FAILS_AT: u32 = 100;

/// The fault that a component shows, and when.
#[derive(Clone, Debug)]
struct Fault {
    chosen: &'static str,
    seen: u32,
}

impl Fault {
    /// Reads the parameter. A fault of the start shows at once.
    fn of(values: &Values<'_>) -> Result<Self, String> {
        let chosen = values.choice("fault");
        assert!(chosen != "start_panic", "as asked");
        if chosen == "start" { Err("as asked".to_owned()) } else { Ok(Self { chosen, seen: 0 }) }
    }

    /// Counts an event. A panic shows here.
    fn count(&mut self) {
        self.seen += 1;
        assert!(!self.shows("panic"), "after {} events", self.seen);
    }

    /// Whether the component shows this fault now.
    fn shows(&self, fault: &str) -> bool {
        self.chosen == fault && self.seen >= FAILS_AT
    }
}

#[derive(Clone, Debug)]
struct FaultyEstimator(Fault);

impl AckRateEstimator for FaultyEstimator {
    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        self.0.count();
        let sample = if self.0.shows("sample") { -1.0 } else { 1e6 };
        probe.record(event.now, Measurement::BandwidthSample(sample));
    }

    fn bandwidth(&self) -> Option<f64> {
        Some(if self.0.shows("not_a_number") { f64::NAN } else { 1e6 })
    }

    fn minimum_rtt(&self) -> Option<Duration> {
        self.0.shows("rtt").then(|| Duration::from_secs(10_000_000))
    }
}

struct Estimator;

impl EstimatorPlugin for Estimator {
    type Estimator = FaultyEstimator;
    const TITLE: &'static CStr = c"Faulty";
    const DESCRIPTION: &'static CStr = c"A constant estimate, and a fault.";
    const PARAMETERS: &'static [Parameter] = &[Parameter::choice(
        c"fault",
        c"What goes wrong.",
        c"none panic sample not_a_number rtt start start_panic",
    )];

    fn build(values: &Values<'_>) -> Result<FaultyEstimator, String> {
        Fault::of(values).map(FaultyEstimator)
    }
}

airpath_plugin::export!(estimator: Estimator);

#[derive(Debug)]
struct FaultySource {
    fault: Fault,
    now: Timestamp,
}

impl CapacitySource for FaultySource {
    fn on_arrival(&mut self, now: Timestamp, _size: Bytes, _backlog: Backlog) {
        self.now = now;
        self.fault.count();
    }

    fn next_timer(&self) -> Timestamp {
        match self.fault.chosen {
            "past" if self.fault.shows("past") => self.now - Duration::from_millis(1),
            "timers" if self.fault.shows("timers") => self.now,
            _ => Timestamp::NEVER,
        }
    }

    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        Some(if self.fault.shows("capacity") { -1.0 } else { 1e6 })
    }

    fn probing(&self) -> f64 {
        if self.fault.shows("probing") { f64::INFINITY } else { 1.0 }
    }

    fn spare(&mut self, interval: &ControlInterval) -> Spare {
        let bandwidth = if self.fault.shows("spare") { f64::NAN } else { 1e6 - interval.input_rate };
        Spare { bandwidth, queue: interval.queue }
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        if self.fault.shows("quantity") {
            report("unknown", 1.0);
        }
    }
}

struct Source;

impl SourcePlugin for Source {
    type Source = FaultySource;
    const TITLE: &'static CStr = c"Faulty";
    const DESCRIPTION: &'static CStr = c"A constant capacity, and a fault.";
    const PARAMETERS: &'static [Parameter] = &[Parameter::choice(
        c"fault",
        c"What goes wrong.",
        c"none panic past timers capacity probing spare quantity start start_panic",
    )];

    fn build(_buffer: Bytes, values: &Values<'_>) -> Result<FaultySource, String> {
        Ok(FaultySource { fault: Fault::of(values)?, now: Timestamp::ZERO })
    }
}

airpath_plugin::export!(source: Source);

#[derive(Debug)]
struct FaultyQueue {
    fault: Fault,
    waiting: VecDeque<QueuedPacket>,
    now: Timestamp,
}

impl Qdisc<QueuedPacket> for FaultyQueue {
    fn enqueue(&mut self, now: Timestamp, packet: QueuedPacket, sink: &mut dyn QueueSink<QueuedPacket>) {
        self.now = now;
        self.fault.count();
        if packet.fits() || self.fault.shows("full") {
            self.waiting.push_back(packet);
        } else {
            sink.on_drop(now, packet, DropReason::Overflow);
        }
        if self.fault.shows("dropped") {
            sink.on_drop(now, packet, DropReason::Early);
        }
    }

    fn dequeue(&mut self, now: Timestamp, _sink: &mut dyn QueueSink<QueuedPacket>) -> Option<QueuedPacket> {
        self.now = now;
        if self.fault.shows("twice") {
            return self.waiting.front().copied();
        }
        self.waiting.pop_front()
    }

    fn backlog(&self) -> Backlog {
        let bytes = self.waiting.iter().map(Packet::size).fold(Bytes::ZERO, |sum, size| sum + size);
        Backlog { bytes, packets: self.waiting.len() as u64 }
    }

    fn next_timer(&self) -> Timestamp {
        match self.fault.chosen {
            "past" if self.fault.shows("past") => self.now - Duration::from_millis(1),
            "timers" if self.fault.shows("timers") => self.now,
            _ => Timestamp::NEVER,
        }
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        if self.fault.shows("quantity") {
            report("unknown", 1.0);
        }
    }
}

struct Queue;

impl QueuePlugin for Queue {
    type Queue = FaultyQueue;
    const TITLE: &'static CStr = c"Faulty";
    const DESCRIPTION: &'static CStr = c"Drop-tail, and a fault.";
    const PARAMETERS: &'static [Parameter] = &[Parameter::choice(
        c"fault",
        c"What goes wrong.",
        c"none panic past timers full dropped twice quantity start start_panic",
    )];

    fn build(_link: LinkFacts, values: &Values<'_>) -> Result<FaultyQueue, String> {
        Ok(FaultyQueue { fault: Fault::of(values)?, waiting: VecDeque::new(), now: Timestamp::ZERO })
    }
}

airpath_plugin::export!(queue: Queue);
