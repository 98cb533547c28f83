//! The tables of a run, from which `docs/reference/results.md` is generated. Field names are column names; the doc
//! comment of a field is the description of its column.

use airpath_model::{DropReason, Phase, codes};

use super::step::LinkStep;
use super::table::{TableDescription, Values, table};

const PLAIN: Values = Values::Unit("");
const SECONDS: Values = Values::Unit("s");
const BYTES: Values = Values::Unit("B");
const BITS_PER_SECOND: Values = Values::Unit("bit/s");
const PACKETS: Values = Values::Unit("packets");
/// Quantities that components report; each run lists its own.
const QUANTITIES: Values = Values::NamesOfRun("quantities");
/// Estimators of the plan; 0 is the estimator of the controller itself.
const ESTIMATORS: Values = Values::NamesOfRun("estimators");

codes! {
    /// What happened to a flow.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum FlowEvent {
        Loss = "loss",
        Timeout = "timeout",
        EcnReduction = "ecn reduction",
        SpuriousTimeout = "spurious timeout",
        RecoveryLeft = "recovery left",
    }
}

codes! {
    /// The quantity counted by a delay histogram.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum DelayKind {
        OneWay = "one-way",
        Queueing = "queueing",
    }
}

/// Returns the descriptions of all tables, in the order in which they are documented.
pub fn table_descriptions() -> Vec<TableDescription> {
    vec![
        FlowTable::description(),
        FlowSeriesTable::description(),
        FlowEventTable::description(),
        FlowObservationTable::description(),
        FlowLimitTable::description(),
        CompletionTable::description(),
        LinkTable::description(),
        LinkSeriesTable::description(),
        ObservationTable::description(),
        EstimateTable::description(),
        EstimateSampleTable::description(),
        DropTable::description(),
        DelayTable::description(),
        PacketTable::description(),
    ]
}

table! {
    /// one flow; short flows that arrive at random are rows of their own
    "flows", FlowRow, FlowTable, optional: false {
        /// flow number: row of `flows` within the run
        flow: i64 = PLAIN,
        /// index of the source in the plan's `flows`
        source: i64 = PLAIN,
        /// 0, 1, … within the source
        instance: i64 = PLAIN,
        /// time at which the flow began to send
        start_s: f64 = SECONDS,
        /// first departure from its measuring link in the measured interval
        first_departure_s: f64 = SECONDS,
        /// last departure from its measuring link in the measured interval
        last_departure_s: f64 = SECONDS,
        /// wire bytes that left the measuring link in the measured interval, corrupted packets included
        departed_bytes: i64 = BYTES,
        /// wire bytes that reached the measuring link's queue in the measured interval
        arrived_bytes: i64 = BYTES,
        /// new payload handed in order to the receiving application, measured interval
        goodput_bytes: i64 = BYTES,
        /// data packets that reached the receiver in the measured interval
        delivered_packets: i64 = PACKETS,
        /// data packets sent in the measured interval
        sent_packets: i64 = PACKETS,
        /// data packets retransmitted in the measured interval
        retransmitted_packets: i64 = PACKETS,
        /// data packets dropped or corrupted anywhere on the path in the measured interval
        lost_packets: i64 = PACKETS,
        /// retransmission timeouts in the measured interval
        timeouts: i64 = PLAIN,
        /// number of times loss recovery was entered in the measured interval; null for kernels and QUIC
        recoveries: i64 = PLAIN,
        /// window reductions in response to ECN marks in the measured interval; null for kernels
        ecn_reductions: i64 = PLAIN,
        /// timeouts found spurious and undone in the measured interval; null for kernels
        spurious_timeouts: i64 = PLAIN,
        /// mean one-way delay of data packets received in the measured interval
        delay_mean_s: f64 = SECONDS,
        /// the part of the mean one-way delay spent waiting in queues
        queueing_mean_s: f64 = SECONDS,
        /// smallest one-way delay seen
        delay_min_s: f64 = SECONDS,
        /// smoothed round-trip time at the end
        srtt_s: f64 = SECONDS,
        /// smallest round-trip time, at the end
        min_rtt_s: f64 = SECONDS,
    }
}

