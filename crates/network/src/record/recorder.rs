//! The recorder: all measurements of a run.

use std::mem::offset_of;

use airpath_model::{
    Backlog, Bytes, CongestionSignal, DropReason, Duration, Measurement, Packet as _, Probe, Timestamp,
};
use airpath_transport::SendLimit;

use super::estimate::{EstimateMeters, OWN};
use super::flow::{DelayDistribution, FlowMeter};
use super::link::{Buffer, LinkMeter};
use super::quantities::QuantityNames;
use super::rows::{
    CompletionRow, CompletionTable, DelayTable, DropRow, DropTable, EstimateSampleRow, EstimateSampleTable,
    EstimateTable, FlowEvent, FlowEventRow, FlowEventTable, FlowLimitRow, FlowLimitTable, FlowObservationRow,
    FlowObservationTable, FlowRow, FlowTable, LinkSeriesTable, LinkTable, ObservationRow, ObservationTable,
    PacketRow, PacketTable,
};
use super::series::FlowSeries;
use super::state::{FlowState, FlowSummary};
use super::step::LinkStep;
use super::table::Table;
use crate::capture::Capture;
use crate::external_packet::Captured;
use crate::packet::{Body, External, Packet};
use crate::prefetch;

/// Collects the events on links and at receivers, and converts them to tables.
#[derive(Debug)]
pub struct Recorder {
    links: Vec<LinkMeter>,
    flows: Vec<FlowMeter>,
    /// Counters of each flow's endpoints at the end of the warm-up; empty before.
    before: Vec<FlowSummary>,
    distributions: Vec<DelayDistribution>,
    /// Counters of the measured interval, once it is over.
    measured_distributions: Option<Vec<DelayDistribution>>,
    keep: Keep,
    /// Whether there is a table of packets.
    has_packets: bool,
    capture: Capture,
    estimates: EstimateTable,
    estimate_samples: EstimateSampleTable,
    flow_series: FlowSeries,
    flow_events: FlowEventTable,
    flow_observations: FlowObservationTable,
    flow_limits: FlowLimitTable,
    completions: CompletionTable,
    link_series: LinkSeriesTable,
    observations: ObservationTable,
    /// Names of the quantities that queues and senders report.
    quantities: QuantityNames,
    drops: DropTable,
    packets: PacketTable,
    /// External packets that were lost and not yet returned to the caller.
    lost_external: Vec<(u32, External)>,
}

/// The number of flows above which their counters (about 200 kB) do not fit in a cache.
const MANY: usize = 100;

/// The sequence number of a packet that does not carry one.
const UNKNOWN: u64 = u64::MAX;

/// Tables that are recorded row by row, if requested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    /// Each data packet that reaches its receiver.
    pub packets: bool,
    /// Each sample of every estimator.
    pub estimate_samples: bool,
    /// Each lost packet.
    pub drops: bool,
}

/// The result of a recorder.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub tables: Vec<Table>,
    pub flow_series: FlowSeries,
    pub quantities: Vec<String>,
    pub capture: Option<Vec<u8>>,
}

impl Recorder {
    /// Creates a recorder for links given as (recorded or not, buffer) and flows given as (measuring link, source).
    pub(crate) fn new(
        links: impl Iterator<Item = (bool, Buffer)>,
        flows: impl Iterator<Item = (u32, u32)>,
        sources: usize,
        keep: Keep,
        capture: Capture,
    ) -> Self {
        let flows: Vec<_> = flows.map(|(link, source)| FlowMeter::new(link, source)).collect();
        Self {
            links: links.map(|(recorded, buffer)| LinkMeter::new(recorded, buffer)).collect(),
            flow_series: FlowSeries::new(flows.len()),
            flows,
            before: Vec::new(),
            distributions: (0..sources).map(|_| DelayDistribution::default()).collect(),
            measured_distributions: None,
            keep,
            has_packets: keep.packets,
            capture,
            estimates: EstimateTable::default(),
            estimate_samples: EstimateSampleTable::default(),
            flow_events: FlowEventTable::default(),
            flow_observations: FlowObservationTable::default(),
            flow_limits: FlowLimitTable::default(),
            completions: CompletionTable::default(),
            link_series: LinkSeriesTable::default(),
            observations: ObservationTable::default(),
            quantities: QuantityNames::default(),
            drops: DropTable::default(),
            packets: PacketTable::default(),
            lost_external: Vec::new(),
        }
    }

