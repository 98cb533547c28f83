//! What the kernel tells of a device: its queue as it counts it, and of what kind it is.

use std::io;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoKind, LinkAttribute, LinkInfo, LinkLayerType, LinkMessage};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcStats};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::sys::socket::{setsockopt, sockopt::ReceiveTimeout};
use nix::sys::time::{TimeVal, TimeValLike};

/// Questions to the kernel about one network namespace: the one in which it was opened.
#[derive(Debug)]
pub(crate) struct Rtnetlink {
    socket: Socket,
    answer: Vec<u8>,
}

/// The queue discipline at the root of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RootQdisc {
    /// Its kind, such as `tbf`.
    pub(crate) kind: String,
    /// What it counts.
    pub(crate) stats: TcStats,
}

impl Rtnetlink {
    pub(crate) fn open() -> io::Result<Self> {
        let socket = Socket::new(NETLINK_ROUTE)?;
        socket.connect(&SocketAddr::new(0, 0))?;
        // The kernel always answers; should it not, an error is better than to wait for ever.
        setsockopt(&socket, ReceiveTimeout, &TimeVal::seconds(1))?;
        Ok(Self { socket, answer: vec![0; 1 << 16] })
    }

    /// The root of the device with that index; `None` when it has no queue, or is not there.
    ///
    /// All devices are listed: asked for one, the kernel tells everybody who listens, and answers only then.
    pub(crate) fn root_qdisc(&mut self, device: u32) -> io::Result<Option<RootQdisc>> {
        let device = device as i32; // the kernel's indices are int
        let question = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::with_index(device));
        let mut found = None;
        self.ask(question, NLM_F_REQUEST | NLM_F_DUMP, |answer| {
            if let RouteNetlinkMessage::NewQueueDiscipline(message) = answer
                && message.header.index == device
                && message.header.parent == TcHandle::ROOT
            {
                let mut kind = String::new();
                let mut stats = TcStats::default();
                for attribute in message.attributes {
                    match attribute {
                        TcAttribute::Kind(name) => kind = name,
                        TcAttribute::Stats(all) => stats = all,
                        _ => {}
                    }
                }
                found = Some(RootQdisc { kind, stats });
            }
        })?;
        Ok(found)
    }

    /// Bytes of the link-layer header of the device; `None` for a kind of device that is not known here.
    pub(crate) fn link_header(&mut self, device: u32) -> io::Result<Option<u32>> {
        Ok(match self.link(device)?.header.link_layer_type {
            LinkLayerType::Ether | LinkLayerType::Loopback => Some(14),
            LinkLayerType::None => Some(0),
            _ => None,
        })
    }

    /// Of how many segments a train may be that the device is handed; `None` when the kernel does not say.
    pub(crate) fn longest_train(&mut self, device: u32) -> io::Result<Option<u32>> {
        let attributes = self.link(device)?.attributes;
        Ok(attributes.into_iter().find_map(|attribute| match attribute {
            LinkAttribute::GsoMaxSegs(segments) => Some(segments),
            _ => None,
        }))
    }

    /// Whether the device is TUN or TAP: what a program writes to it comes in packet by packet, whatever its offloads say.
    pub(crate) fn is_tun(&mut self, device: u32) -> io::Result<bool> {
        let attributes = self.link(device)?.attributes;
        Ok(attributes.into_iter().any(|attribute| match attribute {
            LinkAttribute::LinkInfo(facts) => facts.contains(&LinkInfo::Kind(InfoKind::Tun)),
            _ => false,
        }))
    }

    fn link(&mut self, device: u32) -> io::Result<LinkMessage> {
        let mut question = LinkMessage::default();
        question.header.index = device;
        let mut link = LinkMessage::default();
        self.ask(RouteNetlinkMessage::GetLink(question), NLM_F_REQUEST, |answer| {
            if let RouteNetlinkMessage::NewLink(message) = answer {
                link = message;
            }
        })?;
        Ok(link)
    }

    /// Asks, and hands on every message of the answer.
    fn ask(
        &mut self,
        question: RouteNetlinkMessage,
        flags: u16,
        mut each: impl FnMut(RouteNetlinkMessage),
    ) -> io::Result<()> {
        let mut message = NetlinkMessage::from(question);
        message.header.flags = flags;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        loop {
            let length = self.socket.recv(&mut self.answer.as_mut_slice(), 0)?;
            let mut rest = &self.answer[..length.min(self.answer.len())];
            while !rest.is_empty() {
                let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
                let taken = (answer.header.length as usize).next_multiple_of(4).min(rest.len());
                rest = &rest[taken..];
                match answer.payload {
                    NetlinkPayload::InnerMessage(message) => each(message),
                    NetlinkPayload::Done(_) => return Ok(()),
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    _ => {}
                }
            }
            if flags & NLM_F_DUMP == 0 {
                return Ok(());
            }
        }
    }
}
