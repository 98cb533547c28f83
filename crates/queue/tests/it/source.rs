//! Capacity sources for these tests.

use airpath_model::{Backlog, Bytes, CapacitySource, ControlInterval, Duration, Spare, Timestamp};
use std::sync::{Arc, Mutex};

/// A source with a known capacity in byte/s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known(pub(crate) f64);

impl CapacitySource for Known {
    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        Some(self.0)
    }
}

/// A source with a capacity in byte/s, and the factor Υ by which it probes above the capacity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probing(pub(crate) f64, pub(crate) f64);

impl CapacitySource for Probing {
    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        Some(self.0)
    }

    fn probing(&self) -> f64 {
        self.1
    }
}

/// The recorded calls of a source, for later inspection.
pub(crate) type EventLog = Arc<Mutex<Vec<Event>>>;

/// One call of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Event {
    Arrival(Timestamp, Bytes, Bytes),
    Departure(Timestamp, Bytes, Bytes),
    Timer(Timestamp, Bytes),
    Spare(ControlInterval),
}

/// A source that estimates no capacity, requests a timer every 30 ms and records its calls.
#[derive(Debug)]
pub(crate) struct RecordingSource {
    told: EventLog,
    due: Timestamp,
}

impl RecordingSource {
    pub(crate) fn new() -> (Self, EventLog) {
        let told = EventLog::default();
        (Self { told: Arc::clone(&told), due: Timestamp::ZERO + Duration::from_millis(30) }, told)
    }

    fn record(&self, event: Event) {
        self.told.lock().expect("no thread panicked").push(event);
    }
}

impl CapacitySource for RecordingSource {
    fn on_arrival(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        self.record(Event::Arrival(now, size, backlog.bytes));
    }

    fn on_departure(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        self.record(Event::Departure(now, size, backlog.bytes));
    }

    fn on_timer(&mut self, now: Timestamp, backlog: Backlog) {
        self.record(Event::Timer(now, backlog.bytes));
        self.due = now + Duration::from_millis(30);
    }

    fn next_timer(&self) -> Timestamp {
        self.due
    }

    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        None
    }

    fn spare(&mut self, interval: &ControlInterval) -> Spare {
        self.record(Event::Spare(*interval));
        Spare { bandwidth: 0.0, queue: interval.queue }
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("listening", 1.0);
    }
}
