//! An instance of a library as a congestion controller of the engine.
#![allow(unsafe_code, reason = "calls the functions of a library")]

use core::ffi::{c_int, c_void};
use core::fmt::{self, Debug};
use core::mem::size_of;
use core::ptr::{self, NonNull};
use std::sync::Arc;

use airpath_control::declare::ControllerFacts;
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, Control, Controller, Duration, Measurement, Pacing, PathHeader, Phase,
    Probe, Rate, Requirements, SendEvent, Timestamp,
};
use airpath_plugin::abi::{self, Ack, Congestion, Sent, code};

use crate::answer::{Timers, is_possible, problem};
use crate::library::text;
use crate::{FaultSink, Library};

/// The burst limit of a controller that sets none, segments.
const QUANTUM_SEGMENTS: u64 = 2;

/// An instance of a library.
pub(crate) struct Instance {
    library: Arc<Library>,
    /// The instance, as the library knows it.
    state: NonNull<c_void>,
    host: NonNull<HostSide>,
    control: abi::Control,
    mss: Bytes,
    timers: Timers,
    failed: bool,
    /// The id of the library in plans.
    name: Arc<str>,
    faults: Arc<dyn FaultSink>,
}

/// The functions for the library, and what it recorded in the present call. Only behind pointers, because the library has
/// pointers to it, too.
struct HostSide {
    functions: abi::Host,
    recorded: Vec<(u32, f64)>,
}

// SAFETY: the header requires that an instance may be used by one thread after the other. The host's side is only reached
// through the instance.
unsafe impl Send for Instance {}

/// Records a value.
///
/// # Safety
/// `context` is the host's side of an instance that is being called.
unsafe extern "C" fn record(context: *mut c_void, quantity: u32, value: f64) {
    // SAFETY: as this function requires; nothing else uses the list during a call.
    unsafe { (*context.cast::<HostSide>()).recorded.push((quantity, value)) };
}

impl HostSide {
    fn new() -> NonNull<Self> {
        let functions = abi::Host {
            size: size_of::<abi::Host>() as u32,
            reserved: 0,
            context: ptr::null_mut(),
            record: Some(record),
        };
        let side = NonNull::from(Box::leak(Box::new(Self { functions, recorded: Vec::new() })));
        // SAFETY: it was made in the line above.
        unsafe { (*side.as_ptr()).functions.context = side.as_ptr().cast() };
        side
    }
}

