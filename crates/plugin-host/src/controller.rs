//! A library as a congestion controller of the engine.
#![allow(unsafe_code, reason = "calls the functions of a library")]

use core::ffi::c_int;
use core::mem::size_of;
use core::ptr;

use airpath_control::declare::ControllerFacts;
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, Control, Controller, Duration, Measurement, Pacing, PathHeader, Phase,
    Probe, Rate, Requirements, SendEvent, Timestamp,
};
use airpath_plugin::abi::{self, Ack, Congestion, Sent, code};

use crate::answer::{Answer, Timers};
use crate::host::{Host, unknown_quantity};
use crate::instance::{Instance, Origin};

/// The burst limit of a controller that sets none, segments.
const QUANTUM_SEGMENTS: u64 = 2;

/// A controller of a library.
#[derive(Debug)]
pub(crate) struct LibraryController {
    instance: Instance<abi::Controller>,
    // After the instance, which has a pointer to it.
    host: Host,
    control: abi::Control,
    mss: Bytes,
    timers: Timers,
}

// SAFETY: the only pointer besides those of the instance and the host is `control.error`, which is read after a call only.
unsafe impl Send for LibraryController {}

impl LibraryController {
    /// Creates an instance, or returns the reason of the failure.
    pub(crate) fn new(origin: &Origin<abi::Controller>, facts: &mut ControllerFacts) -> Result<Self, String> {
        let host = Host::new();
        let connection = abi::Connection {
            size: size_of::<abi::Connection>() as u32,
            mss: facts.mss.get() as u32,
            initial_window: facts.initial_window.get(),
            handshake_rtt: facts.handshake_rtt.map_or(0, Duration::as_nanos),
            seed: facts.random.bits(),
            values: origin.values.as_ptr(),
            host: host.functions(),
        };
        let mut control = abi::Control {
            size: size_of::<abi::Control>() as u32,
            flags: 0,
            window: facts.initial_window.get(),
            pacing_rate: 0,
            quantum: QUANTUM_SEGMENTS * facts.mss.get(),
            ssthresh: abi::NEVER,
            next_timer: abi::NEVER,
            error: ptr::null(),
            pacing: code::PACING_FROM_WINDOW,
            phase: 0,
            needs: 0,
            reserved: 0,
            longest_report_interval: abi::NEVER,
        };
        let create = origin.component.table.create;
        // SAFETY: both structs are as the header requires, and live longer than the call.
        let state = create
            .map_or(ptr::null_mut(), |create| unsafe { create(&raw const connection, &raw mut control) });
        let instance = Instance::new(origin, state, &control)?;
        Ok(Self { instance, host, control, mss: facts.mss, timers: Timers::default() })
    }

    /// Passes an event to a function of the library.
    #[inline]
    fn pass<E>(
        &mut self,
        name: &'static str,
        function: abi::OnEvent<E, abi::Control>,
        event: &E,
        now: Timestamp,
        probe: &mut dyn Probe,
    ) {
        if !self.instance.failed() {
            let code = self.instance.call(function, event, &mut self.control);
            self.check(name, code, now, probe);
        }
    }

    /// Passes the time to a function of the library.
    fn pass_time(
        &mut self,
        name: &'static str,
        function: abi::OnTime,
        now: Timestamp,
        probe: &mut dyn Probe,
    ) {
        if let (Some(function), false) = (function, self.instance.failed()) {
            let state = self.instance.state().as_ptr();
            // SAFETY: instance and answer are as the header requires, and live longer than the call.
            let code = unsafe { function(state, now.as_nanos(), &raw mut self.control) };
            self.check(name, code, now, probe);
        }
    }

    /// Checks the answer after a call, and passes on the recorded quantities.
    #[inline]
    fn check(&mut self, name: &'static str, code: c_int, now: Timestamp, probe: &mut dyn Probe) {
        if code != 0 || !self.host.recorded().is_empty() || !self.control.is_possible(now) {
            self.settle(name, code, now, probe);
        }
    }

