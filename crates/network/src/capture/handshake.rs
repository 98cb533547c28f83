//! Handshakes in captures. The simulation has none: a connection exists from its start. Readers of captures need the
//! options of its first segments, so the capture writes them.

use airpath_model::{Bytes, Duration, Rate, Timestamp};
use airpath_plan::{ConstantConfig, LinkPlan, Plan, RatePlan, RecoveryPlan, TransportPlan};
use airpath_trace::capture::{CaptureWriter, OpeningOptions, TcpDescription, TcpFlags};

use super::headers::{Agreed, Ecn, between, milliseconds};
use crate::packet::{Body, Packet};

/// The handshakes of all connections.
///
/// The SYN is sent one base round trip before the first data, so that the responses arrive as over an empty
/// path. If that time is before the start of the run, all three packets have the time of the first data.
#[derive(Debug, Default)]
pub(super) struct Handshakes {
    /// For each flow of the plan; `None` for datagrams.
    openings: Vec<Option<Opening>>,
    /// The flow of the plan for each flow of the run.
    sources: Vec<u32>,
    /// For each flow of the run and each interface, the number of connections whose handshake was written.
    begun: Vec<u32>,
    interfaces: usize,
}

/// The handshake of the connections of one flow of the plan.
#[derive(Debug)]
struct Opening {
    /// Observed links of the forward path: interface, and time from the sender to the link's entrance.
    forward: Vec<(usize, Duration)>,
    /// Observed links of the reverse path: interface, and time from the link's entrance to the sender.
    back: Vec<(usize, Duration)>,
    /// Time from the sender to the receiver.
    there: Duration,
    round_trip: Duration,
    options: OpeningOptions,
    agreed: Agreed,
}

/// The times at which the packets of a handshake leave their endpoints.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// Whether they are one base round trip apart; otherwise all are the same.
    apart: bool,
    syn: Timestamp,
    answer: Timestamp,
    /// The time of the last acknowledgment and the first data.
    last: Timestamp,
}

/// Bytes of IPv4 and TCP headers with the options of a SYN.
const OPENING_BYTES: u64 = 60;
/// Bytes of the timestamps option, which count as payload in the MSS option (RFC 6691).
const TIMESTAMPS_BYTES: u64 = 12;
/// The largest window scale (RFC 7323, section 2.3).
const LARGEST_SCALE: u8 = 14;

impl Handshakes {
    /// Prepares the handshakes of a plan with these link delays in seconds. `interfaces` contains the
    /// interface of each observed link, `sources` the flow of the plan for each flow of the run.
    pub(super) fn new(plan: &Plan, sources: &[u32], delays_s: &[f64], interfaces: &[Option<usize>]) -> Self {
        let count = interfaces.iter().flatten().count();
        let openings = plan.flows.iter().map(|flow| {
            let transport = flow.transport.as_ref()?;
            let size = Bytes::new(OPENING_BYTES.max(transport.ack_bytes));
            let walk = |path: &[usize]| {
                let (mut observed, mut at) = (Vec::new(), Duration::ZERO);
                for &link in path {
                    observed.extend(interfaces[link].map(|interface| (interface, at)));
                    at += time_through(&plan.links[link], delays_s[link], size);
                }
                (observed, at)
            };
            let ((forward, there), (mut back, whole)) = (walk(&flow.path), walk(&flow.reverse_path));
            for (_, way) in &mut back {
                *way = whole - *way;
            }
            let (options, agreed) = terms(transport);
            Some(Opening { forward, back, there, round_trip: there + whole, options, agreed })
        });
        Self {
            openings: openings.collect(),
            sources: sources.to_vec(),
            begun: vec![0; sources.len() * count],
            interfaces: count,
        }
    }

    /// Returns the options that the connections of a flow have negotiated.
    pub(super) fn agreed(&self, flow: u32) -> Agreed {
        let opening = self.opening(flow).map(|(opening, _)| opening.agreed);
        opening.unwrap_or(Agreed { window_scale: 0, ecn: Ecn::Off })
    }

    /// Returns the handshake of a flow of the run, and the start index of its connection counts.
    fn opening(&self, flow: u32) -> Option<(&Opening, usize)> {
        let source = *self.sources.get(flow as usize)?;
        Some((self.openings[source as usize].as_ref()?, flow as usize * self.interfaces))
    }

    /// Writes the handshake of a packet's connection before its first packet at an interface.
    pub(super) fn write_before(
        &mut self,
        writer: &mut CaptureWriter<Vec<u8>>,
        interface: usize,
        now: Timestamp,
        packet: &Packet,
    ) {
        let mut begun = std::mem::take(&mut self.begun);
        if let Some((opening, first)) = self.opening(packet.flow) {
            let begun = &mut begun[first..first + self.interfaces];
            if packet.connection >= begun[interface] {
                opening.write_before(writer, begun, interface, now, packet);
            }
        }
        self.begun = begun;
    }
}