    /// Adds a flow with its own source, measured at the same link as another flow; returns its number.
    pub(crate) fn add_flow(&mut self, like: u32) -> u32 {
        let measured_at = self.flows[like as usize].measured_at;
        self.flows.push(FlowMeter::new(measured_at, self.distributions.len() as u32));
        self.distributions.push(DelayDistribution::default());
        self.flow_series.add_flow();
        self.flows.len() as u32 - 1
    }

    /// Returns whether there are more flows than fit in a cache.
    #[inline]
    pub fn has_many_flows(&self) -> bool {
        self.flows.len() >= MANY
    }

    /// Prefetches the counters of a flow that will be updated soon.
    #[inline]
    pub fn prefetch(&self, flow: u32) {
        let meter = &self.flows[flow as usize];
        prefetch::field(&meter.measured_at, offset_of!(FlowMeter, measured_at), 0, size_of::<FlowMeter>());
    }

    /// Prefetches the delay histogram of a flow. Call after the counters were prefetched.
    #[inline]
    pub fn prefetch_delays(&self, flow: u32) {
        prefetch::value(&self.distributions[self.flows[flow as usize].distribution as usize]);
    }

    /// Records that a flow sends `bytes` on the wire.
    pub fn on_sent(&mut self, flow: u32, bytes: u64) {
        self.flows[flow as usize].interval.sent_bytes += bytes;
    }

    /// Records that a packet reaches the queue of a link.
    pub(crate) fn on_arrival(&mut self, link: u32, now: Timestamp, packet: &Packet) {
        self.links[link as usize].on_arrival(packet.size().get());
        // Read the packet first: the flow may have to be loaded from memory.
        if packet.is_data() {
            let flow = &mut self.flows[packet.flow as usize];
            if flow.measured_at == link {
                flow.interval.arrived_bytes += packet.size().get();
            }
        }
        self.capture.on_arrival(link, now, packet);
    }

    /// Records that the last bit of a packet leaves a link's transmitter.
    #[inline]
    pub(crate) fn on_departure(&mut self, link: u32, now: Timestamp, packet: &Packet) {
        self.links[link as usize].on_departure(packet.size().get());
        if packet.is_data() {
            let flow = &mut self.flows[packet.flow as usize];
            if flow.measured_at == link {
                flow.interval.departed_bytes += packet.size().get();
                flow.first_departure = flow.first_departure.min(now);
                flow.last_departure = now;
            }
        }
    }

    /// Records that the last bit of a packet that a link retransmits leaves its transmitter.
    pub(crate) fn on_link_retransmission(&mut self, link: u32, packet: &Packet) {
        self.links[link as usize].on_retransmission(packet.size().get());
    }

    /// Records that a packet is lost at a link.
    pub(crate) fn on_drop(&mut self, link: u32, now: Timestamp, packet: &Packet, reason: DropReason) {
        self.links[link as usize].on_drop(packet.size().get(), reason);
        if packet.is_data() {
            let flow = &mut self.flows[packet.flow as usize];
            flow.interval.lost_packets += 1;
        }
        if let Body::External(external) = packet.body {
            self.lost_external.push((packet.flow, external));
        }
        if self.keep.drops {
            self.drops.push(DropRow {
                link: i64::from(link),
                flow: i64::from(packet.flow),
                time_s: now.as_secs_f64(),
                bytes: i64::from(packet.size),
                reason: reason.index() as i64,
            });
        }
    }

    /// Records that a queue marked a packet.
    pub(crate) fn on_mark(&mut self, link: u32) {
        self.links[link as usize].on_mark();
    }

