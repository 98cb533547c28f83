//! The router's BPF programs: loading, attaching, and the variables shared with this process.

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

/// Counters of the programs since they were loaded; `counters` of `bpf/router_state.h` defines each of them.
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
    /// The router protocol: counts packets and writes feedback.
    Protocol(Protocol),
    /// The loss program: drops packets.
    Loss,
}

/// The loaded programs. Dropping the value, or the end of the process, detaches everything.
pub struct Programs {
    // Links are the first field, so that a program is detached before its object is dropped.
    links: Vec<OwnedFd>,
    skeleton: RouterSkel<'static>,
    shared: Shared,
}

impl fmt::Debug for Programs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Programs").field("links", &self.links).finish_non_exhaustive()
    }
}

/// Size in bytes of a ring buffer that is never written to: at least one page for any page size.
const SMALLEST_RING: u32 = 1 << 16;

impl Programs {
    /// Loads the programs for a device whose link-layer header has `link_header` bytes. They change nothing
    /// before the first [`Programs::beat`].
    pub fn load(link_header: u32) -> Result<Self, Error> {
        Self::load_with(link_header, false)
    }

    /// Loads the programs as [`Programs::load`] does, with recording of each packet for [`Programs::passed`].
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
        // The mapping belongs to the skeleton, which is kept alongside this view and never accesses the
        // mapping itself.
        let shared = Shared::new(skeleton.maps.bss_data.take().ok_or(Error::NoGlobals)?);
        shared.take_shortest();
        Ok(Self { links: Vec::new(), skeleton, shared })
    }

    /// Attaches a program to the device with index `device`, in the namespace of this thread.
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

    /// Returns the counters.
    pub fn counters(&self) -> Counters {
        self.shared.counters()
    }

    /// Returns the shortest queue that an arrival has met since the last call, in bytes; `None` if nothing
    /// arrived.
    pub fn take_shortest(&self) -> Option<u64> {
        self.shared.take_shortest()
    }

    /// Returns the packets that passed since the last call, if the programs record them. The ring buffer has
    /// room for some 16 000 packets; packets that arrive when it is full are not recorded, and are counted by
    /// [`Programs::records_lost`].
    pub fn passed(&self) -> Result<Vec<Passed>, Error> {
        ring::take(&self.skeleton.maps.records, Passed::decode)
    }

    /// Returns the number of packets that were not recorded because the ring buffer was full.
    pub fn records_lost(&self) -> u64 {
        self.shared.records_lost()
    }

    /// Gives new instructions to the programs and increments the generation that [`Passed::generation`]
    /// records.
    pub fn guide(&self, guidance: &Guidance) {
        self.shared.guide(guidance);
    }

    /// Returns the number of instructions so far.
    pub fn generation(&self) -> u32 {
        self.shared.generation()
    }

    /// Keeps the current instructions valid for `hold` from now, by the kernel's clock; afterwards the
    /// programs change nothing.
    pub fn beat(&self, hold: Duration) -> Result<(), Error> {
        let mut arguments = [0; 16];
        let nanos = u64::try_from(hold.as_nanos()).unwrap_or(u64::MAX);
        arguments[..8].copy_from_slice(&nanos.to_ne_bytes());
        let input = ProgramInput { context_in: Some(&mut arguments), ..ProgramInput::default() };
        self.skeleton.progs.beat.test_run(input).map_err(Error::bpf("cannot reach the router's programs"))?;
        Ok(())
    }

    /// Sets the loss chain, which starts in its good state.
    pub fn lose(&mut self, outcomes: &[Outcome], seed: u64) -> Result<(), Error> {
        self.shared.set_outcomes(outcomes);
        // The lock and the state are zero; the generator's state must be nonzero.
        let random = (seed ^ 0x9e37_79b9_7f4a_7c15).max(1);
        let mut value = [0; 16];
        value[8..].copy_from_slice(&random.to_ne_bytes());
        self.skeleton
            .maps
            .chain
            .update(&0u32.to_ne_bytes(), &value, MapFlags::ANY)
            .map_err(Error::bpf("cannot set the chain of losses"))
    }

    /// Runs a program over `packet`, which begins with its link-layer header. Returns its action, the
    /// resulting packet, and the nanoseconds of one of `repeat` runs (only the first run processes `packet`
    /// as given).
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
