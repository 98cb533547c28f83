//! One connection of a log, as observed by the endpoint that logged it.

use airpath_model::{Bytes, NullProbe, Timestamp};
use airpath_trace::qlog::{LoggedMetrics, LoggedPacket, PacketSpace, QlogEvent, TraceHead};
use airpath_transport::QuicDriver;

use super::ledger::{Ledger, Outstanding};
use super::recorder::{Recorder, Told};
use super::{LOGGED_COLUMNS, QlogFlow, QlogObserver};
use crate::diagnosis::{Acked, Observations, Sent, note_policer};
use crate::estimators::NamedEstimator;
use crate::measured::Measured;
use crate::result::EstimateResult;
use crate::series::Series;

/// The external state that a connection uses.
pub(super) struct Context<'a> {
    pub(super) estimators: &'a [NamedEstimator],
    pub(super) observer: &'a mut dyn QlogObserver,
}

/// Maximum number of packets without an acknowledgment: beyond it, the log contains only one direction.
const MOST_PACKETS: usize = 1 << 17;
/// The smallest permitted maximum packet size (RFC 9000, section 14).
const SMALLEST_MSS: u64 = 1200;
/// Upper bound of times.
const LATEST: u64 = 1 << 62;
/// The reason why the log of a receiver yields no estimates.
const AT_RECEIVER: &str = "logged by the receiver, to whom no acknowledgment of the data comes";

pub(super) struct Connection {
    head: TraceHead,
    group: String,
    start: Timestamp,
    now: Timestamp,
    spaces: [Ledger; 3],
    /// Bytes neither acknowledged nor lost.
    in_flight: u64,
    driver: QuicDriver<Recorder>,
    measured: Measured,
    observations: Option<Observations>,
    arrived: Series,
    first_sent: Option<Timestamp>,
    arrivals: Option<(Timestamp, Timestamp)>,
    counts: Counts,
    losses: Losses,
    newly: Vec<Outstanding>,
}

/// Counters of one connection.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    packets: u64,
    sent_packets: u64,
    sent_bytes: u64,
    received_packets: u64,
    received_bytes: u64,
    largest: u64,
    without_size: u64,
    restarts: u64,
}

/// The losses of a connection.
#[derive(Clone, Debug, Default)]
struct Losses {
    said: bool,
    packets: u64,
    /// The current run: its last packet, its length.
    run: Option<(u64, u32)>,
    runs: std::collections::BTreeMap<u32, u64>,
}

impl Losses {
    fn on_loss(&mut self, packet: u64) {
        self.packets += 1;
        match &mut self.run {
            Some((last, length)) if last.checked_add(1) == Some(packet) => {
                *last = packet;
                *length = length.saturating_add(1);
            }
            _ => {
                self.end_run();
                self.run = Some((packet, 1));
            }
        }
    }

    fn end_run(&mut self) {
        if let Some((_, length)) = self.run.take() {
            *self.runs.entry(length).or_default() += 1;
        }
    }
}

impl Connection {
    pub(super) fn new(head: TraceHead, group: String, at_ns: u64, context: &Context<'_>) -> Self {
        let now = Timestamp::from_nanos(at_ns.min(LATEST));
        Self {
            head,
            group,
            start: now,
            now,
            spaces: Default::default(),
            in_flight: 0,
            driver: QuicDriver::new(Box::default(), Bytes::new(SMALLEST_MSS)),
            measured: Measured::with_columns(now, context.estimators, None, LOGGED_COLUMNS.len()),
            observations: None,
            arrived: Series::new(now, context.estimators.len() + LOGGED_COLUMNS.len()),
            first_sent: None,
            arrivals: None,
            counts: Counts { largest: SMALLEST_MSS, ..Counts::default() },
            losses: Losses::default(),
            newly: Vec::new(),
        }
    }

    /// Returns the number of packets kept, for bounds.
    pub(super) fn packets_kept(&self) -> usize {
        self.spaces.iter().map(Ledger::len).sum()
    }

    /// Drops the packets in flight.
    pub(super) fn forget(&mut self) {
        self.counts.restarts += 1;
        self.spaces.iter_mut().for_each(Ledger::clear);
        self.in_flight = 0;
    }

