//! The router's BPF programs: loading, attaching, and the variables that they share with this process.

crate::skeleton!("router");

use std::fmt;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, OpenObject, ProgramInput, ProgramMut};

use super::Protocol;
use super::engine::Guidance;
use super::loss::{Hook, Outcome};
use super::record::Passed;
use super::shared::Shared;
use crate::{Error, ring, tcx};
use skeleton::{RouterSkel, RouterSkelBuilder, types};

/// What the programs have counted since they were loaded; `counters` of `bpf/router_state.h` says what each is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[expect(missing_docs, reason = "bpf/router_state.h says them")]
pub struct Counters {
    pub packets: u64,
    pub bytes: u64,
    pub data_packets: u64,
    pub data_bytes: u64,
    pub sum_x: u64,
    pub sum_x_rtt: u64,
    pub written: u64,
    pub malformed: u64,
    pub unguided: u64,
    pub lost: u64,
    pub unlost: u64,
}

/// One of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Counts, and writes what the protocol writes.
    Protocol(Protocol),
    /// Loses packets.
    Loss,
}

/// The loaded programs. Dropping them, or the end of the process, detaches everything.
pub struct Programs {
    // Links first: a program is detached before its object goes.
    links: Vec<OwnedFd>,
    skeleton: RouterSkel<'static>,
    shared: Shared,
}

impl fmt::Debug for Programs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Programs").field("links", &self.links).finish_non_exhaustive()
    }
}

/// Bytes of a ring that nothing is written to: a page, whatever size pages have.
const SMALLEST_RING: u32 = 1 << 16;

impl Programs {
    /// Loads them for a device whose link-layer header has that many bytes. They change nothing before the first
    /// [`Programs::beat`].
    pub fn load(link_header: u32) -> Result<Self, Error> {
        Self::load_with(link_header, false)
    }

    /// As [`Programs::load`]; they write down each packet, for [`Programs::passed`].
    pub fn load_recording(link_header: u32) -> Result<Self, Error> {
        Self::load_with(link_header, true)
    }

    fn load_with(link_header: u32, recording: bool) -> Result<Self, Error> {
        let object: &'static mut MaybeUninit<OpenObject> = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = RouterSkelBuilder::default()
            .open(object)
            .map_err(Error::bpf("cannot open the router's programs"))?;
        if let Some(constants) = open.maps.rodata_data.as_mut() {
            constants.link_header = link_header;
            constants.recording = recording;
        }
        if !recording {
            open.maps
                .records
                .set_max_entries(SMALLEST_RING)
                .map_err(Error::bpf("cannot make the ring of records small"))?;
        }
        let mut skeleton = open.load().map_err(Error::bpf("cannot load the router's programs"))?;
        // The mapping belongs to the skeleton, which stands beside this view of it from now on and never looks itself.
        let shared = Shared::new(skeleton.maps.bss_data.take().ok_or(Error::NoGlobals)?);
        shared.take_shortest();
        Ok(Self { links: Vec::new(), skeleton, shared })
    }

    /// Attaches a program to the device with that index, of the namespace that this thread is in.
    pub fn attach(&mut self, kind: Kind, device: u32, hook: Hook) -> Result<(), Error> {
        let program = self.program(kind).as_fd();
        let link = match hook {
            Hook::Egress => tcx::attach_egress(program, device),
            Hook::Ingress => tcx::attach_ingress(program, device),
        };
        let link = link.map_err(|source| Error::System { action: "cannot attach to the device", source })?;
        self.links.push(link);
        Ok(())
    }

    /// What was counted so far.
    pub fn counters(&self) -> Counters {
        self.shared.counters()
    }

    /// The shortest queue that an arrival has met since the last call, bytes; `None` when nothing arrived.
    pub fn take_shortest(&self) -> Option<u64> {
        self.shared.take_shortest()
    }

    /// The packets that passed since the last call, if the programs write them down. The memory holds some 16 000; whatever
    /// comes when it is full is lost, and counted by [`Programs::records_lost`].
    pub fn passed(&self) -> Result<Vec<Passed>, Error> {
        ring::take(&self.skeleton.maps.records, Passed::decode)
    }

    /// Packets that were not written down, because the memory was full.
    pub fn records_lost(&self) -> u64 {
        self.shared.records_lost()
    }

    /// Tells the programs what to do from now on; counts up what [`Passed::generation`] says.
    pub fn guide(&self, guidance: &Guidance) {
        self.shared.guide(guidance);
    }

    /// How often the programs were guided.
    pub fn generation(&self) -> u32 {
        self.shared.generation()
    }

    /// What they were told holds for `hold` from now on, by the kernel's clock; then they change nothing.
    pub fn beat(&self, hold: Duration) -> Result<(), Error> {
        let mut arguments = [0; 16];
        let nanos = u64::try_from(hold.as_nanos()).unwrap_or(u64::MAX);
        arguments[..8].copy_from_slice(&nanos.to_ne_bytes());
        let input = ProgramInput { context_in: Some(&mut arguments), ..ProgramInput::default() };
        self.skeleton.progs.beat.test_run(input).map_err(Error::bpf("cannot reach the router's programs"))?;
        Ok(())
    }

    /// Sets the chain of losses; it starts in its good state.
    pub fn lose(&mut self, outcomes: &[Outcome], seed: u64) -> Result<(), Error> {
        self.shared.set_outcomes(outcomes);
        // The lock and the state are zero; the generator's state must not be.
        let random = (seed ^ 0x9e37_79b9_7f4a_7c15).max(1);
        let mut value = [0; 16];
        value[8..].copy_from_slice(&random.to_ne_bytes());
        self.skeleton
            .maps
            .chain
            .update(&0u32.to_ne_bytes(), &value, MapFlags::ANY)
            .map_err(Error::bpf("cannot set the chain of losses"))
    }

    /// Runs a program over `packet`, which begins with its link-layer header: its action, the packet as it leaves, and
    /// nanoseconds for one of `repeat` runs (only the first sees `packet` as given).
    pub fn run(&self, kind: Kind, packet: &[u8], repeat: u32) -> Result<(i32, Vec<u8>, u64), Error> {
        let mut output = vec![0; packet.len() + 256];
        let input = ProgramInput {
            data_in: Some(packet),
            data_out: Some(&mut output),
            repeat,
            ..ProgramInput::default()
        };
        let answer =
            self.program(kind).test_run(input).map_err(Error::bpf("cannot run the router's programs"))?;
        let nanos = u64::try_from(answer.duration.as_nanos()).unwrap_or(u64::MAX);
        let left = answer.data.map(|data| data.to_vec()).unwrap_or_default();
        Ok((answer.return_value.cast_signed(), left, nanos))
    }

    fn program(&self, kind: Kind) -> &ProgramMut<'static> {
        match kind {
            Kind::Protocol(Protocol::Vcp) => &self.skeleton.progs.router_vcp,
            Kind::Protocol(Protocol::Xcp) => &self.skeleton.progs.router_xcp,
            Kind::Loss => &self.skeleton.progs.router_loss,
        }
    }
}

pub(super) use types::{bss as Globals, outcome as RawOutcome, shares as RawShares};
