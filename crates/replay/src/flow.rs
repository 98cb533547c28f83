//! One TCP connection: two directions and their shared state.

use std::net::SocketAddr;

use airpath_model::{Duration, Timestamp};
use airpath_trace::capture::TcpPacket;

use crate::direction::{Direction, DirectionResult, Facts, acknowledges};
use crate::ecn::EcnUse;
use crate::estimators::NamedEstimator;
use crate::handshake::Handshake;
use crate::measured::AckObserver;
use crate::preview::{Preview, Traits};
use crate::result::FlowResult;
use crate::vantage::{Answers, Vantage};

/// The two endpoints, in a fixed order, so that packets of both directions have equal keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ends([SocketAddr; 2]);

impl Ends {
    /// Returns the endpoints of a packet's flow, and the index of the sender.
    pub(crate) fn of(packet: &TcpPacket) -> (Self, usize) {
        if packet.source <= packet.destination {
            (Self([packet.source, packet.destination]), 0)
        } else {
            (Self([packet.destination, packet.source]), 1)
        }
    }
}

/// The external state that a flow uses.
pub(crate) struct Context<'a> {
    pub(crate) estimators: &'a [NamedEstimator],
    pub(crate) observer: &'a mut dyn AckObserver,
}

#[derive(Debug)]
pub(crate) struct Flow {
    ends: Ends,
    start: Timestamp,
    last: Timestamp,
    /// Its last activity, counted in packets of the capture.
    pub(crate) heard: u64,
    packets: u64,
    backward_times: u64,
    duplicates: u64,
    closing: bool,
    handshake: Handshake,
    answers: Answers,
    ecn: EcnUse,
    /// The interface that captures each side's packets, and the time of its last packet.
    interfaces: [Option<(u32, u64)>; 2],
    previous: [Option<(u64, Identity)>; 2],
    preview: Option<Preview>,
    replayed: Option<(Traits, [Direction; 2])>,
    /// The time of the first packet of the capture.
    zero_ns: u64,
}

/// Maximum time between two captures of one packet on one host.
const COPY_NS: u64 = 100_000;

/// Two interfaces that capture the same packets do so at nearly the same time: after this idle time of one,
/// the flow continues at the other.
const SILENT_NS: u64 = 1_000_000_000;

/// The properties shared by two captures of the same packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    identification: Option<u16>,
    sequence: u32,
    acknowledgment: u32,
    payload: u32,
    window: u16,
    timestamps: Option<(u32, u32)>,
}

impl Flow {
    pub(crate) fn new(ends: Ends, zero_ns: u64, packet: &TcpPacket) -> Self {
        let start = Timestamp::from_nanos(packet.time_ns.saturating_sub(zero_ns));
        Self {
            ends,
            start,
            last: start,
            heard: 0,
            packets: 0,
            backward_times: 0,
            duplicates: 0,
            closing: false,
            handshake: Handshake::default(),
            answers: Answers::default(),
            ecn: EcnUse::Unknown,
            interfaces: [None; 2],
            previous: [None; 2],
            preview: Some(Preview::default()),
            replayed: None,
            zero_ns,
        }
    }

    /// Returns whether the packet starts another connection between the same endpoints.
    pub(crate) fn is_over(&self, side: usize, packet: &TcpPacket) -> bool {
        packet.flags.syn
            && !packet.flags.ack
            && (self.closing || self.handshake.is_of_another(side, packet.sequence))
    }

    /// Returns the number of segments kept, for bounds.
    pub(crate) fn segments(&self) -> usize {
        self.replayed.as_ref().map_or(0, |(_, directions)| directions.iter().map(Direction::segments).sum())
    }

    /// Drops the data in flight.
    pub(crate) fn restart(&mut self) {
        if let Some((_, directions)) = &mut self.replayed {
            directions.iter_mut().for_each(Direction::restart);
        }
    }