    /// Passes on the recorded quantities, and reports a fault if there is one.
    #[inline(never)]
    fn settle(&mut self, name: &'static str, code: c_int, now: Timestamp, probe: &mut dyn Probe) {
        let quantities = &self.instance.component().quantities;
        let mut unknown = None;
        for (quantity, value) in self.host.recorded().drain(..) {
            // Rates of the engine are in byte/s.
            let measurement = match (quantity, quantities.get(quantity as usize)) {
                (code::BANDWIDTH_SAMPLE, _) => Measurement::BandwidthSample(value / 8.0),
                (code::BANDWIDTH, _) => Measurement::Bandwidth(value / 8.0),
                (_, Some(known)) => Measurement::Named(known, value),
                (_, None) => {
                    unknown = Some(unknown_quantity(name, quantity, quantities.len()));
                    continue;
                }
            };
            probe.record(now, measurement);
        }
        if let Some(problem) = unknown {
            self.fail(&problem, now);
        } else if !self.instance.check(name, code, &self.control, now) {
            self.stop();
        }
    }

    /// Reports a fault. The instance is not called again.
    #[cold]
    fn fail(&mut self, problem: &str, now: Timestamp) {
        self.instance.fail(problem, now);
        self.stop();
    }

    /// Allows one segment until the run ends.
    #[cold]
    fn stop(&mut self) {
        self.control.window = self.mss.get();
        self.control.pacing = code::PACING_OFF;
        self.control.next_timer = abi::NEVER;
    }
}

impl Controller for LibraryController {
    fn requirements(&self) -> Requirements {
        let needs = |flag: u32| self.control.needs & flag != 0;
        let interval = self.control.longest_report_interval;
        Requirements {
            pacing: needs(code::NEEDS_PACING),
            rate_samples: needs(code::NEEDS_RATE_SAMPLES),
            ecn: needs(code::NEEDS_ECN),
            accurate_ecn: needs(code::NEEDS_ACCURATE_ECN),
            path_feedback: false,
            receiver_time: needs(code::NEEDS_RECEIVER_TIME),
            window_in_recovery: needs(code::NEEDS_WINDOW_IN_RECOVERY),
            longest_report_interval: (interval != abi::NEVER).then(|| Duration::from_nanos(interval)),
        }
    }

    fn on_sent(&mut self, event: &SendEvent, probe: &mut dyn Probe) -> PathHeader {
        let function = self.instance.table().on_sent;
        if function.is_some() {
            self.pass("on_sent", function, &Sent::from(event), event.now, probe);
        }
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        let function = self.instance.table().on_ack;
        self.pass("on_ack", function, &Ack::from(event), event.now, probe);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        self.control.flags &= !code::CONTROL_DISMISSED;
        let function = self.instance.table().on_congestion;
        self.pass("on_congestion", function, &Congestion::from(event), event.now, probe);
    }

    fn dismissed_signal(&self) -> bool {
        self.control.flags & code::CONTROL_DISMISSED != 0
    }

    fn on_spurious(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        let function = self.instance.table().on_spurious;
        self.pass_time("on_spurious", function, now, probe);
    }

    fn on_timer(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        if self.instance.failed() {
            return;
        }
        self.control.next_timer = abi::NEVER;
        let function = self.instance.table().on_timer;
        match self.timers.count_for(function.is_some(), now) {
            Ok(()) => self.pass_time("on_timer", function, now, probe),
            Err(problem) => self.fail(&problem, now),
        }
    }

    fn next_timer(&self) -> Timestamp {
        Timestamp::from_nanos(self.control.next_timer)
    }

    fn control(&self) -> Control {
        Control {
            window: Bytes::new(self.control.window).max(self.mss),
            pacing: match self.control.pacing {
                code::PACING_AT_RATE => Pacing::At(Rate::from_bps(self.control.pacing_rate)),
                code::PACING_OFF => Pacing::Off,
                _ => Pacing::FromWindow,
            },
            quantum: Bytes::new(self.control.quantum).max(self.mss),
        }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        (self.control.ssthresh != abi::NEVER).then(|| Bytes::new(self.control.ssthresh))
    }

    fn phase(&self) -> Phase {
        abi::PHASES.get(self.control.phase as usize).copied().unwrap_or(Phase::Steady)
    }
}