    /// Records the current length of a link's queue.
    pub(crate) fn on_backlog(&mut self, link: u32, now: Timestamp, backlog: Backlog) {
        self.links[link as usize].on_backlog(now, backlog);
    }

    /// Records that a data packet sent at `sent_at` reaches its receiver, which passes `goodput_bytes` more
    /// to its application.
    pub fn on_received(&mut self, now: Timestamp, sent_at: Timestamp, packet: &Packet, goodput_bytes: u64) {
        let one_way = now.since(sent_at);
        let flow = &mut self.flows[packet.flow as usize];
        flow.delay_min = flow.delay_min.min(one_way);
        let interval = &mut flow.interval;
        interval.received_packets += 1;
        interval.goodput_bytes += goodput_bytes;
        interval.delay_sum += one_way;
        interval.delay_max = interval.delay_max.max(one_way);
        interval.queueing_sum += packet.queueing;
        self.distributions[flow.distribution as usize].record(one_way, packet.queueing);
        if self.keep.packets {
            let (sequence, retransmission) = match packet.body {
                Body::Segment { segment, .. } => (segment.sequence, segment.retransmission),
                Body::Datagram { sequence, .. } => (sequence, false),
                Body::External(_) => (UNKNOWN, false),
                Body::Acknowledgment(_) => return,
            };
            self.packets.push(PacketRow {
                flow: i64::from(packet.flow),
                sent_s: sent_at.as_secs_f64(),
                received_s: now.as_secs_f64(),
                queueing_s: packet.queueing.as_secs_f64(),
                bytes: i64::from(packet.size),
                sequence: sequence as i64, // -1 if unknown
                retransmission: i64::from(retransmission),
                ecn: i64::from(packet.ecn().bits()),
            });
        }
    }

    /// Records that a flow's receiver passes `bytes` more to its application.
    pub(crate) fn on_goodput(&mut self, flow: u32, bytes: u64) {
        self.flows[flow as usize].interval.goodput_bytes += bytes;
    }

    /// Returns the external packets that were lost since the last call, with their flows.
    pub(crate) fn lost_external(&mut self) -> impl Iterator<Item = (u32, External)> {
        self.lost_external.drain(..)
    }

    /// Returns the external packets that arrived at captured links since the last call.
    pub(crate) fn captured_external(&mut self) -> impl Iterator<Item = Captured> {
        self.capture.external()
    }

    /// Records that a transfer of a flow is complete. Transfers of a flow are numbered from zero.
    pub fn on_completion(&mut self, flow: u32, transfer: u32, start: Timestamp, end: Timestamp, size: Bytes) {
        self.completions.push(CompletionRow {
            flow: i64::from(flow),
            transfer: i64::from(transfer),
            start_s: start.as_secs_f64(),
            end_s: end.as_secs_f64(),
            bytes: size.get() as i64,
        });
    }

    /// Ends the interval of a link at `now`.
    pub(crate) fn end_link_interval(&mut self, link: u32, now: Timestamp, offered_bits: Option<f64>) {
        let meter = &mut self.links[link as usize];
        let row = meter.end_interval(link, now, offered_bits);
        if meter.recorded {
            self.link_series.push(row);
        }
    }

    /// Returns the state of a flow's measuring link at the end of the last interval, if the link is recorded.
    pub fn newest_at(&self, flow: u32) -> Option<LinkStep> {
        self.link_series.newest(self.flows[flow as usize].measured_at)
    }

    /// Records a quantity that a queue reports at the end of an interval.
    pub(crate) fn on_observation(&mut self, link: u32, now: Timestamp, name: &str, value: f64) {
        if !self.links[link as usize].recorded {
            return;
        }
        let quantity = self.quantities.number(name);
        self.observations.push(ObservationRow {
            link: i64::from(link),
            time_s: now.as_secs_f64(),
            quantity: quantity as i64,
            value,
        });
    }