impl Opening {
    fn write_before(
        &self,
        writer: &mut CaptureWriter<Vec<u8>>,
        begun: &mut [u32],
        interface: usize,
        now: Timestamp,
        packet: &Packet,
    ) {
        let mut write = |interface: usize, at: Timestamp, towards_receiver, header| {
            let description = between(packet, towards_receiver, 0, header);
            // Writing to memory cannot fail.
            let _ = writer.insert(interface, at.min(now).as_nanos(), &description);
        };
        let way_at = |ways: &[(usize, Duration)]| {
            ways.iter().find(|(of, _)| *of == interface).map_or(Duration::ZERO, |(_, way)| *way)
        };
        match &packet.body {
            Body::Segment { segment, sent_at } => {
                let (times, stamped) = (self.times(*sent_at), segment.timestamp.is_some());
                let syn_at = if times.apart { times.syn + way_at(&self.forward) } else { now };
                write(interface, syn_at, true, self.syn(times, stamped));
                for &(of, way) in self.back.iter().filter(|(of, _)| packet.connection >= begun[*of]) {
                    let at = if times.apart { times.last - way } else { now };
                    write(of, at, false, self.answer(times, stamped));
                }
                for &(of, _) in &self.back {
                    begun[of] = packet.connection + 1;
                }
                write(interface, now, true, self.last(times, stamped));
            }
            // Only the reverse path is observed: the first data arrived just before at the earliest.
            Body::Acknowledgment(acknowledgment) => {
                let way = way_at(&self.back);
                let times = self.times(now - (self.round_trip - way));
                let at = if times.apart { times.last - way } else { now };
                write(interface, at, false, self.answer(times, acknowledgment.timestamp.is_some()));
            }
            Body::Datagram { .. } | Body::External(_) => {}
        }
        begun[interface] = packet.connection + 1;
    }

    /// Returns the times of a handshake before first data sent at `last`.
    fn times(&self, last: Timestamp) -> Times {
        let apart = last.since(Timestamp::ZERO) >= self.round_trip;
        let syn = if apart { last - self.round_trip } else { last };
        Times { apart, syn, answer: if apart { syn + self.there } else { last }, last }
    }

    fn syn(&self, times: Times, stamped: bool) -> TcpDescription {
        let flags = match self.agreed.ecn {
            Ecn::Off => TcpFlags::default(),
            Ecn::Classic => TcpFlags { cwr: true, ece: true, ..TcpFlags::default() },
            Ecn::Accurate => TcpFlags { ae: true, cwr: true, ece: true, ..TcpFlags::default() },
        };
        TcpDescription {
            flags: TcpFlags { syn: true, ..flags },
            window: u16::MAX,
            timestamps: stamped.then(|| (milliseconds(times.syn), 0)),
            // Nothing is sent to this endpoint.
            opening: Some(OpeningOptions { window_scale: 0, ..self.options }),
            ..TcpDescription::default()
        }
    }

    fn answer(&self, times: Times, stamped: bool) -> TcpDescription {
        TcpDescription {
            acknowledgment: 1,
            flags: TcpFlags {
                syn: true,
                ack: true,
                ece: self.agreed.ecn == Ecn::Classic,
                cwr: self.agreed.ecn == Ecn::Accurate,
                ..TcpFlags::default()
            },
            window: u16::MAX, // never scaled here
            timestamps: stamped.then(|| (milliseconds(times.answer), milliseconds(times.syn))),
            opening: Some(self.options),
            ..TcpDescription::default()
        }
    }

    fn last(&self, times: Times, stamped: bool) -> TcpDescription {
        TcpDescription {
            sequence: 1,
            acknowledgment: 1,
            flags: TcpFlags { ack: true, cwr: self.agreed.ecn == Ecn::Accurate, ..TcpFlags::default() },
            window: u16::MAX,
            timestamps: stamped.then(|| (milliseconds(times.last), milliseconds(times.answer))),
            ..TcpDescription::default()
        }
    }
}

/// Returns the options of a transport's SYN-ACK, and the resulting parameters of later headers.
fn terms(transport: &TransportPlan) -> (OpeningOptions, Agreed) {
    let beside = if transport.timestamps { TIMESTAMPS_BYTES } else { 0 };
    // The smallest scale by which the window fits its field.
    let fits = |scale: &u8| u16::try_from(transport.receive_window_bytes.div_ceil(1 << scale)).is_ok();
    let window_scale = (0..LARGEST_SCALE).find(fits).unwrap_or(LARGEST_SCALE);
    let options = OpeningOptions {
        mss: u16::try_from(transport.mss_bytes + beside).unwrap_or(u16::MAX),
        window_scale,
        sack_permitted: matches!(transport.recovery, RecoveryPlan::Prr | RecoveryPlan::Sack),
    };
    let ecn = match (transport.ecn, transport.accurate_ecn) {
        (false, _) => Ecn::Off,
        (true, false) => Ecn::Classic,
        (true, true) => Ecn::Accurate,
    };
    (options, Agreed { window_scale, ecn })
}

/// Returns the time through an empty link; without transmission time unless the rate is constant.
fn time_through(link: &LinkPlan, delay_s: f64, size: Bytes) -> Duration {
    let transmission = match link.rate {
        RatePlan::Constant(ConstantConfig { bps }) => Rate::from_bps(bps).time_for(size),
        _ => Duration::ZERO,
    };
    Duration::from_secs_f64(delay_s) + transmission
}