    pub(crate) fn on_packet(&mut self, side: usize, packet: &TcpPacket, context: &mut Context<'_>) {
        if self.is_of_another_interface(side, packet) || self.is_copy(side, packet) {
            self.duplicates += 1;
            return;
        }
        self.packets += 1;
        let now = self.time(packet);
        self.backward_times += u64::from(now < self.last);
        self.last = self.last.max(now);
        self.closing |= packet.flags.fin || packet.flags.rst;
        self.handshake.on_packet(side, packet);
        self.answers.on_packet(side, self.last, packet, &self.handshake);
        match &mut self.preview {
            Some(preview) => {
                if preview.on_packet(side, packet, &self.handshake) {
                    self.end_preview(context);
                }
            }
            None => self.replay(side, self.last, packet, context),
        }
    }

    /// Returns whether the packet comes from another interface than the one that captures this side's
    /// packets. If that one has been idle for long, the flow continues at the other: the host changed its
    /// network, or files were merged.
    fn is_of_another_interface(&mut self, side: usize, packet: &TcpPacket) -> bool {
        let (interface, last_ns) = self.interfaces[side].get_or_insert((packet.interface, packet.time_ns));
        let is_silent = packet.time_ns.saturating_sub(*last_ns) > SILENT_NS;
        if *interface != packet.interface && !is_silent {
            return true;
        }
        (*interface, *last_ns) = (packet.interface, packet.time_ns);
        false
    }

    /// Returns whether the packet is a copy: a link that is captured twice shows each packet twice in a row,
    /// while a retransmission has another identification.
    fn is_copy(&mut self, side: usize, packet: &TcpPacket) -> bool {
        let identity = Identity {
            identification: packet.identification.filter(|number| *number != 0),
            sequence: packet.sequence,
            acknowledgment: packet.acknowledgment,
            payload: packet.payload,
            window: packet.window,
            timestamps: packet.timestamps,
        };
        let previous = self.previous[side].replace((packet.time_ns, identity));
        // IPv6 has no identification: there only data packets can be recognized, because no sender
        // retransmits so soon with the same timestamp.
        previous.is_some_and(|(time_ns, previous)| {
            let soon = packet.payload > 0
                && packet.timestamps.is_some()
                && packet.time_ns.abs_diff(time_ns) < COPY_NS;
            previous == identity && (identity.identification.is_some() || soon)
        })
    }

    fn time(&self, packet: &TcpPacket) -> Timestamp {
        Timestamp::from_nanos(packet.time_ns.saturating_sub(self.zero_ns))
    }

    fn end_preview(&mut self, context: &mut Context<'_>) {
        let Some(mut preview) = self.preview.take() else { return };
        let (traits, packets) = preview.finish(&self.handshake);
        self.ecn = self.handshake.ecn();
        let facts = |side: usize| Facts {
            source: self.ends.0[side],
            destination: self.ends.0[1 - side],
            mss: traits.mss[side],
            sender_tick: traits.ticks[side],
            receiver_tick: traits.ticks[1 - side],
            sack: traits.sack,
            window_shift: self.handshake.window_scale(1 - side).unwrap_or(0),
            window_known: self.handshake.is_known(),
            receiver_opened: self.handshake.is_known() && self.handshake.opened_by(1 - side),
        };
        self.replayed = Some((traits, [Direction::new(facts(0)), Direction::new(facts(1))]));
        let mut now = Timestamp::ZERO;
        for (side, packet) in packets {
            now = now.max(self.time(&packet));
            self.replay(side, now, &packet, context);
        }
    }

