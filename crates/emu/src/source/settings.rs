//! Kernel settings for a plan: for each connection, and for a whole host.

use airpath_os_linux::{Route, SystemError, device_index, write};
use airpath_plan::{ControllerPlan, FlowPlan, Part, Plan, RecoveryPlan, TransportPlan};
use netlink_packet_route::link::LinkAttribute;

use crate::error::EmulationError;
use crate::host::{DEVICE, Host};

/// The file in which the kernel lists its congestion controls.
pub const AVAILABLE_CONGESTION_CONTROLS: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The largest send and receive buffers in bytes: twice the 5 MB in flight at 100 Mbit/s and 400 ms, and as
/// much again for the kernel's own overhead, which counts too; with room for larger paths.
const LARGEST_BUFFER: u64 = 64 << 20;
/// Initial size of a receive buffer in bytes: large, so that the receive window is limited at the start only, when it
/// is 64 kB and grows with the data received. (Limits of the scenario below this size are set.)
const FIRST_RECEIVE_BUFFER: u64 = 16 << 20;

/// Headers of IPv4 and TCP without options, in bytes.
const HEADERS: u64 = 40;

/// Returns the names of the kernel's congestion controls.
pub fn available_congestion_controls() -> Vec<String> {
    let text = std::fs::read_to_string(AVAILABLE_CONGESTION_CONTROLS).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Settings of each connection of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TcpSettings {
    /// The kernel's name of the congestion control.
    pub(super) congestion_control: String,
    /// The requested segment size: the packet without the smallest headers; the kernel subtracts its options.
    pub(super) announced_mss: u32,
    /// Whether to pace even if the congestion control does not request it.
    pub(super) paced: bool,
    /// The receive window in bytes, if the scenario has one that may limit the sender.
    pub(super) receive_window: Option<u32>,
}

/// Returns the settings of the connections of a flow; `None` for datagrams.
pub(super) fn tcp(flow: &FlowPlan) -> Result<Option<TcpSettings>, EmulationError> {
    let (Some(controller), Some(transport)) = (&flow.controller, &flow.transport) else { return Ok(None) };
    let refused =
        |field, problem: String| EmulationError::not_emulated(Part::Flow(flow.name.clone()), field, problem);
    let ControllerPlan::Kernel { algorithm } = controller else {
        return Err(refused(
            "controller",
            "it is the simulator's; accepted in an emulation: those of the kernel".to_owned(),
        ));
    };
    let packet = transport.mss_bytes + transport.header_bytes;
    let mss = packet.checked_sub(HEADERS).filter(|mss| (88..=1460).contains(mss)).ok_or_else(|| {
        refused(
            "transport.mss",
            format!("it makes packets of {packet} B; accepted in an emulation: packets of 128 B to 1500 B"),
        )
    })?;
    Ok(Some(TcpSettings {
        congestion_control: algorithm.clone(),
        announced_mss: mss as u32, // at most 1460
        paced: transport.pacing,
        receive_window: u32::try_from(transport.receive_window_bytes)
            .ok()
            .filter(|&window| u64::from(window) < FIRST_RECEIVE_BUFFER),
    }))
}

/// Settings of a whole host, shared by all its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSettings {
    timestamps: bool,
    selective_acknowledgments: bool,
    ecn: bool,
    gso: bool,
}

impl KernelSettings {
    /// Returns the settings that the transports of a plan need.
    ///
    /// # Errors
    /// If flows need different settings.
    pub fn of(plan: &Plan) -> Result<Self, EmulationError> {
        let mut wanted =
            plan.flows.iter().filter_map(|flow| Some((flow, Self::of_transport(flow.transport.as_ref()?))));
        let Some((first, shared)) = wanted.next() else {
            return Ok(Self { timestamps: true, selective_acknowledgments: true, ecn: false, gso: true });
        };
        for (flow, settings) in wanted {
            let mut both = settings.named().into_iter().zip(shared.named());
            if let Some(((field, what, here), _)) = both.find(|(own, first)| own != first) {
                let [here, there] = [here, !here].map(|on| if on { "on" } else { "off" });
                return Err(EmulationError::not_emulated(
                    Part::Flow(flow.name.clone()),
                    field,
                    format!(
                        "{what} are {here} for flow {} and {there} for flow {}; accepted in an emulation: the same for all \
                         flows, since all connections of a host share them",
                        flow.name, first.name
                    ),
                ));
            }
        }
        Ok(shared)
    }

    /// Returns each setting: its field in a plan, its description, and whether it is on.
    fn named(self) -> [(&'static str, &'static str, bool); 4] {
        [
            ("transport.timestamps", "timestamps", self.timestamps),
            ("transport.recovery", "selective acknowledgments", self.selective_acknowledgments),
            ("transport.ecn", "marks (ECN)", self.ecn),
            ("transport.gso", "bursts (GSO)", self.gso),
        ]
    }

    fn of_transport(transport: &TransportPlan) -> Self {
        Self {
            timestamps: transport.timestamps,
            selective_acknowledgments: matches!(transport.recovery, RecoveryPlan::Prr | RecoveryPlan::Sack),
            ecn: transport.ecn,
            gso: transport.gso,
        }
    }

    /// Applies the settings in both hosts only.
    pub(super) fn apply(self, hosts: [&Host; 2]) -> Result<(), SystemError> {
        hosts.iter().try_for_each(|host| host.enter(|| self.write())?)
    }

    fn write(self) -> Result<(), SystemError> {
        let flag = |value: bool| if value { "1" } else { "0" };
        write("/proc/sys/net/ipv4/tcp_timestamps", flag(self.timestamps))?;
        write("/proc/sys/net/ipv4/tcp_sack", flag(self.selective_acknowledgments))?;
        // If it is off, code point 11 stays available for routers with another use of the bits.
        write("/proc/sys/net/ipv4/tcp_ecn", flag(self.ecn))?;
        if !self.gso {
            Route::open()?.up(device_index(DEVICE)?, vec![LinkAttribute::GsoMaxSegs(1)])?;
        }
        write("/proc/sys/net/ipv4/tcp_wmem", &format!("4096 65536 {LARGEST_BUFFER}"))?;
        write("/proc/sys/net/ipv4/tcp_rmem", &format!("4096 {FIRST_RECEIVE_BUFFER} {LARGEST_BUFFER}"))
    }
}