impl Instance {
    /// Creates an instance, or returns why it cannot be, in words.
    pub(crate) fn new(
        library: &Arc<Library>,
        values: &[abi::Value],
        facts: &mut ControllerFacts,
        name: Arc<str>,
        faults: Arc<dyn FaultSink>,
    ) -> Result<Self, String> {
        let host = HostSide::new();
        let connection = abi::Connection {
            size: size_of::<abi::Connection>() as u32,
            mss: facts.mss.get() as u32,
            initial_window: facts.initial_window.get(),
            handshake_rtt: facts.handshake_rtt.map_or(0, Duration::as_nanos),
            seed: facts.random.bits(),
            values: values.as_ptr(),
            // SAFETY: the host's side lives as long as the instance.
            host: unsafe { &raw const (*host.as_ptr()).functions },
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
        let create = library.table.create;
        // SAFETY: both structs are as the header says, and live longer than the call.
        let state = create
            .and_then(|create| NonNull::new(unsafe { create(&raw const connection, &raw mut control) }));
        let Some(state) = state else {
            // SAFETY: there is no instance that has a pointer to it.
            drop(unsafe { Box::from_raw(host.as_ptr()) });
            return Err(failure("create", &control, "it returned no instance"));
        };
        let (library, mss, timers) = (Arc::clone(library), facts.mss, Timers::default());
        let made = Self { library, state, host, control, mss, timers, failed: false, name, faults };
        if is_possible(&made.control, Timestamp::ZERO) {
            Ok(made)
        } else {
            Err(format!("after create, {}", problem(&made.control, Timestamp::ZERO)))
        }
    }

    /// Passes an event to a function of the library.
    #[inline]
    fn pass<E>(
        &mut self,
        name: &'static str,
        function: abi::OnEvent<E>,
        event: &E,
        now: Timestamp,
        probe: &mut dyn Probe,
    ) {
        if let (Some(function), false) = (function, self.failed) {
            // SAFETY: instance, event and answer are as the header says, and live longer than the call.
            let code = unsafe { function(self.state.as_ptr(), event, &raw mut self.control) };
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
        if let (Some(function), false) = (function, self.failed) {
            // SAFETY: instance and answer are as the header says, and live longer than the call.
            let code = unsafe { function(self.state.as_ptr(), now.as_nanos(), &raw mut self.control) };
            self.check(name, code, now, probe);
        }
    }

    /// Checks the answer after a call, and passes on what was recorded.
    #[inline]
    fn check(&mut self, name: &'static str, code: c_int, now: Timestamp, probe: &mut dyn Probe) {
        // SAFETY: the library uses the host's side during its calls only.
        let recorded = unsafe { &(*self.host.as_ptr()).recorded };
        if code != 0 || !recorded.is_empty() || !is_possible(&self.control, now) {
            self.settle(name, code, now, probe);
        }
    }

    /// Passes on what was recorded, and reports a fault if there is one.
    #[inline(never)]
    fn settle(&mut self, name: &'static str, code: c_int, now: Timestamp, probe: &mut dyn Probe) {
        self.pass_on(name, now, probe);
        if self.failed {
            return;
        }
        if code != 0 {
            let problem = failure(name, &self.control, &format!("it returned {code}"));
            self.fail(&problem, now);
        } else if !is_possible(&self.control, now) {
            self.fail(&format!("after {name}, {}", problem(&self.control, now)), now);
        }
    }

    fn pass_on(&mut self, name: &'static str, now: Timestamp, probe: &mut dyn Probe) {
        // SAFETY: as in `check`.
        let recorded = unsafe { &mut (*self.host.as_ptr()).recorded };
        let mut unknown = None;
        for (quantity, value) in recorded.drain(..) {
            // Rates of the engine are in byte/s.
            let measurement = match (quantity, self.library.quantities.get(quantity as usize)) {
                (code::BANDWIDTH_SAMPLE, _) => Measurement::BandwidthSample(value / 8.0),
                (code::BANDWIDTH, _) => Measurement::Bandwidth(value / 8.0),
                (_, Some(known)) => Measurement::Named(known, value),
                (_, None) => {
                    unknown = Some(quantity);
                    continue;
                }
            };
            probe.record(now, measurement);
        }
        if let Some(quantity) = unknown {
            let count = self.library.quantities.len();
            self.fail(
                &format!("in {name}, quantity {quantity} is recorded; the table declares {count}"),
                now,
            );
        }
    }

    /// Reports a fault. The instance is not called again.
    #[cold]
    fn fail(&mut self, problem: &str, now: Timestamp) {
        self.failed = true;
        self.control.window = self.mss.get();
        self.control.pacing = code::PACING_OFF;
        self.control.next_timer = abi::NEVER;
        self.faults.on_fault(format!("{}: {problem}", self.name), Some(now));
    }
}

/// Returns the reason that the library states for a failure, or another one.
fn failure(function: &str, control: &abi::Control, otherwise: &str) -> String {
    let reason = text(control.error);
    format!("{function}: {}", if reason.is_empty() { otherwise } else { &reason })
}

impl Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("name", &self.name)
            .field("control", &self.control)
            .finish_non_exhaustive()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(destroy) = self.library.table.destroy {
            // SAFETY: `create` returned the instance, which is not used again.
            unsafe { destroy(self.state.as_ptr()) };
        }
        // SAFETY: it was made by `HostSide::new`, and the instance that had a pointer to it is gone.
        drop(unsafe { Box::from_raw(self.host.as_ptr()) });
    }
}

impl Controller for Instance {
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
        if self.library.table.on_sent.is_some() {
            self.pass("on_sent", self.library.table.on_sent, &Sent::from(event), event.now, probe);
        }
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        self.pass("on_ack", self.library.table.on_ack, &Ack::from(event), event.now, probe);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        self.control.flags &= !code::CONTROL_DISMISSED;
        let function = self.library.table.on_congestion;
        self.pass("on_congestion", function, &Congestion::from(event), event.now, probe);
    }

    fn dismissed_signal(&self) -> bool {
        self.control.flags & code::CONTROL_DISMISSED != 0
    }

    fn on_spurious(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        self.pass_time("on_spurious", self.library.table.on_spurious, now, probe);
    }

    fn on_timer(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        if self.failed {
            return;
        }
        self.control.next_timer = abi::NEVER;
        if self.library.table.on_timer.is_none() {
            return self.fail("next_timer is set, but there is no function on_timer", now);
        }
        match self.timers.count(now) {
            Ok(()) => self.pass_time("on_timer", self.library.table.on_timer, now, probe),
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
