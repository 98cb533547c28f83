//! A controller that follows a rule set by the test and records its events.

use std::sync::{Arc, Mutex, MutexGuard};

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Pacing, PathHeader, Phase,
    Probe, Requirements, SendEvent, Timestamp,
};

/// The reaction of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The window never changes.
    Fixed,
    /// Half of the flight after a loss or an echo, one segment after a timeout; grows by one segment per
    /// window if `grow` is set.
    Aimd { grow: bool },
    /// Dismisses losses and timeouts as channel errors, and halves at an echo.
    Dismiss,
}

#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) rule: Rule,
    pub(crate) control: Control,
    pub(crate) phase: Phase,
    pub(crate) needs: Requirements,
    pub(crate) signals: Vec<CongestionEvent>,
    pub(crate) acks: Vec<AckEvent>,
    pub(crate) sent: Vec<SendEvent>,
    pub(crate) spurious: usize,
    before: Bytes,
}

impl Desk {
    fn dismisses(&self, signal: CongestionSignal) -> bool {
        self.rule == Rule::Dismiss && signal != CongestionSignal::EcnCe
    }
}

/// The test's handle of a [`TestController`].
#[derive(Clone, Debug)]
pub(crate) struct Handle(Arc<Mutex<Desk>>);

impl Handle {
    pub(crate) fn new(rule: Rule, window: Bytes) -> Self {
        let control = Control { window, pacing: Pacing::Off, quantum: Bytes::MAX };
        Self(Arc::new(Mutex::new(Desk {
            rule,
            control,
            phase: Phase::CongestionAvoidance,
            needs: Requirements::default(),
            signals: Vec::new(),
            acks: Vec::new(),
            sent: Vec::new(),
            spurious: 0,
            before: window,
        })))
    }

    pub(crate) fn controller(&self) -> Box<dyn Controller> {
        Box::new(TestController(self.clone()))
    }

    pub(crate) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.0.lock().expect("no test panics while it holds the lock")
    }

    /// Returns the kinds of the signals so far.
    pub(crate) fn signals(&self) -> Vec<CongestionSignal> {
        self.desk().signals.iter().map(|event| event.signal).collect()
    }

    pub(crate) fn last_ack(&self) -> AckEvent {
        *self.desk().acks.last().expect("an acknowledgment was reported")
    }
}

#[derive(Debug)]
struct TestController(Handle);

impl Controller for TestController {
    fn requirements(&self) -> Requirements {
        self.0.desk().needs
    }

    fn on_sent(&mut self, event: &SendEvent, _probe: &mut dyn Probe) -> PathHeader {
        self.0.desk().sent.push(*event);
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn Probe) {
        let mut desk = self.0.desk();
        desk.acks.push(*event);
        if desk.rule == (Rule::Aimd { grow: true }) && event.window_limited && !event.in_recovery {
            let grown = event.mss.get() * event.acked.get() / desk.control.window.get();
            desk.control.window += Bytes::new(grown);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        let mut desk = self.0.desk();
        desk.signals.push(*event);
        if desk.rule == Rule::Fixed || desk.dismisses(event.signal) {
            return;
        }
        if event.consecutive <= 1 {
            desk.before = desk.control.window;
        }
        desk.control.window = match event.signal {
            CongestionSignal::Timeout => event.mss,
            CongestionSignal::Loss | CongestionSignal::EcnCe => {
                Bytes::new(event.flight_size.get() / 2).max(event.mss * 2)
            }
        };
    }

    fn dismissed_signal(&self) -> bool {
        let desk = self.0.desk();
        desk.signals.last().is_some_and(|event| desk.dismisses(event.signal))
    }

    fn on_spurious(&mut self, _now: Timestamp, _probe: &mut dyn Probe) {
        let mut desk = self.0.desk();
        desk.spurious += 1;
        desk.control.window = desk.before;
    }

    fn control(&self) -> Control {
        self.0.desk().control
    }

    fn phase(&self) -> Phase {
        self.0.desk().phase
    }
}
