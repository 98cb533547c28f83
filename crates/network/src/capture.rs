//! Packets as a capture tool at the entrance of a link would see them.

mod handshake;
mod headers;

use airpath_model::Timestamp;
use airpath_plan::Plan;
use airpath_trace::capture::CaptureWriter;

use self::handshake::Handshakes;
use self::headers::describe;
use crate::external_packet::{Captured, ExternalPacket};
use crate::packet::Packet;

/// A capture in memory; it writes nothing if no link is captured.
pub(crate) struct Capture {
    /// The capture interface that observes each link.
    interfaces: Vec<Option<usize>>,
    writer: Option<CaptureWriter<Vec<u8>>>,
    handshakes: Handshakes,
    /// External packets, whose headers the caller keeps, until they are returned to it.
    external: Vec<Captured>,
}

impl Capture {
    /// Creates a capture at the entrances of the links that a plan names; each becomes an interface with the link's
    /// name. `sources` contains the flow of the plan for each flow of the run, `delays_s` the delays of the links.
    pub(crate) fn new(plan: &Plan, sources: &[u32], delays_s: &[f64]) -> Result<Self, String> {
        let observed = &plan.record.capture;
        if observed.is_empty() {
            let (interfaces, handshakes) = (Vec::new(), Handshakes::default());
            return Ok(Self { interfaces, writer: None, handshakes, external: Vec::new() });
        }
        let mut interfaces = vec![None; plan.links.len()];
        let mut names = Vec::new();
        for &link in observed {
            if interfaces[link].is_none() {
                interfaces[link] = Some(names.len());
                names.push(plan.links[link].name.as_str());
            }
        }
        let writer = CaptureWriter::new(Vec::new(), &names).map_err(|error| error.to_string())?;
        let handshakes = Handshakes::new(plan, sources, delays_s, &interfaces);
        Ok(Self { interfaces, writer: Some(writer), handshakes, external: Vec::new() })
    }

    /// Captures a packet at the entrance of a link.
    #[inline]
    pub(crate) fn on_arrival(&mut self, link: u32, now: Timestamp, packet: &Packet) {
        if self.writer.is_some() {
            self.observe(link, now, packet);
        }
    }

    #[cold]
    fn observe(&mut self, link: u32, now: Timestamp, packet: &Packet) {
        let (Some(writer), Some(interface)) = (&mut self.writer, self.interfaces[link as usize]) else {
            return;
        };
        if let Some(external) = ExternalPacket::of(packet) {
            self.external.push(Captured { at: now, link, packet: external });
        } else if let Some(description) = describe(packet, self.handshakes.agreed(packet.flow)) {
            self.handshakes.write_before(writer, interface, now, packet);
            // Writing to memory cannot fail; only packets larger than IPv4 allows can. Such a packet is left
            // out: a capture cannot show it.
            let _ = writer.packet(interface, now.as_nanos(), &description);
        }
    }

    /// Returns the external packets that arrived at observed links since the last call, in the order of time.
    pub(crate) fn external(&mut self) -> impl Iterator<Item = Captured> {
        self.external.drain(..)
    }

    /// Returns the file, if links were observed.
    pub(crate) fn finish(self) -> Option<Vec<u8>> {
        self.writer.map(CaptureWriter::into_inner)
    }
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture").field("interfaces", &self.interfaces).finish_non_exhaustive()
    }
}
