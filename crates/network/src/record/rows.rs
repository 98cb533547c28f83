//! The rows of every table, as documented in `docs/results.md`. Field names are column names.

use super::step::LinkStep;
use super::table::table;

table! {
    /// One flow over the whole run.
    "flows", FlowRow, FlowTable {
        flow: i64, source: i64, instance: i64, start_s: f64, first_departure_s: f64, last_departure_s: f64,
        arrived_bytes: i64, departed_bytes: i64, goodput_bytes: i64, delivered_packets: i64, sent_packets: i64,
        retransmitted_packets: i64, lost_packets: i64, timeouts: i64, recoveries: i64, ecn_reductions: i64,
        spurious_timeouts: i64, delay_mean_s: f64, delay_min_s: f64, queueing_mean_s: f64, srtt_s: f64,
        min_rtt_s: f64,
    }
}

table! {
    /// One flow over one interval.
    "flow_series", FlowSeriesRow, FlowSeriesTable {
        flow: i64, time_s: f64, sent_bytes: i64, departed_bytes: i64, goodput_bytes: i64, lost_packets: i64,
        delay_mean_s: f64, delay_max_s: f64, queueing_mean_s: f64, cwnd_bytes: f64, ssthresh_bytes: f64,
        in_flight_bytes: f64, srtt_s: f64, pacing_rate_bps: f64, phase: i64,
    }
}

table! {
    /// One congestion event of one flow.
    "flow_events", FlowEventRow, FlowEventTable { flow: i64, time_s: f64, event: i64 }
}

table! {
    /// One quantity that a controller reported in one interval.
    "flow_observations", FlowObservationRow, FlowObservationTable { flow: i64, time_s: f64, quantity: i64, value: f64 }
}

table! {
    /// One finished transfer.
    "completions", CompletionRow, CompletionTable { flow: i64, transfer: i64, start_s: f64, end_s: f64, bytes: i64 }
}

table! {
    /// One link over the measured span.
    "links", LinkRow, LinkTable {
        link: i64, offered_bytes: f64, arrived_bytes: i64, departed_bytes: i64, arrived_packets: i64,
        departed_packets: i64, dropped_packets_overflow: i64, dropped_packets_early: i64,
        dropped_packets_corruption: i64, dropped_bytes_overflow: i64, dropped_bytes_early: i64,
        dropped_bytes_corruption: i64, marked_packets: i64, retransmitted_packets: i64, retransmitted_bytes: i64,
        queue_mean_bytes: f64, queue_mean_packets: f64,
        queue_max_bytes: i64, queue_max_packets: i64, dropped_packets_total: i64, delay_s: f64,
    }
}

table! {
    /// One link over one interval.
    "link_series", LinkSeriesRow, LinkSeriesTable {
        link: i64, time_s: f64, offered_bytes: f64, arrived_bytes: i64, departed_bytes: i64, dropped_packets: i64,
        marked_packets: i64, retransmitted_packets: i64, queue_mean_bytes: f64, queue_mean_packets: f64,
        queue_max_bytes: i64, queue_bytes: i64, queue_packets: i64, queue_share: f64,
    }
}

impl LinkSeriesTable {
    /// What a link said at the end of the last interval; `None` of one that is not recorded.
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
    /// One lost packet.
    "drops", DropRow, DropTable { link: i64, flow: i64, time_s: f64, bytes: i64, reason: i64 }
}

table! {
    /// One bin of the delay distribution of one source.
    "delay_histogram", DelayRow, DelayTable { source: i64, kind: i64, delay_s: f64, packets: i64 }
}

table! {
    /// One data packet received.
    "packets", PacketRow, PacketTable {
        flow: i64, sent_s: f64, received_s: f64, queueing_s: f64, bytes: i64, sequence: i64, retransmission: i64,
        ecn: i64,
    }
}

table! {
    /// One quantity that a queue reported at the end of one interval.
    "link_observations", ObservationRow, ObservationTable { link: i64, time_s: f64, quantity: i64, value: f64 }
}

table! {
    /// What one estimator of one flow said by the end of one interval.
    "flow_estimates", EstimateRow, EstimateTable {
        flow: i64, time_s: f64, estimator: i64, estimate_bps: f64, sample_bps: f64, largest_sample_bps: f64,
        samples: i64,
    }
}

table! {
    /// One sample of one estimator of one flow.
    "estimate_samples", EstimateSampleRow, EstimateSampleTable {
        flow: i64, time_s: f64, estimator: i64, sample_bps: f64, estimate_bps: f64,
    }
}
