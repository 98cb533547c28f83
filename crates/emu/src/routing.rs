//! The few questions to the kernel's routing socket that set up a host. They concern the namespace of the calling thread.

use std::net::Ipv4Addr;

use netlink_packet_core::NLM_F_CREATE;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::net::if_::if_nametoindex;

use crate::error::{Asked, EmulationError};
use crate::netlink::Netlink;

/// The kernel's tables of routes: `main`, and `local` for what is delivered here.
const TABLE_MAIN: u8 = 254;
const TABLE_LOCAL: u8 = 255;

/// A routing socket.
pub(crate) struct Routing {
    netlink: Netlink,
}

impl Routing {
    pub(crate) fn new() -> Result<Self, EmulationError> {
        Ok(Self { netlink: Netlink::open(NETLINK_ROUTE).asked("a routing socket")? })
    }

    /// The number of a device.
    pub(crate) fn index(name: &str) -> Result<u32, EmulationError> {
        if_nametoindex(name).asked(format!("the device {name}"))
    }

    /// Switches a device on, with these settings.
    pub(crate) fn up(&self, device: u32, settings: Vec<LinkAttribute>) -> Result<(), EmulationError> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        message.attributes = settings;
        self.netlink.ask(RouteNetlinkMessage::SetLink(message), 0).asked("switching a device on")
    }

    /// Gives a device an address, without a network around it.
    pub(crate) fn add_address(&self, device: u32, address: Ipv4Addr) -> Result<(), EmulationError> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = 32;
        message.header.index = device;
        message.attributes =
            vec![AddressAttribute::Local(address.into()), AddressAttribute::Address(address.into())];
        self.netlink
            .ask(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE)
            .asked(format!("the address {address}"))
    }

    /// Makes every address of a network one of this host's.
    pub(crate) fn add_local_network(
        &self,
        device: u32,
        network: (Ipv4Addr, u8),
    ) -> Result<(), EmulationError> {
        let mut message = route(device, network);
        message.header.table = TABLE_LOCAL;
        message.header.kind = RouteType::Local;
        message.header.scope = RouteScope::Host;
        self.add_route(message, network)
    }

    /// Sends what goes to a network over a device, from `source`, if there is one, if the sender does not say.
    pub(crate) fn add_network(
        &self,
        device: u32,
        network: (Ipv4Addr, u8),
        source: Option<Ipv4Addr>,
    ) -> Result<(), EmulationError> {
        let mut message = route(device, network);
        message.header.table = TABLE_MAIN;
        message.header.kind = RouteType::Unicast;
        message.header.scope = RouteScope::Link;
        message
            .attributes
            .extend(source.map(|source| RouteAttribute::PrefSource(RouteAddress::Inet(source))));
        self.add_route(message, network)
    }

    fn add_route(&self, message: RouteMessage, network: (Ipv4Addr, u8)) -> Result<(), EmulationError> {
        self.netlink
            .ask(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE)
            .asked(format!("the route to {}/{}", network.0, network.1))
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