    pub(super) fn on_event(&mut self, at_ns: u64, event: &QlogEvent, context: &mut Context<'_>) {
        // Events of several threads can be slightly out of order.
        self.now = self.now.max(Timestamp::from_nanos(at_ns.min(LATEST)));
        match event {
            QlogEvent::Sent(packet) => self.on_sent(packet),
            QlogEvent::Received(packet) => self.on_received(packet),
            QlogEvent::Lost { space, packet } => {
                self.losses.said = true;
                self.lose(*space, *packet);
            }
            QlogEvent::Metrics(metrics) => self.on_metrics(metrics, context.estimators.len()),
        }
        self.take_told(context);
        // The driver reports an acknowledgment at the next event: the packets sent in response come after it.
        if let QlogEvent::Sent(packet) = event
            && packet.eliciting
            && packet.bytes > 0
        {
            self.observe_sent(packet.bytes);
        }
    }

    fn on_sent(&mut self, packet: &LoggedPacket) {
        self.counts.packets += 1;
        if !packet.eliciting {
            return; // not in flight (RFC 9002, section 2)
        }
        if packet.bytes == 0 {
            self.counts.without_size += 1;
            return;
        }
        self.counts.sent_packets += 1;
        self.counts.sent_bytes += packet.bytes;
        self.first_sent.get_or_insert(self.now);
        if packet.bytes > self.counts.largest {
            self.counts.largest = packet.bytes;
            self.driver.set_mss(Bytes::new(packet.bytes));
        }
        let earlier = self.spaces[packet.space as usize].on_sent(packet.packet, self.now, packet.bytes);
        self.in_flight =
            self.in_flight.saturating_sub(earlier.map_or(0, |earlier| earlier.bytes)) + packet.bytes;
        self.driver.on_sent(self.now, packet.bytes, &mut NullProbe);
        if self.packets_kept() > MOST_PACKETS {
            self.forget();
        }
    }

    /// Records a transmission. Offsets count the bytes sent: QUIC never reuses a packet number.
    fn observe_sent(&mut self, bytes: u64) {
        let (now, counts) = (self.now, self.counts);
        let observations = self.observations.get_or_insert_with(|| Observations::new(now, counts.largest));
        observations.set_mss(counts.largest);
        observations.on_sent(&Sent {
            now,
            start: counts.sent_bytes - bytes,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            lost_since: None,
            in_flight: self.in_flight,
        });
    }

    fn on_received(&mut self, packet: &LoggedPacket) {
        self.counts.packets += 1;
        if packet.eliciting {
            self.counts.received_packets += 1;
            self.counts.received_bytes += packet.bytes;
            self.counts.without_size += u64::from(packet.bytes == 0);
            let (first, _) = self.arrivals.unwrap_or((self.now, self.now));
            self.arrivals = Some((first, self.now));
            let bin = self.arrived.bin(self.now);
            self.arrived.on_delivered(bin, Bytes::new(packet.bytes), Bytes::ZERO, false);
        }
        if !packet.acknowledges.is_empty() {
            self.on_acknowledgment(packet.space, &packet.acknowledges);
        }
    }

    fn on_acknowledgment(&mut self, space: PacketSpace, ranges: &[(u64, u64)]) {
        let mut newly = std::mem::take(&mut self.newly);
        newly.clear();
        self.spaces[space as usize].acknowledge(ranges, &mut newly);
        // In the order of transmission, as stacks report them.
        newly.sort_by_key(|packet| packet.sent_at);
        for packet in &newly {
            if !packet.lost {
                self.in_flight = self.in_flight.saturating_sub(packet.bytes);
            }
            self.driver.on_acked(self.now, packet.sent_at, packet.bytes, &mut NullProbe);
        }
        if let Some(newest) = newly.last() {
            self.driver.on_end_acks(self.in_flight, false, &mut NullProbe);
            let rtt = self.driver.rtt();
            let round_trip = rtt.smoothed.max(rtt.latest);
            if !self.losses.said {
                for packet in self.spaces[space as usize].find_lost(self.now, round_trip) {
                    self.lose(space, packet);
                }
            }
            let kept = round_trip * KEPT_ROUND_TRIPS;
            self.spaces[space as usize].forget_lost(newest.sent_at, kept);
        }
        self.newly = newly;
    }

    fn lose(&mut self, space: PacketSpace, packet: u64) {
        let Some(lost) = self.spaces[space as usize].lose(packet) else { return };
        self.losses.on_loss(packet);
        self.in_flight = self.in_flight.saturating_sub(lost.bytes);
        self.driver.on_lost(self.now, lost.sent_at, lost.bytes, false, &mut NullProbe);
        if let Some(observations) = &mut self.observations {
            observations.on_lost(self.now, lost.sent_at);
        }
    }

