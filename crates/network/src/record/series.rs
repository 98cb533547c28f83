//! The series of flows, in compact form and as a table.

use airpath_model::{Bytes, Duration, Rate, Timestamp};

use super::flow::FlowCounters;
use super::rows::{FlowSeriesRow, FlowSeriesTable};
use super::sparse::{Row, SparseRows};
use super::state::FlowState;
use super::table::Table;

/// The table `flow_series` in a compact form: with many flows, few events occur in one flow and interval.
///
/// A row is stored as the numbers from which it is computed, and of these only the unexpected ones: counters
/// that are not zero, and values of the sender that differ from its previous ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSeries {
    /// The ends of intervals, each with the number of rows before it.
    ends: Vec<(Timestamp, usize)>,
    rows: SparseRows,
    /// The flow that is expected next: the one after the last flow with a row at this instant.
    next_flow: u32,
    /// The state of each flow after its rows so far.
    known: Vec<Known>,
}

/// The previous values of a flow, which are expected to repeat in its next row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Known {
    said: Said,
    /// The bytes that one packet delivered to the application.
    goodput_of_packet: u64,
    /// The delay of one packet without the time in queues, in nanoseconds.
    delay_beside_queues: u64,
}

/// The values of a sender, as numbers: window, bytes in flight, round-trip time, slow-start threshold, pacing
/// rate, phase.
type Said = [u64; 6];

impl FlowSeries {
    /// Creates a series of this number of flows, without rows.
    pub(crate) fn new(flows: usize) -> Self {
        Self { known: vec![Known::default(); flows], ..Self::default() }
    }

    /// Adds a flow after all others.
    pub(crate) fn add_flow(&mut self) {
        self.known.push(Known::default());
    }

    /// Appends the row of a flow whose interval ended at `now`. Rows must be in time order, and in flow order
    /// within an instant.
    pub(crate) fn push(&mut self, now: Timestamp, flow: u32, counters: &FlowCounters, state: &FlowState) {
        if self.ends.last().is_none_or(|&(end, _)| end != now) {
            self.ends.push((now, self.rows.len()));
            self.next_flow = 0;
        }
        let skipped = u64::from(flow - self.next_flow);
        self.next_flow = flow + 1;
        let known = &mut self.known[flow as usize];
        let said = said(state);
        let [cwnd, in_flight, srtt, ssthresh, pacing_rate, phase] = changes(said, known.said);
        known.said = said;
        let (packets, delay_sum) = (counters.received_packets, counters.delay_sum.as_nanos());
        let queueing_sum = counters.queueing_sum.as_nanos();
        let [goodput, queueing] = known.expected(packets, delay_sum);
        // For a single packet the largest delay equals the sum.
        let delay_of_others = (counters.delay_sum - counters.delay_max).as_nanos();
        self.rows.push(&Row {
            pairs: [
                [counters.sent_bytes, counters.departed_bytes ^ counters.sent_bytes],
                [packets, counters.goodput_bytes ^ goodput],
                [cwnd, in_flight],
                [counters.lost_packets, phase],
            ],
            long: [delay_sum, srtt, delay_of_others, queueing_sum ^ queueing, ssthresh, pacing_rate, skipped],
        });
        known.learn(packets, counters.goodput_bytes, delay_sum, queueing_sum);
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the table, as documented in `docs/reference/results.md`.
    pub fn table(&self) -> Table {
        let mut ends = self.ends.iter().peekable();
        let (mut now, mut flow) = (Timestamp::ZERO, 0);
        let mut known = vec![Known::default(); self.known.len()];
        let rows = self.rows.iter().enumerate().map(|(index, row)| {
            if let Some(&(end, _)) = ends.next_if(|(_, rows_before)| *rows_before == index) {
                (now, flow) = (end, 0);
            }
            let [.., skipped] = row.long;
            flow += skipped as usize + 1;
            series_row(now, flow - 1, &row, &mut known[flow - 1])
        });
        rows.collect::<FlowSeriesTable>().finish()
    }
}

impl Known {
    /// Returns the expected goodput and queueing delay of `packets` packets whose delays add up to
    /// `delay_sum`.
    fn expected(&self, packets: u64, delay_sum: u64) -> [u64; 2] {
        let beside_queues = packets.wrapping_mul(self.delay_beside_queues);
        [packets.wrapping_mul(self.goodput_of_packet), delay_sum.wrapping_sub(beside_queues)]
    }