table! {
    /// one flow and interval in which the flow was active
    "flow_series", FlowSeriesRow, FlowSeriesTable, optional: false {
        /// flow number: row of `flows` within the run
        flow: i64 = PLAIN,
        /// end of the interval
        time_s: f64 = SECONDS,
        /// wire bytes sent in the interval
        sent_bytes: i64 = BYTES,
        /// wire bytes that left the measuring link in the interval
        departed_bytes: i64 = BYTES,
        /// new payload handed in order to the application in the interval
        goodput_bytes: i64 = BYTES,
        /// data packets dropped or corrupted in the interval
        lost_packets: i64 = PACKETS,
        /// mean one-way delay of packets received in the interval, to seven digits
        delay_mean_s: f64 = SECONDS,
        /// largest one-way delay of packets received in the interval, to seven digits
        delay_max_s: f64 = SECONDS,
        /// mean time waiting in queues of packets received in the interval, to seven digits
        queueing_mean_s: f64 = SECONDS,
        /// congestion window at the end of the interval
        cwnd_bytes: f64 = BYTES,
        /// slow-start threshold at the end; NaN while there is none
        ssthresh_bytes: f64 = BYTES,
        /// bytes in flight at the end
        in_flight_bytes: f64 = BYTES,
        /// smoothed round-trip time at the end, to seven digits
        srtt_s: f64 = SECONDS,
        /// pacing rate at the end; NaN when not paced (kernels: their target)
        pacing_rate_bps: f64 = BITS_PER_SECOND,
        /// phase of the controller at the end
        phase: i64 = Values::Names(Phase::NAMES),
    }
}

table! {
    /// one congestion event; kernels report none
    "flow_events", FlowEventRow, FlowEventTable, optional: false {
        /// flow number: row of `flows` within the run
        flow: i64 = PLAIN,
        /// time of the event
        time_s: f64 = SECONDS,
        /// kind of event; `loss` is an entry into fast recovery (unless the window was already reduced for a mark),
        /// `spurious timeout` is a timeout that was undone
        event: i64 = Values::Names(FlowEvent::NAMES),
    }
}

table! {
    /// one quantity that a sender's controller reported in an interval; absent if none did
    "flow_observations", FlowObservationRow, FlowObservationTable, optional: true {
        /// flow number: row of `flows` within the run
        flow: i64 = PLAIN,
        /// end of the interval
        time_s: f64 = SECONDS,
        /// reported quantity; see the list of quantities
        quantity: i64 = QUANTITIES,
        /// the last value in the interval, in the unit of the quantity
        value: f64 = PLAIN,
    }
}

table! {
    /// one flow and interval, from the start of the flow until all that it sends is acknowledged; the shares
    /// add up to 1, and time counts for the first limit that holds, in the order of the columns; only if the
    /// scenario requests it. The kernel's senders (`TCP_INFO`) count recovery and pacing as the congestion
    /// window, in ticks of the kernel (1 to 10 ms); a row after a report that came late contains the time since
    /// the row before
    "flow_limits", FlowLimitRow, FlowLimitTable, optional: true {
        /// flow number: row of `flows` within the run
        flow: i64 = PLAIN,
        /// end of the interval
        time_s: f64 = SECONDS,
        /// share of time in which losses were being repaired: fast recovery, or data that was outstanding at
        /// a retransmission timeout
        recovery: f64 = PLAIN,
        /// share of time in which the application had nothing more to send, pauses between transfers included
        application: f64 = PLAIN,
        /// share of time in which the next segment would have exceeded the receive window
        receive_window: f64 = PLAIN,
        /// share of time in which the send buffer was full of data in flight; simulated senders have none
        send_buffer: f64 = PLAIN,
        /// share of time in which the next segment would have exceeded the congestion window
        congestion_window: f64 = PLAIN,
        /// share of time in which the windows allowed the next segment, but the pacer had not released it
        pacing: f64 = PLAIN,
    }
}

