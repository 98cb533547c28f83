//! Logs of flows (qlog), from the records of a run.

use airpath_plan::Plan;
use airpath_trace::qlog::{EventWriter, WrittenEvent};

use crate::network::Outcome;
use crate::qlog::rows::{Beside, rows_beside};
use crate::transmissions::{Transmission, Transmissions, logged_flows};

mod rows;

/// The events of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowLog {
    /// The flow.
    pub flow: u32,
    /// Its events, as a sequence of JSON texts without the file's header.
    pub events: Vec<u8>,
}

/// Writes logs of the flows of a run in any backend, if the plan requests them: packets as observed by the
/// sender, if recorded, and the table rows of the sender and its measuring link.
pub fn flow_logs(plan: &Plan, outcome: &Outcome) -> Vec<FlowLog> {
    if !plan.record.qlog {
        return Vec::new();
    }
    let flows = flows_to_log(plan, outcome);
    let beside = rows_beside(plan, outcome, &flows);
    let unseen = Transmissions::default();
    let logs = flows.into_iter().zip(beside).map(|(flow, beside)| {
        let kept = outcome.transmissions.binary_search_by_key(&flow, |kept| kept.flow);
        let kept = kept.map_or(&unseen, |place| &outcome.transmissions[place]);
        FlowLog { flow, events: merge(plan, kept, beside) }
    });
    logs.collect()
}

/// Returns the flows to log, of those that have a controller.
fn flows_to_log(plan: &Plan, outcome: &Outcome) -> Vec<u32> {
    let Some(table) = outcome.tables.iter().find(|table| table.name == "flows") else { return Vec::new() };
    let (sources, instances) = (table.integers("source"), table.integers("instance"));
    let chosen = logged_flows(sources.iter().zip(instances).map(|(&source, &instance)| {
        let planned = usize::try_from(source).ok().and_then(|source| plan.flows.get(source));
        let controlled = planned.is_some_and(|planned| planned.controller.is_some());
        (controlled, u32::try_from(instance).unwrap_or(u32::MAX))
    }));
    (0..).zip(chosen).filter(|(_, chosen)| *chosen).map(|(flow, _)| flow).collect()
}

/// Merges packets and rows of tables in time order; the row of an interval comes after the events in it.
fn merge(plan: &Plan, kept: &Transmissions, beside: Vec<(u64, Beside)>) -> Vec<u8> {
    let mut log = Log::default();
    let mut beside = beside.into_iter().peekable();
    let end = plan.duration_ns;
    let mut entries = kept.entries.iter().filter(|(at, _)| at.as_nanos() <= end).peekable();
    while let Some((at, what)) = entries.next() {
        let at = at.as_nanos();
        while let Some((earlier, row)) = beside.next_if(|(time, _)| *time < at) {
            log.row(earlier, row);
        }
        log.packet(at, *what);
        if !matches!(entries.peek(), Some((_, Transmission::Acknowledged { .. }))) {
            log.end_acknowledgment();
        }
    }
    let mut full_at = kept.full_at.map(airpath_model::Timestamp::as_nanos);
    for (at, row) in beside {
        if let Some(full) = full_at.take_if(|full| *full <= at) {
            log.left_out(full);
        }
        log.row(at, row);
    }
    if let Some(full) = full_at {
        log.left_out(full);
    }
    log.writer.finish()
}

/// A log under construction.
#[derive(Debug, Default)]
struct Log {
    writer: EventWriter,
    /// The departure time of each packet; `None` if its round-trip time is ambiguous.
    sent: Vec<Option<u64>>,
    largest: Option<u64>,
    acknowledgments: u64,
    /// The acknowledgment that is being read: its arrival time and its size.
    arriving: Option<(u64, Option<u32>)>,
    ranges: Vec<(u64, u64)>,
    newly: Vec<u64>,
    latest_ns: Option<u64>,
    least_ns: Option<u64>,
    state: State,
}

/// The logged state of the controller.
#[derive(Debug, Default)]
struct State {
    said: Option<&'static str>,
    phase: Option<&'static str>,
    recovering: bool,
}