    fn replay(&mut self, side: usize, now: Timestamp, packet: &TcpPacket, context: &mut Context<'_>) {
        let Some((_, directions)) = &mut self.replayed else { return };
        for direction in directions.iter_mut() {
            direction.arrive(now, &mut self.ecn, context.observer);
        }
        if acknowledges(packet.flags) {
            // The other side's data is acknowledged; that side will respond.
            let answer = self.answers.least(1 - side).unwrap_or(Duration::ZERO);
            let receiver = self.answers.least(side);
            let more = match Vantage::judge(Some(answer), receiver) {
                Vantage::Receiver | Vantage::Middle => {
                    self.answers.latest(1 - side).map_or(Duration::ZERO, |latest| latest - answer)
                }
                _ => Duration::ZERO,
            };
            directions[1 - side].on_acknowledgment(now, packet, answer, more);
            directions[1 - side].arrive(now, &mut self.ecn, context.observer);
        }
        directions[side].on_data(now, packet, context.estimators);
    }

    /// Ends the flow. Returns `None` if it carried no data.
    pub(crate) fn finish(mut self, context: &mut Context<'_>) -> Option<FlowResult> {
        self.end_preview(context);
        let (traits, mut directions) = self.replayed.take()?;
        for direction in &mut directions {
            direction.arrive(Timestamp::NEVER, &mut self.ecn, context.observer);
        }
        let side = usize::from(directions[1].counts.bytes > directions[0].counts.bytes);
        let reverse_bytes = directions[1 - side].counts.bytes;
        let [first, second] = directions;
        let DirectionResult { facts, counts, feedback, measured, diagnosis, loss_runs } =
            if side == 0 { first.finish() } else { second.finish() };
        let (measured, mut diagnosis) = measured.zip(diagnosis)?;
        if self.interfaces[1 - side].is_none() {
            diagnosis = diagnosis.without_receiver();
        }
        let (sender, receiver) = (self.answers.least(side), self.answers.least(1 - side));
        let round_trips = measured.round_trips();
        // Without timestamps and handshake, the acknowledgments still indicate the distance to the receiver.
        let receiver = receiver.or(round_trips.map(|(least, ..)| Duration::from_nanos(least)));
        let timestamps = counts.receiver_stamps > 0;
        let delivered_bps = counts.first_data.zip(measured.last_delivery).and_then(|(first, last)| {
            let seconds = last.since(first).as_secs_f64();
            (seconds > 0.0).then(|| measured.acked as f64 * 8.0 / seconds)
        });
        let (acks, acked_bytes, rtt_samples) = (measured.acks, measured.acked, measured.samples());
        let (estimates, series) = measured.finish(timestamps, facts.receiver_tick);
        Some(FlowResult {
            source: facts.source,
            destination: facts.destination,
            start_ns: self.start.as_nanos(),
            duration_ns: self.last.since(self.start).as_nanos(),
            packets: self.packets,
            vantage: Vantage::judge(sender, receiver),
            sender_answer_ns: sender.map(Duration::as_nanos),
            receiver_answer_ns: receiver.map(Duration::as_nanos),
            handshake: self.handshake.is_known(),
            window_scale: self.handshake.window_scale(1 - side),
            window_max: counts.window_max,
            sack: traits.sack,
            timestamps,
            clock_hz: traits.clock_hz[1 - side],
            mss: facts.mss.get(),
            data_packets: counts.data_packets,
            bytes: counts.bytes,
            reverse_bytes,
            acked_bytes,
            acks,
            delivered_bps,
            rtt_samples,
            rtt_min_ns: round_trips.map(|(least, ..)| least),
            rtt_median_ns: round_trips.map(|(_, median, _)| median),
            rtt_max_ns: round_trips.map(|(.., most)| most),
            retransmitted: counts.retransmitted,
            needless: counts.needless,
            reordered: counts.reordered,
            recoveries: counts.recoveries,
            timeouts: counts.timeouts,
            loss_runs,
            uncaptured_bytes: counts.uncaptured,
            ecn: self.ecn,
            ect0: counts.ect0,
            ect1: counts.ect1,
            ce: counts.ce,
            ecn_echoes: feedback.echoes,
            reported_marks: feedback.reported_marks,
            backward_times: self.backward_times,
            duplicates: self.duplicates,
            restarts: counts.restarts,
            estimates,
            series,
            diagnosis,
        })
    }
}
