//! The series of flows, as it grows and as a table.

use airpath_model::{Bytes, Duration, Phase, Rate, Timestamp};

use super::flow::FlowCounters;
use super::rows::{FlowSeriesRow, FlowSeriesTable};
use super::sparse::{MOST, SparseRows};
use super::state::FlowState;
use super::table::Table;

/// The table `flow_series`, kept narrow until somebody wants it: with many flows little happens to one in an interval.
///
/// A row is kept as the numbers that it is made from, and of them only those that are not as expected: the counters
/// that are not zero, and what the sender says where that is not what it said before. Of an active flow to which nothing
/// happened in an interval nothing is kept; its row says what it said before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSeries {
    /// When intervals ended, each with the numbers of rows that are kept and of changes of [`FlowSeries::active`] up to then.
    ends: Vec<(Timestamp, usize, usize)>,
    rows: SparseRows,
    /// The flow that is expected next: that after the last one with a row that is kept of this interval.
    next_flow: u32,
    /// What the sender of each flow said in its last row.
    said: Vec<Said>,
    /// Which flows are active now, and how many.
    active: Vec<bool>,
    actives: usize,
    /// The flows that became active, or ceased to be, in the order of time.
    changes: Vec<u32>,
    /// Rows of the interval under way that are kept of flows which are active, and all rows of those before.
    kept_of_active: usize,
    len: usize,
}

/// What a sender says, as numbers: window, slow-start threshold, bytes in flight, round-trip time, pacing rate, phase.
type Said = [u64; 6];

impl FlowSeries {
    /// Of that many flows, without rows.
    pub(crate) fn new(flows: usize) -> Self {
        Self { said: vec![Said::default(); flows], active: vec![false; flows], ..Self::default() }
    }

    /// One more flow, after all others.
    pub(crate) fn add_flow(&mut self) {
        self.said.push(Said::default());
        self.active.push(false);
    }

    /// From now on a flow is active or not: whether it has a row without being mentioned.
    pub(crate) fn is_active(&mut self, flow: u32, active: bool) {
        let known = &mut self.active[flow as usize];
        if *known != active {
            *known = active;
            self.changes.push(flow);
            self.actives = if active { self.actives + 1 } else { self.actives - 1 };
        }
    }

    /// The interval ends of all flows, those that were not mentioned as well.
    pub(crate) fn end_interval(&mut self, now: Timestamp) {
        self.len += self.actives - self.kept_of_active;
        (self.kept_of_active, self.next_flow) = (0, 0);
        self.ends.push((now, self.rows.len(), self.changes.len()));
    }

