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
/// that are not zero, and what the sender says where that is not what it said before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSeries {
    /// When intervals ended, each with the number of rows before.
    ends: Vec<(Timestamp, usize)>,
    rows: SparseRows,
    /// The flow that is expected next: that after the last one with a row at this instant.
    next_flow: u32,
    /// What the sender of each flow said in its last row.
    said: Vec<Said>,
}

/// What a sender says, as numbers: window, slow-start threshold, bytes in flight, round-trip time, pacing rate, phase.
type Said = [u64; 6];

impl FlowSeries {
    /// Of that many flows, without rows.
    pub(crate) fn new(flows: usize) -> Self {
        Self { said: vec![Said::default(); flows], ..Self::default() }
    }

    /// One more flow, after all others.
    pub(crate) fn add_flow(&mut self) {
        self.said.push(Said::default());
    }

    /// A flow's interval ended at `now`. Rows come in the order of time, those of one instant in that of flows.
    pub(crate) fn push(&mut self, now: Timestamp, flow: u32, counters: &FlowCounters, state: &FlowState) {
        if self.ends.last().is_none_or(|&(end, _)| end != now) {
            self.ends.push((now, self.rows.len()));
            self.next_flow = 0;
        }
        let skipped = u64::from(flow - self.next_flow);
        self.next_flow = flow + 1;
        let said = said(state);
        let [cwnd, ssthresh, in_flight, srtt, pacing_rate, phase] = changes(said, self.said[flow as usize]);
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
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The table, as documented in `docs/results.md`.
    pub fn table(&self) -> Table {
        let mut ends = self.ends.iter().peekable();
        let (mut now, mut flow) = (Timestamp::ZERO, 0);
        let mut known = vec![Said::default(); self.said.len()];
        let rows = self.rows.iter().enumerate().map(|(row, numbers)| {
            if let Some(&(end, _)) = ends.next_if(|(_, rows_before)| *rows_before == row) {
                (now, flow) = (end, 0);
            }
            flow += numbers[0] as usize;
            let [.., cwnd, ssthresh, in_flight, srtt, pacing_rate, phase] = numbers;
            let said = changes([cwnd, ssthresh, in_flight, srtt, pacing_rate, phase], known[flow]);
            known[flow] = said;
            flow += 1;
            series_row(now, flow - 1, numbers, said)
        });
        rows.collect::<FlowSeriesTable>().finish()
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
fn changes(said: Said, before: Said) -> Said {
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
            ..window(0)
        };
        let (first, second) = (Timestamp::from_nanos(100_000_000), Timestamp::from_nanos(200_000_000));
        let mut series = FlowSeries::new(5);
        series.push(first, 0, &counters(1, &[30]), &window(1500));
        series.push(first, 3, &counters(2, &[30, 70]), &window(3000));
        series.push(second, 3, &counters(0, &[]), &window(3000));
        series.push(second, 4, &counters(u64::MAX / 3000, &[9000]), &unlimited);
        let table = series.table();
        assert_eq!((series.len(), table.columns.len()), (4, 15));
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