    /// Updates the expectations per packet from a row of a single packet.
    fn learn(&mut self, packets: u64, goodput: u64, delay_sum: u64, queueing_sum: u64) {
        if packets == 1 {
            self.goodput_of_packet = goodput;
            self.delay_beside_queues = delay_sum.wrapping_sub(queueing_sum);
        }
    }
}

/// Reconstructs the row of a flow from the stored numbers and the previous rows.
fn series_row(now: Timestamp, flow: usize, row: &Row, known: &mut Known) -> FlowSeriesRow {
    let [[sent_bytes, departed], [packets, goodput], [cwnd, in_flight], [lost_packets, phase]] = row.pairs;
    let [delay_sum, srtt, delay_of_others, queueing, ssthresh, pacing_rate, _] = row.long;
    let expected = known.expected(packets, delay_sum);
    let (goodput_bytes, queueing_sum) = (goodput ^ expected[0], queueing ^ expected[1]);
    known.learn(packets, goodput_bytes, delay_sum, queueing_sum);
    known.said = changes([cwnd, in_flight, srtt, ssthresh, pacing_rate, phase], known.said);
    let [cwnd, in_flight, srtt, ssthresh, pacing_rate, phase] = known.said;
    let counters = FlowCounters {
        received_packets: packets,
        delay_sum: Duration::from_nanos(delay_sum),
        queueing_sum: Duration::from_nanos(queueing_sum),
        ..FlowCounters::default()
    };
    let delay_max = counters.delay_sum - Duration::from_nanos(delay_of_others);
    let bytes = |kept| value(kept, |bytes| Bytes::new(bytes).as_f64());
    FlowSeriesRow {
        flow: flow as i64,
        time_s: now.as_secs_f64(),
        sent_bytes: sent_bytes as i64,
        departed_bytes: (departed ^ sent_bytes) as i64,
        goodput_bytes: goodput_bytes as i64,
        lost_packets: lost_packets as i64,
        delay_mean_s: counters.delay_mean(),
        delay_max_s: if packets > 0 { delay_max.as_secs_f64() } else { f64::NAN },
        queueing_mean_s: counters.queueing_mean(),
        cwnd_bytes: bytes(cwnd),
        ssthresh_bytes: bytes(ssthresh),
        in_flight_bytes: bytes(in_flight),
        srtt_s: value(srtt, |nanos| Duration::from_nanos(nanos).as_secs_f64()),
        pacing_rate_bps: value(pacing_rate, |bps| Rate::from_bps(bps).as_bps_f64()),
        phase: phase as i64,
    }
}

/// Returns the values of a sender as numbers.
fn said(state: &FlowState) -> Said {
    [
        kept(state.cwnd.map(Bytes::get)),
        kept(state.in_flight.map(Bytes::get)),
        kept(state.srtt.map(Duration::as_nanos)),
        kept(state.ssthresh.map(Bytes::get)),
        kept(state.pacing_rate.map(Rate::as_bps)),
        state.phase.index() as u64,
    ]
}

/// Returns the bitwise difference of two sets of values, which is zero where they agree. Applied again, it
/// restores the values.
fn changes(said: Said, before: Said) -> Said {
    let mut changes = said;
    changes.iter_mut().zip(before).for_each(|(number, before)| *number ^= before);
    changes
}

/// Encodes an optional number: zero for `None`, otherwise the number plus one. The two largest numbers
/// coincide, as they do as real numbers.
fn kept(number: Option<u64>) -> u64 {
    number.map_or(0, |number| number.saturating_add(1))
}

/// Decodes a number as a real number; NaN for `None`.
fn value(kept: u64, real: impl FnOnce(u64) -> f64) -> f64 {
    kept.checked_sub(1).map_or(f64::NAN, real)
}

#[cfg(test)]
mod tests {
    use airpath_model::Phase;

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
    fn rows_are_returned_as_a_table() {
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
