//! The host side: controllers for the TCP connections of this machine, and the options and codes in their
//! packets.

mod device;
mod hazards;
mod record;
mod settings;

crate::skeleton!("host");

use std::fmt;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{ErrorKind, Link, MapMut, OpenObject, ProgramInput};
use serde::Serialize;
use serde_json::{Value, json};

use crate::daemon::{NOT_LOOKED_AT, Service, looked};
use crate::{Error, ring};
pub use device::Device;
pub use record::{Record, Told};
pub use settings::HostSettings;
use skeleton::{HostSkel, HostSkelBuilder};

/// The names of the controllers for `TCP_CONGESTION`.
pub const CONTROLLERS: [&str; 5] =
    ["airpath_xcp", "airpath_vcp", "airpath_ebe", "airpath_westw", "airpath_sarbe"];

/// Maximum time to wait until the kernel frees the names of controllers.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The configuration of the host side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostConfig {
    /// The cgroup (version 2) whose connections exchange feedback with routers.
    pub cgroup: PathBuf,
    /// The controller for each new connection of the cgroup; `None`: each keeps its own.
    pub controller: Option<String>,
    /// The egress devices of these connections; `None`: all of this network namespace except the loopback.
    pub devices: Option<Vec<Device>>,
    /// Whether to record the inputs of controllers.
    pub record: bool,
}

/// Counters since loading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostCounters {
    /// Connections that received the cgroup's controller.
    pub selected: u64,
    /// Connections for which the kernel refused it.
    pub refused: u64,
    /// Connections whose controller has started.
    pub started: u64,
    /// Options written.
    pub options_written: u64,
    /// Options that did not fit into a packet; VCP's codes were then sent in header bits.
    pub options_without_room: u64,
    /// Echoes received in options.
    pub echoes: u64,
    /// Echoes received in bits of the TCP header.
    pub echoes_by_bits: u64,
    /// Malformed airpath options.
    pub malformed: u64,
}

/// The loaded host side. Dropping it, or the end of the process, detaches everything.
pub struct Host {
    skeleton: HostSkel<'static>,
    devices: Vec<Device>,
    _links: Vec<Link>,
    _device_links: Vec<OwnedFd>,
}

impl fmt::Debug for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Host").field("counters", &self.counters()).finish_non_exhaustive()
    }
}

impl Host {
    /// Loads the programs and attaches them. Requires root.
    ///
    /// Connections that use a controller when it is unloaded keep its programs until they end: the kernel
    /// frees the programs with the last of these connections.
    pub fn load(config: &HostConfig) -> Result<Self, Error> {
        let object: &'static mut MaybeUninit<OpenObject> = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open =
            HostSkelBuilder::default().open(object).map_err(Error::bpf("cannot open the host programs"))?;
        let selected = config.controller.as_deref().map_or(Ok([0; 16]), kernel_name)?;
        if let Some(constants) = open.maps.rodata_data.as_mut() {
            constants.selected = selected;
            constants.recording = config.record;
        }
        let cgroup = File::open(&config.cgroup)
            .map_err(|source| Error::File { path: config.cgroup.clone(), source })?;
        let devices = config.devices.clone().map_or_else(Device::all, Ok)?;
        let mut skeleton = open.load().map_err(Error::bpf("cannot load the host programs"))?;

        let programs = &skeleton.progs;
        let mut device_links = Vec::new();
        for device in &devices {
            let (ethernet, bare) = (programs.host_egress_ethernet.as_fd(), programs.host_egress_bare.as_fd());
            device_links.push(device.attach(ethernet, bare)?);
        }
        let mut links = Vec::new();
        for program in [&programs.host_sockops, &programs.host_ingress] {
            let link = program.attach_cgroup(cgroup.as_raw_fd());
            links.push(link.map_err(Error::bpf("cannot attach to the cgroup"))?);
        }
        let maps = &mut skeleton.maps;
        let controllers = [
            &mut maps.airpath_xcp,
            &mut maps.airpath_vcp,
            &mut maps.airpath_ebe,
            &mut maps.airpath_westw,
            &mut maps.airpath_sarbe,
        ];
        for controller in controllers {
            links.push(register(controller)?);
        }
        Ok(Self { skeleton, devices, _links: links, _device_links: device_links })
    }

