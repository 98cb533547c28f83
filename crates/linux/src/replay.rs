//! The controllers as the kernel runs them, one event at a time: the calls of [`crate::native`] through
//! `bpf_prog_test_run`.
//!
//! For tests. Requires root.

crate::skeleton!("replay");

use std::fmt;
use std::mem::MaybeUninit;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{OpenObject, ProgramInput};

use crate::Error;
use crate::native::{AckEvent, CongestionEvent, Kind};
use skeleton::{ReplaySkel, ReplaySkelBuilder};

const START: u32 = 0;
const ACK: u32 = 1;
const CONGESTION: u32 = 2;
const SPURIOUS: u32 = 3;

/// Size of `struct replay` in bytes: the call, the window, an acknowledgment, a congestion signal.
const CONTEXT: usize = 8 + 8 + 56 + 40;

/// A controller that runs in the kernel.
pub struct KernelController {
    skeleton: ReplaySkel<'static>,
    kind: Kind,
    context: [u8; CONTEXT],
}

impl fmt::Debug for KernelController {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KernelController").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl KernelController {
    /// Creates a controller with an initial window of `window` bytes.
    pub fn new(kind: Kind, window: u32, mss: u32) -> Result<Self, Error> {
        let object: &'static mut MaybeUninit<OpenObject> = Box::leak(Box::new(MaybeUninit::uninit()));
        let open =
            ReplaySkelBuilder::default().open(object).map_err(Error::bpf("cannot open the programs"))?;
        let skeleton = open.load().map_err(Error::bpf("cannot load the programs"))?;
        let mut controller = Self { skeleton, kind, context: [0; CONTEXT] };
        controller.context[8..16].copy_from_slice(&u64::from(window).to_ne_bytes());
        controller.on_ack_bytes(&AckEvent { mss, ..AckEvent::default() });
        controller.call(START)?;
        Ok(controller)
    }

    /// Processes an acknowledgment.
    pub fn on_ack(&mut self, event: &AckEvent) -> Result<(), Error> {
        self.on_ack_bytes(event);
        self.call(ACK)
    }

    /// Processes a congestion signal.
    pub fn on_congestion(&mut self, event: &CongestionEvent) -> Result<(), Error> {
        self.context[72..112].copy_from_slice(&event.to_bytes());
        self.call(CONGESTION)
    }

    /// Undoes the last congestion signal, which was spurious.
    pub fn on_spurious(&mut self) -> Result<(), Error> {
        self.call(SPURIOUS)
    }

    /// Returns the congestion window in bytes of payload.
    pub fn window(&self) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.context[8..16]);
        u64::from_ne_bytes(bytes)
    }

    fn on_ack_bytes(&mut self, event: &AckEvent) {
        self.context[16..72].copy_from_slice(&event.to_bytes());
    }

    fn call(&mut self, call: u32) -> Result<(), Error> {
        self.context[..4].copy_from_slice(&call.to_ne_bytes());
        let programs = &self.skeleton.progs;
        let program = match self.kind {
            Kind::Xcp => &programs.replay_xcp,
            Kind::Vcp => &programs.replay_vcp,
            Kind::CubicEbe => &programs.replay_ebe,
            Kind::Westwood => &programs.replay_westwood,
            Kind::Sarbe => &programs.replay_sarbe,
        };
        let input = ProgramInput { context_in: Some(&mut self.context), ..ProgramInput::default() };
        program.test_run(input).map_err(Error::bpf("cannot run a program"))?;
        Ok(())
    }
}