    /// Ends the interval of a flow at `now`.
    pub(crate) fn end_flow_interval(&mut self, flow: u32, now: Timestamp, state: &FlowState) {
        let meter = &mut self.flows[flow as usize];
        for (quantity, value) in meter.reported.drain() {
            self.flow_observations.push(FlowObservationRow {
                flow: i64::from(flow),
                time_s: now.as_secs_f64(),
                quantity: quantity as i64,
                value,
            });
        }
        let interval = meter.end_interval();
        let moves = state.active || !interval.is_silent();
        // The acknowledgment that ends a transfer may be the only event of an interval.
        if moves || meter.estimates.have_samples() {
            meter.estimates.end_interval(flow, now, &mut self.estimates);
        }
        if moves {
            self.flow_series.push(now, flow, &interval, state);
        }
    }

    /// Records how long each limit kept the sender of a flow from sending in the interval that ends at `now`,
    /// indexed by [`SendLimit`]. Records nothing if the flow was not active in the interval.
    pub fn on_limits(&mut self, flow: u32, now: Timestamp, times: &[Duration; SendLimit::COUNT]) {
        let total: f64 = times.iter().map(|time| time.as_secs_f64()).sum();
        if total > 0.0 {
            let [recovery, application, receive_window, send_buffer, congestion_window, pacing] =
                times.map(|time| time.as_secs_f64() / total);
            self.flow_limits.push(FlowLimitRow {
                flow: i64::from(flow),
                time_s: now.as_secs_f64(),
                recovery,
                application,
                receive_window,
                send_buffer,
                congestion_window,
                pacing,
            });
        }
    }

    /// Starts the measured interval at `now`; `before` contains the counters of each flow's endpoints so far.
    /// Call right after ending all intervals.
    pub(crate) fn begin_measuring(&mut self, now: Timestamp, before: Vec<FlowSummary>) {
        self.before = before;
        self.links.iter_mut().for_each(|link| link.begin_measuring(now));
        self.flows.iter_mut().for_each(FlowMeter::begin_measuring);
        self.distributions.iter_mut().for_each(DelayDistribution::clear);
    }

    /// Ends the measured interval. Packets received at this instant are after the end of the last interval,
    /// and are not counted. Call right after ending all intervals.
    pub(crate) fn end_measuring(&mut self) {
        let fresh = self.distributions.iter().map(|_| DelayDistribution::default()).collect();
        self.measured_distributions = Some(std::mem::replace(&mut self.distributions, fresh));
        self.keep.packets = false;
    }

    /// Returns the row of a flow, including the values that only its endpoints know.
    pub(crate) fn flow_row(&self, flow: u32, of_ends: &FlowSummary) -> FlowRow {
        let meter = &self.flows[flow as usize];
        let measured = &meter.measured;
        let of_ends = self.before.get(flow as usize).map_or(*of_ends, |before| of_ends.since(before));
        let seconds = |time: Timestamp| if time.is_scheduled() { time.as_secs_f64() } else { f64::NAN };
        FlowRow {
            flow: i64::from(flow),
            source: i64::from(meter.distribution),
            instance: i64::from(of_ends.instance),
            start_s: seconds(of_ends.start),
            first_departure_s: seconds(meter.first_departure),
            last_departure_s: seconds(meter.last_departure),
            arrived_bytes: measured.arrived_bytes as i64,
            departed_bytes: measured.departed_bytes as i64,
            goodput_bytes: measured.goodput_bytes as i64,
            delivered_packets: measured.received_packets as i64,
            sent_packets: of_ends.sent_packets as i64,
            retransmitted_packets: of_ends.retransmitted_packets as i64,
            lost_packets: measured.lost_packets as i64,
            timeouts: of_ends.timeouts as i64,
            recoveries: of_ends.recoveries as i64,
            ecn_reductions: of_ends.ecn_reductions as i64,
            spurious_timeouts: of_ends.spurious_timeouts as i64,
            delay_mean_s: measured.delay_mean(),
            delay_min_s: if meter.delay_min == Duration::MAX {
                f64::NAN
            } else {
                meter.delay_min.as_secs_f64()
            },
            queueing_mean_s: measured.queueing_mean(),
            srtt_s: of_ends.srtt_s,
            min_rtt_s: of_ends.min_rtt_s,
        }
    }