    fn on_metrics(&mut self, metrics: &LoggedMetrics, after: usize) {
        let bin = self.measured.series.bin(self.now);
        let said = [
            metrics.congestion_window,
            metrics.bytes_in_flight,
            metrics.smoothed_rtt_s,
            metrics.pacing_rate_bps,
        ];
        for (column, value) in self.measured.series.estimates[after..].iter_mut().zip(said) {
            column[bin] = value.unwrap_or(column[bin]);
        }
    }

    /// Passes the inputs of the sender's controller to the estimators.
    fn take_told(&mut self, context: &mut Context<'_>) {
        for told in std::mem::take(&mut self.driver.controller_mut().told) {
            match told {
                Told::Congestion(event) => self.measured.on_congestion(&event),
                Told::Ack(event) => {
                    if let Some(observations) = &mut self.observations {
                        observations.on_ack(&Acked {
                            event: &event,
                            round_trip: event.rtt_sample,
                            cumulative: 0,
                            window_end: None,
                            next: 0,
                            echoed: None,
                            receiver_s: None,
                        });
                    }
                    let estimates = self.measured.on_ack(&event, event.rtt_sample);
                    context.observer.on_ack(&event, estimates);
                }
            }
        }
    }

    /// Ends the connection. Returns `None` if it carried no data.
    pub(super) fn finish(mut self: Box<Self>, context: &mut Context<'_>) -> Option<QlogFlow> {
        self.driver.settle(&mut NullProbe);
        self.take_told(context);
        self.losses.end_run();
        let counts = self.counts;
        if counts.sent_bytes == 0 && counts.received_bytes == 0 {
            return None;
        }
        let is_sender = counts.sent_bytes >= counts.received_bytes;
        let measured = self.measured;
        let round_trips = measured.round_trips().filter(|_| is_sender);
        let over = |bytes: u64, span: Option<(Timestamp, Timestamp)>| {
            let seconds = span.map_or(0.0, |(first, last)| last.since(first).as_secs_f64());
            (seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds)
        };
        let delivered_bps = if is_sender {
            over(measured.acked, self.first_sent.zip(measured.last_delivery))
        } else {
            over(counts.received_bytes, self.arrivals)
        };
        let (acks, acked_bytes, rtt_samples) = (measured.acks, measured.acked, measured.samples());
        let (mut estimates, mut series) = measured.finish(false, None);
        if !is_sender {
            estimates = estimates.into_iter().map(|one| silent(one.name)).collect();
            series = self.arrived;
            self.observations = None;
        }
        let mut diagnosis =
            self.observations.map(|observations| observations.finish(None)).unwrap_or_default();
        note_policer(&mut [&mut diagnosis]);
        let [there, back] =
            [(counts.sent_packets, counts.sent_bytes), (counts.received_packets, counts.received_bytes)];
        let (told, other) = if is_sender { (there, back) } else { (back, there) };
        Some(QlogFlow {
            title: self.head.title,
            group: self.group,
            vantage_point: self.head.vantage_point,
            is_sender,
            start_ns: self.start.as_nanos(),
            duration_ns: self.now.since(self.start).as_nanos(),
            packets: counts.packets,
            data_packets: told.0,
            bytes: told.1,
            reverse_bytes: other.1,
            acked_bytes: if is_sender { acked_bytes } else { 0 },
            acks: if is_sender { acks } else { 0 },
            delivered_bps,
            rtt_samples: if is_sender { rtt_samples } else { 0 },
            rtt_min_ns: round_trips.map(|(least, ..)| least),
            rtt_median_ns: round_trips.map(|(_, median, _)| median),
            rtt_max_ns: round_trips.map(|(.., most)| most),
            mss: counts.largest,
            lost_packets: self.losses.packets,
            says_losses: self.losses.said,
            loss_runs: self.losses.runs.into_iter().collect(),
            recoveries: self.driver.counters().recoveries,
            without_size: counts.without_size,
            restarts: counts.restarts,
            estimates,
            series,
            diagnosis,
        })
    }
}

/// Number of round trips for which lost packets are remembered: they may arrive late.
const KEPT_ROUND_TRIPS: u64 = 4;

/// Returns the result of an estimator without an estimate.
fn silent(name: String) -> EstimateResult {
    EstimateResult { name, mean_bps: None, last_bps: None, missing: Some(AT_RECEIVER) }
}