table! {
    /// one finished transfer
    "completions", CompletionRow, CompletionTable, optional: false {
        /// flow number: row of `flows` within the run
        flow: i64 = PLAIN,
        /// 0, 1, … within the flow
        transfer: i64 = PLAIN,
        /// first packet sent
        start_s: f64 = SECONDS,
        /// last byte acknowledged
        end_s: f64 = SECONDS,
        /// size of the transfer
        bytes: i64 = BYTES,
    }
}

table! {
    /// one recorded link, over the measured interval
    "links", LinkRow, LinkTable, optional: false {
        /// index of the link in the plan
        link: i64 = PLAIN,
        /// capacity; NaN when unlimited
        offered_bytes: f64 = BYTES,
        /// wire bytes that reached the queue
        arrived_bytes: i64 = BYTES,
        /// wire bytes that left, packets corrupted on the link included
        departed_bytes: i64 = BYTES,
        /// packets that reached the queue
        arrived_packets: i64 = PACKETS,
        /// packets that left
        departed_packets: i64 = PACKETS,
        /// dropped because the queue was full
        dropped_packets_overflow: i64 = PACKETS,
        /// dropped by the queue discipline before it was full
        dropped_packets_early: i64 = PACKETS,
        /// corrupted by the channel and not repaired by link-layer retransmission
        dropped_packets_corruption: i64 = PACKETS,
        /// dropped because the queue was full
        dropped_bytes_overflow: i64 = BYTES,
        /// dropped by the queue discipline before it was full
        dropped_bytes_early: i64 = BYTES,
        /// corrupted by the channel
        dropped_bytes_corruption: i64 = BYTES,
        /// marked Congestion Experienced
        marked_packets: i64 = PACKETS,
        /// retransmitted by the link itself
        retransmitted_packets: i64 = PACKETS,
        /// retransmitted by the link itself; not included in the departed bytes
        retransmitted_bytes: i64 = BYTES,
        /// time-weighted mean queue, the packet being sent excluded
        queue_mean_bytes: f64 = BYTES,
        /// time-weighted mean queue, the packet being sent excluded
        queue_mean_packets: f64 = PACKETS,
        /// longest queue
        queue_max_bytes: i64 = BYTES,
        /// longest queue
        queue_max_packets: i64 = PACKETS,
        /// all drops, whole run
        dropped_packets_total: i64 = PACKETS,
        /// sampled propagation delay
        delay_s: f64 = SECONDS,
    }
}

table! {
    /// one recorded link and interval
    "link_series", LinkSeriesRow, LinkSeriesTable, optional: false {
        /// index of the link in the plan
        link: i64 = PLAIN,
        /// end of the interval
        time_s: f64 = SECONDS,
        /// capacity in the interval; NaN when unlimited
        offered_bytes: f64 = BYTES,
        /// wire bytes that reached the queue in the interval
        arrived_bytes: i64 = BYTES,
        /// wire bytes that left in the interval
        departed_bytes: i64 = BYTES,
        /// packets dropped or corrupted in the interval
        dropped_packets: i64 = PACKETS,
        /// packets marked Congestion Experienced in the interval
        marked_packets: i64 = PACKETS,
        /// packets retransmitted by the link in the interval
        retransmitted_packets: i64 = PACKETS,
        /// time-weighted mean queue in the interval
        queue_mean_bytes: f64 = BYTES,
        /// time-weighted mean queue in the interval
        queue_mean_packets: f64 = PACKETS,
        /// longest queue in the interval
        queue_max_bytes: i64 = BYTES,
        /// queue at the end of the interval
        queue_bytes: i64 = BYTES,
        /// queue at the end of the interval
        queue_packets: i64 = PACKETS,
        /// time-weighted mean queue divided by the buffer size; NaN when the buffer is unlimited
        queue_share: f64 = PLAIN,
    }
}

impl LinkSeriesTable {
    /// Returns the state of a link at the end of the last interval; `None` if the link is not recorded.
    pub(crate) fn newest(&self, link: u32) -> Option<LinkStep> {
        let row = self.link.iter().rposition(|&of| of == i64::from(link))?;
        Some(LinkStep {
            offered_bytes: self.offered_bytes[row],
            departed_bytes: self.departed_bytes[row],
            dropped_packets: self.dropped_packets[row],
            queue_bytes: self.queue_bytes[row],
        })
    }
}