    /// Returns the devices to whose packets the programs write.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Returns the counters since loading.
    pub fn counters(&self) -> HostCounters {
        let Some(data) = self.skeleton.maps.bss_data.as_ref() else { return HostCounters::default() };
        let counters = &data.counters;
        HostCounters {
            selected: counters.selected,
            refused: counters.refused,
            started: counters.started,
            options_written: counters.options_written,
            options_without_room: counters.options_without_room,
            echoes: counters.echoes,
            echoes_by_bits: counters.echoes_by_bits,
            malformed: counters.malformed,
        }
    }
}

impl Host {
    /// Returns the inputs of controllers since the last call, if [`HostConfig::record`] is set. The ring
    /// buffer has room for some 11 000 events; events that occur when it is full are not recorded, and are
    /// counted by [`Host::records_lost`].
    pub fn records(&self) -> Result<Vec<Record>, Error> {
        ring::take(&self.skeleton.maps.records, record::decode)
    }

    /// Returns the number of events that were not recorded because the ring buffer was full.
    pub fn records_lost(&self) -> u64 {
        self.skeleton.maps.bss_data.as_ref().map_or(0, |data| data.records_lost)
    }
}

/// A program that processes packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketProgram {
    /// The ingress program, for packets to sockets of the cgroup.
    Ingress,
    /// The egress program for devices whose packets begin with an Ethernet header.
    EgressEthernet,
    /// The egress program for devices whose packets begin with the IP header.
    EgressBare,
}

impl Host {
    /// Runs a program over `packet`, which begins with an Ethernet header and belongs to no connection.
    /// Returns the program's result and the resulting packet.
    pub fn run(&self, program: PacketProgram, packet: &[u8]) -> Result<(i32, Vec<u8>), Error> {
        let programs = &self.skeleton.progs;
        let program = match program {
            PacketProgram::Ingress => &programs.host_ingress,
            PacketProgram::EgressEthernet => &programs.host_egress_ethernet,
            PacketProgram::EgressBare => &programs.host_egress_bare,
        };
        let mut output = vec![0; packet.len() + 256];
        let input =
            ProgramInput { data_in: Some(packet), data_out: Some(&mut output), ..ProgramInput::default() };
        let answer = program.test_run(input).map_err(Error::bpf("cannot run a host program"))?;
        let left = answer.data.map(|data| data.to_vec()).unwrap_or_default();
        Ok((answer.return_value.cast_signed(), left))
    }
}

impl Service for Host {
    fn wait(&self) -> Option<Duration> {
        None
    }

    fn step(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn status(&self) -> Value {
        let devices: Vec<String> = self.devices.iter().map(ToString::to_string).collect();
        json!({ "controllers": CONTROLLERS, "devices": devices, "counters": self.counters() })
    }

    fn warnings(&self) -> Vec<String> {
        let devices = self.devices.clone();
        looked(move || hazards::hazards(&devices)).unwrap_or_else(|| vec![NOT_LOOKED_AT.to_owned()])
    }
}

/// Registers a controller. Waits for its name, which the kernel frees some time after the last owner ended.
fn register(controller: &mut MapMut<'_>) -> Result<Link, Error> {
    let until = Instant::now() + LONGEST_WAIT;
    loop {
        match controller.attach_struct_ops() {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(50));
            }
            link => {
                return link
                    .map_err(Error::bpf("cannot register a controller (is another airpathd host running?)"));
            }
        }
    }
}

/// The kernel's list of registered controllers. The list is global, although each network namespace has the
/// file.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Returns the name of a controller that the kernel has once airpath's are registered, as a zero-terminated
/// field of 16 bytes.
fn kernel_name(name: &str) -> Result<[i8; 16], Error> {
    let available = std::fs::read_to_string(AVAILABLE)
        .map_err(|source| Error::File { path: AVAILABLE.into(), source })?;
    let others = available.split_whitespace().filter(|other| !CONTROLLERS.contains(other));
    let accepted = CONTROLLERS.into_iter().chain(others);
    if !accepted.clone().any(|one| one == name) {
        let accepted = accepted.map(str::to_owned).collect();
        return Err(Error::NoController { name: name.to_owned(), accepted });
    }
    let mut field = [0; 16];
    // Names that the kernel has leave room for the terminating zero.
    for (to, from) in field[..15].iter_mut().zip(name.as_bytes()) {
        *to = *from as i8; // the same byte
    }
    Ok(field)
}