    /// What happened to a flow in the interval. Flows come in their order.
    pub(crate) fn push(&mut self, flow: u32, counters: &FlowCounters, state: &FlowState) {
        self.len += 1;
        self.kept_of_active += usize::from(state.active);
        let skipped = u64::from(flow - self.next_flow);
        self.next_flow = flow + 1;
        let said = said(state);
        let [cwnd, ssthresh, in_flight, srtt, pacing_rate, phase] =
            changes_of(said, self.said[flow as usize]);
        self.said[flow as usize] = said;
        self.rows.push([
            skipped,
            counters.sent_bytes,
            counters.departed_bytes,
            counters.goodput_bytes,
            counters.lost_packets,
            counters.received_packets,
            counters.delay_sum.as_nanos(),
            // Of a single packet the largest delay is the sum.
            (counters.delay_sum - counters.delay_max).as_nanos(),
            counters.queueing_sum.as_nanos(),
            cwnd,
            ssthresh,
            in_flight,
            srtt,
            pacing_rate,
            phase,
        ]);
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The table, as documented in `docs/results.md`.
    pub fn table(&self) -> Table {
        let mut known = vec![Said::default(); self.said.len()];
        let mut active = vec![false; self.said.len()];
        let mut changes = self.changes.iter();
        let mut kept = self.rows.iter();
        let (mut rows_before, mut changes_before) = (0, 0);
        let mut table = FlowSeriesTable::default();
        for &(now, rows, changed) in &self.ends {
            for &flow in changes.by_ref().take(changed - changes_before) {
                active[flow as usize] ^= true;
            }
            let mut expected = 0;
            for numbers in kept.by_ref().take(rows - rows_before) {
                let flow = expected + numbers[0] as usize;
                (expected..flow).filter(|&flow| active[flow]).for_each(|flow| {
                    table.push(series_row(now, flow, [0; MOST], known[flow]));
                });
                let [.., cwnd, ssthresh, in_flight, srtt, pacing_rate, phase] = numbers;
                known[flow] = changes_of([cwnd, ssthresh, in_flight, srtt, pacing_rate, phase], known[flow]);
                table.push(series_row(now, flow, numbers, known[flow]));
                expected = flow + 1;
            }
            (expected..active.len()).filter(|&flow| active[flow]).for_each(|flow| {
                table.push(series_row(now, flow, [0; MOST], known[flow]));
            });
            (rows_before, changes_before) = (rows, changed);
        }
        table.finish()
    }
}

/// The row of a flow, from what is kept of its counters and what its sender said.
fn series_row(now: Timestamp, flow: usize, numbers: [u64; MOST], said: Said) -> FlowSeriesRow {
    let [_, sent_bytes, departed_bytes, goodput_bytes, lost_packets, received_packets, ..] = numbers;
    let [_, _, _, _, _, _, delay_sum, delay_of_others, queueing_sum, ..] = numbers.map(Duration::from_nanos);
    let counters = FlowCounters {
        sent_bytes,
        departed_bytes,
        goodput_bytes,
        lost_packets,
        received_packets,
        delay_sum,
        delay_max: delay_sum - delay_of_others,
        queueing_sum,
        ..FlowCounters::default()
    };
    let [cwnd, ssthresh, in_flight, srtt, pacing_rate, phase] = said;
    let bytes = |kept| value(kept, |bytes| Bytes::new(bytes).as_f64());
    FlowSeriesRow {
        flow: flow as i64,
        time_s: now.as_secs_f64(),
        sent_bytes: sent_bytes as i64,
        departed_bytes: departed_bytes as i64,
        goodput_bytes: goodput_bytes as i64,
        lost_packets: lost_packets as i64,
        delay_mean_s: counters.delay_mean(),
        delay_max_s: if received_packets > 0 { counters.delay_max.as_secs_f64() } else { f64::NAN },
        queueing_mean_s: counters.queueing_mean(),
        cwnd_bytes: bytes(cwnd),
        ssthresh_bytes: bytes(ssthresh),
        in_flight_bytes: bytes(in_flight),
        srtt_s: value(srtt, |nanos| Duration::from_nanos(nanos).as_secs_f64()),
        pacing_rate_bps: value(pacing_rate, |bps| Rate::from_bps(bps).as_bps_f64()),
        phase: phase as i64,
    }
}

/// What a sender says, as numbers.
fn said(state: &FlowState) -> Said {
    [
        kept(state.cwnd.map(Bytes::get)),
        kept(state.ssthresh.map(Bytes::get)),
        kept(state.in_flight.map(Bytes::get)),
        kept(state.srtt.map(Duration::as_nanos)),
        kept(state.pacing_rate.map(Rate::as_bps)),
        phase_number(state.phase),
    ]
}

/// Zero where a number is the same in both; so from one of two and this comes the other.
fn changes_of(said: Said, before: Said) -> Said {
    let mut changes = said;
    changes.iter_mut().zip(before).for_each(|(number, before)| *number ^= before);
    changes
}

/// Zero for no value, else one more than it. The two largest become one, which they are as real numbers too.
fn kept(number: Option<u64>) -> u64 {
    number.map_or(0, |number| number.saturating_add(1))
}

/// The real number of what was kept; NaN for no value.
fn value(kept: u64, real: impl FnOnce(u64) -> f64) -> f64 {
    kept.checked_sub(1).map_or(f64::NAN, real)
}

/// The number of a phase in result tables.
const fn phase_number(phase: Phase) -> u64 {
    match phase {
        Phase::SlowStart => 0,
        Phase::ConservativeSlowStart => 1,
        Phase::CongestionAvoidance => 2,
        Phase::Steady => 3,
        Phase::Drain => 4,
        Phase::ProbeDown => 5,
        Phase::ProbeCruise => 6,
        Phase::ProbeRefill => 7,
        Phase::ProbeUp => 8,
        Phase::ProbeRtt => 9,
        Phase::Slowdown => 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(packets: u64, delays_ms: &[u64]) -> FlowCounters {
        let delays = delays_ms.iter().map(|&delay| Duration::from_millis(delay));
        FlowCounters {
            sent_bytes: 1500 * packets,
            received_packets: delays_ms.len() as u64,
            delay_sum: delays.clone().fold(Duration::ZERO, |sum, delay| sum + delay),
            delay_max: delays.fold(Duration::ZERO, Duration::max),
            ..FlowCounters::default()
        }
    }

    #[test]
    fn rows_come_back_as_a_table() {
        let window = |bytes| FlowState { cwnd: Some(Bytes::new(bytes)), ..FlowState::unknown(true) };
        let unlimited = FlowState {
            ssthresh: Some(Bytes::new(u64::MAX)),
            srtt: Some(Duration::from_millis(5000)),
            pacing_rate: Some(Rate::UNLIMITED),
            phase: Phase::Slowdown,
            active: false,
            ..window(0)
        };
        let (first, second) = (Timestamp::from_nanos(100_000_000), Timestamp::from_nanos(200_000_000));
        let mut series = FlowSeries::new(5);
        series.push(0, &counters(1, &[30]), &window(1500));
        series.is_active(0, true);
        series.push(3, &counters(2, &[30, 70]), &window(3000));
        series.is_active(3, true);
        series.end_interval(first);
        // The first flow is at its end, nothing happened to the second, and another one begins and ends.
        series.is_active(0, false);
        series.push(4, &counters(u64::MAX / 3000, &[9000]), &unlimited);
        series.is_active(4, false);
        series.end_interval(second);
        let table = series.table();
        assert_eq!((series.len(), series.rows.len(), table.columns.len()), (4, 3, 15));
        assert_eq!(table.integers("flow"), [0, 3, 3, 4]);
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let holds = |name: &str, wanted: [f64; 4]| {
            let found = table.reals(name);
            assert_eq!(bits(found), bits(&wanted), "{name}: {found:?}");
        };
        let no_value = f64::NAN;
        holds("time_s", [0.1, 0.1, 0.2, 0.2]);
        assert_eq!(table.integers("sent_bytes"), [1500, 3000, 0, (u64::MAX / 3000 * 1500) as i64]);
        holds("delay_mean_s", [0.03, 0.05, no_value, 9.0]);
        holds("delay_max_s", [0.03, 0.07, no_value, 9.0]);
        holds("cwnd_bytes", [1500.0, 3000.0, 3000.0, 0.0]);
        holds("ssthresh_bytes", [no_value, no_value, no_value, Bytes::new(u64::MAX).as_f64()]);
        holds("srtt_s", [no_value, no_value, no_value, 5.0]);
        holds("pacing_rate_bps", [no_value, no_value, no_value, Rate::UNLIMITED.as_bps_f64()]);
        assert_eq!(table.integers("phase"), [3, 3, 3, 10]);
    }
}
