//! Slow starts as components.

use alloc::boxed::Box;
use core::fmt::Debug;

use airpath_model::declare::plain_kind;
use airpath_model::{AckEvent, Bytes, CongestionSignal, Phase};

use crate::SlowStart;

plain_kind! {
    /// Slow starts, which may be combined with any window rule.
    SlowStarts, "slow-start", AnySlowStart
}

/// A slow start of any type.
#[derive(Debug)]
pub struct AnySlowStart(Box<dyn ErasedSlowStart>);

impl AnySlowStart {
    /// Erases the type of a slow start.
    pub fn new(slow_start: impl SlowStart + 'static) -> Self {
        Self(Box::new(slow_start))
    }
}

/// [`SlowStart`] without its supertrait `Clone`, which does not allow trait objects.
trait ErasedSlowStart: Debug + Send {
    fn boxed_clone(&self) -> Box<dyn ErasedSlowStart>;
    fn growth(&self, event: &AckEvent) -> Bytes;
    fn on_ack(&mut self, event: &AckEvent) -> bool;
    fn initial_ssthresh(&self) -> Option<Bytes>;
    fn on_congestion(&mut self, signal: CongestionSignal);
    fn phase(&self) -> Phase;
}

impl<S: SlowStart + 'static> ErasedSlowStart for S {
    fn boxed_clone(&self) -> Box<dyn ErasedSlowStart> {
        Box::new(self.clone())
    }

    fn growth(&self, event: &AckEvent) -> Bytes {
        SlowStart::growth(self, event)
    }

    fn on_ack(&mut self, event: &AckEvent) -> bool {
        SlowStart::on_ack(self, event)
    }

    fn initial_ssthresh(&self) -> Option<Bytes> {
        SlowStart::initial_ssthresh(self)
    }

    fn on_congestion(&mut self, signal: CongestionSignal) {
        SlowStart::on_congestion(self, signal);
    }

    fn phase(&self) -> Phase {
        SlowStart::phase(self)
    }
}

impl Clone for AnySlowStart {
    fn clone(&self) -> Self {
        Self(self.0.boxed_clone())
    }
}

impl SlowStart for AnySlowStart {
    fn growth(&self, event: &AckEvent) -> Bytes {
        self.0.growth(event)
    }

    fn on_ack(&mut self, event: &AckEvent) -> bool {
        self.0.on_ack(event)
    }

    fn initial_ssthresh(&self) -> Option<Bytes> {
        self.0.initial_ssthresh()
    }

    fn on_congestion(&mut self, signal: CongestionSignal) {
        self.0.on_congestion(signal);
    }

    fn phase(&self) -> Phase {
        self.0.phase()
    }
}