table! {
    /// one lost packet, in order of time; empty with `record.drops = false`
    "drops", DropRow, DropTable, optional: false {
        /// index of the link in the plan
        link: i64 = PLAIN,
        /// flow number: row of `flows` within the run
        flow: i64 = PLAIN,
        /// time of the loss
        time_s: f64 = SECONDS,
        /// size on the wire
        bytes: i64 = BYTES,
        /// reason; `early` is a drop by the queue discipline, `corruption` is corruption by the channel
        reason: i64 = Values::Names(DropReason::NAMES),
    }
}

table! {
    /// one bin of the delay distribution of a group of sources over data packets received in the measured
    /// interval; bins are at most 0.8 % wide and empty ones are omitted; percentiles in the summary come
    /// from bins of 0.1 %
    "delay_histogram", DelayRow, DelayTable, optional: false {
        /// index in the plan's `flows` of the first of the sources that are counted together, which have the
        /// same group, scheme and measuring link
        source: i64 = PLAIN,
        /// kind of delay; `queueing` is the part of the one-way delay spent in queues
        kind: i64 = Values::Names(DelayKind::NAMES),
        /// upper end of the bin
        delay_s: f64 = SECONDS,
        /// packets in the bin
        packets: i64 = PACKETS,
    }
}

table! {
    /// one data packet received; only if the scenario requests it
    "packets", PacketRow, PacketTable, optional: true {
        /// flow number: row of `flows` within the run
        flow: i64 = PLAIN,
        /// time at which it was sent
        sent_s: f64 = SECONDS,
        /// time at which it reached the receiver
        received_s: f64 = SECONDS,
        /// time waiting in queues
        queueing_s: f64 = SECONDS,
        /// size on the wire
        bytes: i64 = BYTES,
        /// number of its first payload byte; -1 if unknown (emulations)
        sequence: i64 = PLAIN,
        /// 1 if retransmitted, else 0
        retransmission: i64 = PLAIN,
        /// the two ECN bits at arrival
        ecn: i64 = PLAIN,
    }
}

table! {
    /// one quantity that the router of a recorded link reports, and interval; absent without routers
    "link_observations", ObservationRow, ObservationTable, optional: true {
        /// index of the link in the plan
        link: i64 = PLAIN,
        /// end of the interval
        time_s: f64 = SECONDS,
        /// reported quantity; see the list of quantities
        quantity: i64 = QUANTITIES,
        /// its value at the end of the interval, in the unit of the quantity
        value: f64 = PLAIN,
    }
}

table! {
    /// one ACK-rate estimator of a flow, and interval; absent without estimators
    "flow_estimates", EstimateRow, EstimateTable, optional: true {
        /// flow number: row of `flows` within the run
        flow: i64 = PLAIN,
        /// end of the interval
        time_s: f64 = SECONDS,
        /// estimator, as written in the flow's `estimators`, or `controller` for that of the controller itself
        estimator: i64 = ESTIMATORS,
        /// the estimate at the end of the interval; NaN before the first
        estimate_bps: f64 = BITS_PER_SECOND,
        /// the newest sample, before any filter
        sample_bps: f64 = BITS_PER_SECOND,
        /// the largest sample of the interval; NaN without any
        largest_sample_bps: f64 = BITS_PER_SECOND,
        /// number of samples in the interval
        samples: i64 = PLAIN,
    }
}

table! {
    /// one sample of an ACK-rate estimator; only if the scenario requests it
    "estimate_samples", EstimateSampleRow, EstimateSampleTable, optional: true {
        /// flow number: row of `flows` within the run
        flow: i64 = PLAIN,
        /// time at which the sample was complete
        time_s: f64 = SECONDS,
        /// estimator, as written in the flow's `estimators`, or `controller` for that of the controller itself
        estimator: i64 = ESTIMATORS,
        /// the sample, before any filter
        sample_bps: f64 = BITS_PER_SECOND,
        /// the estimate after the sample
        estimate_bps: f64 = BITS_PER_SECOND,
    }
}
