//! Samples of the data acknowledged in a window of time.

use airpath_model::{AckEvent, Bytes, Duration, Timestamp};

use super::instants::{Instant, Instants};
use crate::ack_rate::sample::Sample;

/// The minimum length of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowLength {
    /// The smoothed RTT. Before the first RTT sample no window closes.
    RoundTrip,
    /// A constant time.
    Fixed(Duration),
}

/// Sums data. The window closes at the first instant that is at least a window's length after its start. That
/// instant is included, and the divisor is the time that actually passed. With a length of zero each instant
/// is a sample.
#[derive(Clone, Debug)]
pub(crate) struct Accumulation {
    window: WindowLength,
    instants: Instants,
    /// The start of the window. The first acknowledgment only starts the clock.
    start: Option<Timestamp>,
    amount: Bytes,
}

impl Accumulation {
    pub(crate) fn new(window: WindowLength) -> Self {
        Self { window, instants: Instants::default(), start: None, amount: Bytes::ZERO }
    }

    pub(crate) fn needs_rtt(&self) -> bool {
        self.window == WindowLength::RoundTrip
    }

    pub(crate) fn on_ack(&mut self, amount: Bytes, event: &AckEvent) -> Option<Sample> {
        let next = Instant { at: event.now, amount, rtt: event.rtt.smoothed };
        let instant = self.instants.on_ack(next)?;
        let Some(start) = self.start else {
            self.start = Some(instant.at);
            return None;
        };
        self.amount += instant.amount;
        let length = match self.window {
            WindowLength::RoundTrip if instant.rtt.is_zero() => return None,
            WindowLength::RoundTrip => instant.rtt,
            WindowLength::Fixed(length) => length,
        };
        let elapsed = instant.at.since(start);
        if elapsed < length {
            return None;
        }
        let sample = Sample::new(self.amount, elapsed);
        self.start = Some(instant.at);
        self.amount = Bytes::ZERO;
        Some(sample)
    }
}