    /// Returns a probe for the algorithms of one flow.
    #[inline]
    pub fn probe(&mut self, flow: u32) -> FlowProbe<'_> {
        FlowProbe { recorder: self, flow }
    }

    /// Returns the tables, the names of quantities, and the capture if one was requested.
    pub(crate) fn finish(self, now: Timestamp, flows: FlowTable, delays_s: &[f64]) -> Recorded {
        let mut links = LinkTable::default();
        for (index, link) in self.links.iter().enumerate().filter(|(_, link)| link.recorded) {
            links.push(link.summary(index as u32, now, delays_s[index]));
        }
        let mut delays = DelayTable::default();
        // One after the other, because each takes up to 40 kB while it is counted.
        let distributions = self.measured_distributions.unwrap_or(self.distributions);
        for (source, mut distribution) in distributions.into_iter().enumerate() {
            distribution.rows(source).for_each(|row| delays.push(row));
        }
        let mut tables = vec![
            flows.finish(),
            self.flow_events.finish().sorted_by("time_s"),
            self.flow_observations.finish(),
            self.flow_limits.finish(),
            self.completions.finish().sorted_by("end_s"),
            links.finish(),
            self.link_series.finish(),
            self.observations.finish(),
            self.estimates.finish(),
            self.drops.finish().sorted_by("time_s"),
            delays.finish(),
        ];
        if self.has_packets {
            tables.push(self.packets.finish());
        }
        if self.keep.estimate_samples {
            tables.push(self.estimate_samples.finish());
        }
        Recorded {
            tables,
            flow_series: self.flow_series,
            quantities: self.quantities.into_names(),
            capture: self.capture.finish(),
        }
    }
}

/// Records the congestion events reported by a flow's transport, the estimates of its estimators, and the
/// quantities reported by its controller.
pub struct FlowProbe<'a> {
    recorder: &'a mut Recorder,
    flow: u32,
}

impl Probe for FlowProbe<'_> {
    fn record(&mut self, now: Timestamp, measurement: Measurement) {
        let event = match measurement {
            Measurement::Congestion(CongestionSignal::Loss) => FlowEvent::Loss,
            Measurement::Congestion(CongestionSignal::Timeout) => FlowEvent::Timeout,
            Measurement::Congestion(CongestionSignal::EcnCe) => FlowEvent::EcnReduction,
            Measurement::SpuriousTimeout => FlowEvent::SpuriousTimeout,
            Measurement::RecoveryLeft => FlowEvent::RecoveryLeft,
            Measurement::BandwidthSample(sample) => return self.estimates().on_sample(OWN, sample),
            Measurement::Bandwidth(estimate) => return self.on_estimate(now, OWN, estimate),
            Measurement::Observer { observer, sample, estimate } => {
                let estimator = usize::from(observer) + 1;
                self.estimates().on_sample(estimator, sample);
                return self.on_estimate(now, estimator, estimate);
            }
            Measurement::Named(name, value) => {
                let quantity = self.recorder.quantities.number(name);
                self.recorder.flows[self.flow as usize].reported.set(quantity, value);
                return;
            }
            _ => return,
        };
        let (flow, event) = (i64::from(self.flow), event.index() as i64);
        self.recorder.flow_events.push(FlowEventRow { flow, time_s: now.as_secs_f64(), event });
    }
}

impl FlowProbe<'_> {
    fn estimates(&mut self) -> &mut EstimateMeters {
        &mut self.recorder.flows[self.flow as usize].estimates
    }

    fn on_estimate(&mut self, now: Timestamp, estimator: usize, estimate: f64) {
        let meters = self.estimates();
        meters.on_estimate(estimator, estimate);
        let sample = meters.sample(estimator);
        if self.recorder.keep.estimate_samples {
            self.recorder.estimate_samples.push(EstimateSampleRow {
                flow: i64::from(self.flow),
                time_s: now.as_secs_f64(),
                estimator: estimator as i64,
                sample_bps: 8.0 * sample,
                estimate_bps: 8.0 * estimate,
            });
        }
    }
}
