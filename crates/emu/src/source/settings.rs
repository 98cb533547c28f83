//! What of a plan the kernel is told: for each connection, and for a whole host.

use airpath_os_linux::{SystemError, write};
use airpath_plan::{ControllerPlan, FlowPlan, Part, Plan, RecoveryPlan, TransportPlan};

use crate::error::EmulationError;
use crate::host::Host;

/// Where the kernel lists the congestion controls that it has.
pub const AVAILABLE_CONGESTION_CONTROLS: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The largest send and receive buffers, bytes: twice the 5 MB that 100 Mbit/s and 400 ms keep on the way, and as much
/// again for the kernel's own overhead, which it counts too; with room for larger paths.
const LARGEST_BUFFER: u64 = 64 << 20;
/// With what a receive buffer begins, bytes: large, so that the receiver's window does not hold a slow start up. (The
/// simulator's receivers have no limit, unless the scenario gives them one; those below this are set.)
const FIRST_RECEIVE_BUFFER: u64 = 16 << 20;

/// Headers of IPv4 and TCP without options, bytes.
const HEADERS: u64 = 40;

/// Names of the congestion controls that the kernel has.
pub fn available_congestion_controls() -> Vec<String> {
    let text = std::fs::read_to_string(AVAILABLE_CONGESTION_CONTROLS).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// What each connection of a flow is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TcpSettings {
    /// The kernel's name of the congestion control.
    pub(super) congestion_control: String,
    /// The largest segment that is asked for: the packet without the smallest headers; the kernel takes its options off.
    pub(super) announced_mss: u32,
    /// Pace, also where the congestion control does not ask for it.
    pub(super) paced: bool,
    /// The receiver's window, bytes, where the scenario wants one that may hold the sender up.
    pub(super) receive_window: Option<u32>,
}

/// What the connections of a flow are told; `None` for datagrams.
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

/// Settings of a whole host: all its connections share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSettings {
    timestamps: bool,
    selective_acknowledgments: bool,
    ecn: bool,
}

impl KernelSettings {
    /// What the transports of a plan ask for.
    ///
    /// # Errors
    /// Where flows ask for different things.
    pub fn of(plan: &Plan) -> Result<Self, EmulationError> {
        let mut wanted =
            plan.flows.iter().filter_map(|flow| Some((flow, Self::of_transport(flow.transport.as_ref()?))));
        let Some((first, shared)) = wanted.next() else {
            return Ok(Self { timestamps: true, selective_acknowledgments: true, ecn: false });
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

    /// Each setting: its field in a plan, what it is, and whether it is on.
    fn named(self) -> [(&'static str, &'static str, bool); 3] {
        [
            ("transport.timestamps", "timestamps", self.timestamps),
            ("transport.recovery", "selective acknowledgments", self.selective_acknowledgments),
            ("transport.ecn", "marks (ECN)", self.ecn),
        ]
    }

    fn of_transport(transport: &TransportPlan) -> Self {
        Self {
            timestamps: transport.timestamps,
            selective_acknowledgments: matches!(transport.recovery, RecoveryPlan::Prr | RecoveryPlan::Sack),
            ecn: transport.ecn,
        }
    }

    /// Sets them in both hosts, and nowhere else.
    pub(super) fn apply(self, hosts: [&Host; 2]) -> Result<(), SystemError> {
        hosts.iter().try_for_each(|host| host.enter(|| self.write())?)
    }

    fn write(self) -> Result<(), SystemError> {
        let flag = |value: bool| if value { "1" } else { "0" };
        write("/proc/sys/net/ipv4/tcp_timestamps", flag(self.timestamps))?;
        write("/proc/sys/net/ipv4/tcp_sack", flag(self.selective_acknowledgments))?;
        // Without, code point 11 stays free for routers that use the bits in their own way.
        write("/proc/sys/net/ipv4/tcp_ecn", flag(self.ecn))?;
        write("/proc/sys/net/ipv4/tcp_wmem", &format!("4096 65536 {LARGEST_BUFFER}"))?;
        write("/proc/sys/net/ipv4/tcp_rmem", &format!("4096 {FIRST_RECEIVE_BUFFER} {LARGEST_BUFFER}"))
    }
}
