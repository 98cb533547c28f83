//! Devices, addresses, routes and queue disciplines of a network namespace (`rtnetlink(7)`).

use std::io;
use std::net::Ipv4Addr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE, Parseable};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{InfoKind, LinkAttribute, LinkFlags, LinkInfo, LinkLayerType, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcStats};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::net::if_::if_nametoindex;

use crate::error::{Context, SystemError};
use crate::netlink::Netlink;

/// The routing tables of the kernel: `main`, and `local` for packets that are delivered on this host.
const TABLE_MAIN: u8 = 254;
const TABLE_LOCAL: u8 = 255;

/// A routing socket.
#[derive(Debug)]
pub struct Route {
    netlink: Netlink,
}

/// The queue discipline at the root of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootQdisc {
    /// Its kind, such as `tbf`.
    pub kind: String,
    /// Its counters.
    pub stats: TcStats,
}

/// Returns the index of a device.
///
/// # Errors
/// If there is no such device.
pub fn device_index(name: &str) -> Result<u32, SystemError> {
    if_nametoindex(name).context(format!("the device {name}"))
}

impl Route {
    /// Opens a routing socket in the network namespace of the calling thread.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn open() -> Result<Self, SystemError> {
        Ok(Self { netlink: Netlink::open(NETLINK_ROUTE).context("a routing socket")? })
    }

    /// Opens a routing socket with a timeout of one second. The kernel answers every request, but a daemon
    /// must not wait forever if it does not.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn open_with_timeout() -> io::Result<Self> {
        let netlink = Netlink::open(NETLINK_ROUTE)?;
        netlink.set_timeout(1)?;
        Ok(Self { netlink })
    }

    /// Switches a device on, with these settings.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn up(&self, device: u32, settings: Vec<LinkAttribute>) -> Result<(), SystemError> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        message.attributes = settings;
        self.netlink.request(RouteNetlinkMessage::SetLink(message), 0).context("switching a device on")
    }

    /// Adds an address to a device, without a network.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn add_address(&self, device: u32, address: Ipv4Addr) -> Result<(), SystemError> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = 32;
        message.header.index = device;
        message.attributes =
            vec![AddressAttribute::Local(address.into()), AddressAttribute::Address(address.into())];
        self.netlink
            .request(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE)
            .context(format!("the address {address}"))
    }

    /// Makes every address of a network an address of this host.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn add_local_network(&self, device: u32, network: (Ipv4Addr, u8)) -> Result<(), SystemError> {
        let mut message = route(device, network);
        message.header.table = TABLE_LOCAL;
        message.header.kind = RouteType::Local;
        message.header.scope = RouteScope::Host;
        self.add_route(message, network)
    }

    /// Adds the route to a network over a device. Packets whose sender does not choose an address have the
    /// address `source`, if there is one.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn add_network(
        &self,
        device: u32,
        network: (Ipv4Addr, u8),
        source: Option<Ipv4Addr>,
    ) -> Result<(), SystemError> {
        let mut message = route(device, network);
        message.header.table = TABLE_MAIN;
        message.header.kind = RouteType::Unicast;
        message.header.scope = RouteScope::Link;
        message
            .attributes
            .extend(source.map(|source| RouteAttribute::PrefSource(RouteAddress::Inet(source))));
        self.add_route(message, network)
    }

    fn add_route(&self, message: RouteMessage, network: (Ipv4Addr, u8)) -> Result<(), SystemError> {
        self.netlink
            .request(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE)
            .context(format!("the route to {}/{}", network.0, network.1))
    }

    /// Adds or replaces a queue discipline.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn put_qdisc(&self, message: TcMessage) -> io::Result<()> {
        self.netlink.request(RouteNetlinkMessage::NewQueueDiscipline(message), NLM_F_CREATE | NLM_F_REPLACE)
    }

    /// Adds or changes a class of a queue discipline.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn put_class(&self, message: TcMessage) -> io::Result<()> {
        self.netlink.request(RouteNetlinkMessage::NewTrafficClass(message), NLM_F_CREATE)
    }

    /// Returns the queue discipline at the root of a device, or `None` if the device has no queue or does not
    /// exist.
    ///
    /// Lists all devices: for a request about a single device, the kernel notifies every listener before it
    /// responds.
    ///
    /// # Errors
    /// If the kernel refuses it, or if no entry is the root of the device and an entry cannot be parsed.
    pub fn root_qdisc(&self, device: u32) -> io::Result<Option<RootQdisc>> {
        let device = device as i32; // the kernel's indices are int
        let request = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::with_index(device));
        let (mut found, mut unparsed) = (None, None);
        self.netlink.dump(request, |answer| match TcMessage::parse(answer) {
            Err(error) => unparsed = Some(error),
            Ok(message) if message.header.index == device && message.header.parent == TcHandle::ROOT => {
                let mut root = RootQdisc::default();
                for attribute in message.attributes {
                    match attribute {
                        TcAttribute::Kind(kind) => root.kind = kind,
                        TcAttribute::Stats(stats) => root.stats = stats,
                        _ => {}
                    }
                }
                found = Some(root);
            }
            Ok(_) => {}
        })?;
        match unparsed {
            Some(error) if found.is_none() => {
                Err(io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
            }
            _ => Ok(found),
        }
    }

    /// Returns the size of the link-layer header of a device in bytes, or `None` if its kind is unknown.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn link_header(&self, device: u32) -> io::Result<Option<u32>> {
        Ok(match self.link(device)?.header.link_layer_type {
            LinkLayerType::Ether | LinkLayerType::Loopback => Some(14),
            LinkLayerType::None => Some(0),
            _ => None,
        })
    }

    /// Returns the largest number of segments in a packet that the stack passes to a device, or `None` if the
    /// kernel does not report it.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn max_gso_segments(&self, device: u32) -> io::Result<Option<u32>> {
        Ok(self.link(device)?.attributes.into_iter().find_map(|attribute| match attribute {
            LinkAttribute::GsoMaxSegs(segments) => Some(segments),
            _ => None,
        }))
    }

    /// Returns whether a device is TUN or TAP: packets that a program writes to it arrive one by one, regardless of its
    /// offloads.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn is_tun(&self, device: u32) -> io::Result<bool> {
        Ok(self.link(device)?.attributes.into_iter().any(|attribute| match attribute {
            LinkAttribute::LinkInfo(info) => info.contains(&LinkInfo::Kind(InfoKind::Tun)),
            _ => false,
        }))
    }

    fn link(&self, device: u32) -> io::Result<LinkMessage> {
        let mut request = LinkMessage::default();
        request.header.index = device;
        let answer = self.netlink.query(RouteNetlinkMessage::GetLink(request))?;
        LinkMessage::parse(&answer[..]).map_err(io::Error::other)
    }
}

fn route(device: u32, (destination, prefix_length): (Ipv4Addr, u8)) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.destination_prefix_length = prefix_length;
    message.header.protocol = RouteProtocol::Static;
    message.attributes =
        vec![RouteAttribute::Destination(RouteAddress::Inet(destination)), RouteAttribute::Oif(device)];
    message
}