impl Log {
    fn packet(&mut self, at: u64, what: Transmission) {
        match what {
            Transmission::Sent { packet, bytes, again } => {
                self.sent.push((!again).then_some(at));
                self.writer.event(at, &WrittenEvent::PacketSent { packet, bytes });
            }
            Transmission::Acknowledgment { bytes } => self.arriving = Some((at, bytes)),
            Transmission::Acknowledged { packet } => self.newly.push(packet),
            Transmission::Lost { packet } => {
                self.writer.event(at, &WrittenEvent::PacketLost { packet });
            }
        }
    }

    /// Writes the acknowledgment whose last part was read.
    fn end_acknowledgment(&mut self) {
        let Some((at, bytes)) = self.arriving.take() else { return };
        let packet = self.acknowledgments;
        self.acknowledgments += 1;
        self.newly.sort_unstable();
        if let Some(&largest) = self.newly.last() {
            self.take_sample(at, largest);
            self.largest = self.largest.max(Some(largest));
        }
        self.ranges.clear();
        for &number in &self.newly {
            match self.ranges.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => self.ranges.push((number, number)),
            }
        }
        self.newly.clear();
        // An acknowledgment without new data repeats earlier ranges.
        if self.ranges.is_empty() {
            self.ranges.extend(self.largest.map(|largest| (largest, largest)));
        }
        if !self.ranges.is_empty() {
            let ranges = &self.ranges;
            self.writer.event(at, &WrittenEvent::AckReceived { packet, bytes, ranges });
        }
    }

    /// Takes a round-trip sample of the newest acknowledged packet (RFC 9002, section 5.1), unless its data
    /// was a retransmission (Karn).
    fn take_sample(&mut self, at: u64, packet: u64) {
        if let Some(sent) = self.sent.get(packet as usize).copied().flatten() {
            let sample = at.saturating_sub(sent);
            self.latest_ns = Some(sample);
            self.least_ns = Some(self.least_ns.map_or(sample, |least| least.min(sample)));
        }
    }

    fn row(&mut self, at: u64, row: Beside) {
        match row {
            Beside::Metrics(mut metrics, phase) => {
                let milliseconds = |ns: Option<u64>| ns.map_or(f64::NAN, |ns| ns as f64 / 1e6);
                metrics.latest_rtt = milliseconds(self.latest_ns);
                metrics.min_rtt = milliseconds(self.least_ns);
                self.writer.event(at, &WrittenEvent::MetricsUpdated(metrics));
                self.state.phase = Some(phase);
                if !self.state.recovering {
                    self.enter(at, phase, None);
                }
            }
            Beside::Congestion(event) => self.congestion(at, event),
            Beside::Own(name, data) => self.writer.event(at, &WrittenEvent::Own { name, data }),
        }
    }

    fn congestion(&mut self, at: u64, event: &'static str) {
        match event {
            "loss" => {
                self.state.recovering = true;
                self.enter(at, "recovery", Some(event));
            }
            // A timeout ends the recovery, and the end of its own repair is not recorded.
            "timeout" => {
                self.state.recovering = false;
                self.enter(at, "slow start", Some(event));
            }
            "ecn reduction" => {
                let state = self.state.said.unwrap_or("congestion avoidance");
                self.state.said = None;
                self.enter(at, state, Some("ecn"));
            }
            _ => {
                self.state.recovering = false;
                let phase = self.state.phase.unwrap_or("congestion avoidance");
                self.enter(at, phase, (event == "spurious timeout").then_some("spurious_loss"));
            }
        }
    }

    /// Logs a new state of the controller, or the same state with another trigger.
    fn enter(&mut self, at: u64, new: &'static str, trigger: Option<&'static str>) {
        let old = self.state.said.replace(new);
        if old != Some(new) {
            let (old, new) = (old.map(|old| old.replace(' ', "_")), new.replace(' ', "_"));
            let (old, new) = (old.as_deref(), new.as_str());
            self.writer.event(at, &WrittenEvent::CongestionStateUpdated { old, new, trigger });
        }
    }

    fn left_out(&mut self, at: u64) {
        let data = serde_json::json!({});
        self.writer.event(at, &WrittenEvent::Own { name: "packets_left_out", data });
    }
}
