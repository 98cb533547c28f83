//! Compares the tables of a run with each other: rows of single packets must agree with counters, series and
//! distributions.

use crate::common::*;
use airpath_sim::plan::*;
use airpath_sim::{Outcome, Table};

/// The measured interval and the intervals of the series, in seconds.
const WARM_UP_S: f64 = 2.0;
const INTERVAL_S: f64 = 0.1;
/// Indices of links.
const FIRST: i64 = 0;
const SECOND_ONE: i64 = 1;

/// Returns a plan with two links in sequence: the first loses packets, the second drops early and marks. The
/// flows: one over both, datagrams with pauses over both that are measured at the first, and datagrams of
/// random sizes over the second. All flows end before the run.
fn two_links(measure_from_ns: u64) -> Plan {
    let first = LinkPlan { queue: packets(4), loss: 0.02, ..link("first", mbps(8), 5.0) };
    let red = ManagementPlan::named("red")
        .with("unit", "packets")
        .with("minimum", 1.0)
        .with("maximum", 6.0)
        .with("max_probability", 0.2)
        .with("weight", 0.02)
        .with("gentle", true)
        .with("wait", true)
        .with("adaptive", false)
        .with("ecn", true)
        .with("mark_limit", 1.0)
        .with("packet", 1000)
        .with("capacity", 8_000_000);
    let managed = QueuePlan::Managed { limit_bytes: Some(12_000), limit_packets: None, management: red };
    let second = LinkPlan { queue: managed, ..link("second", mbps(5), 7.0) };
    let mut bulk = flow("bulk", newreno());
    (bulk.path, bulk.reverse_path, bulk.measured_at) = (vec![0, 1], vec![2], 1);
    bulk.stop_ns = Some(Draw::Constant { value: 8e9 });
    if let Some(transport) = &mut bulk.transport {
        transport.ecn = true;
    }
    let paused = TrafficPlan::ConstantBitRate {
        bps: 6_000_000,
        packet_bytes: 700,
        on_ns: Some(Draw::Constant { value: 3e8 }),
        off_ns: Some(Draw::Exponential { mean: 2e8 }),
        start_off: true,
    };
    let sizes = Draw::Uniform { low: 40.0, high: 1400.0 };
    let random = TrafficPlan::PoissonDatagrams { bps: 1_500_000, packet_bytes: sizes };
    let stop_ns = Some(Draw::Constant { value: 8.5e9 });
    let both = FlowPlan { path: vec![0, 1], stop_ns, ..datagrams("paused", paused) };
    let one = FlowPlan { path: vec![1], measured_at: 1, stop_ns, ..datagrams("random", random) };
    let links = vec![first, second, link("back", RatePlan::Unlimited, 12.0)];
    let mut plan = plan(10, links, vec![bulk, both, one]);
    plan.record.measure_from_ns = measure_from_ns;
    plan.record.packets = true;
    plan
}

fn measured() -> Outcome {
    run(&two_links(2 * SECOND), 5)
}

/// Values of a column, restricted to rows that meet a condition on others.
struct Rows<'a> {
    table: &'a Table,
    rows: Vec<usize>,
}

impl<'a> Rows<'a> {
    fn of(table: &'a Table) -> Self {
        Self { table, rows: (0..table.columns[0].1.len()).collect() }
    }

    fn with(mut self, column: &str, value: i64) -> Self {
        let values = self.table.integers(column);
        self.rows.retain(|&row| values[row] == value);
        self
    }

    /// Restricts the rows to a half-open interval of time.
    fn between(mut self, column: &str, [from, to]: [f64; 2]) -> Self {
        let times = self.table.reals(column);
        self.rows.retain(|&row| (from..to).contains(&times[row]));
        self
    }

    fn integers(&self, column: &str) -> Vec<i64> {
        let values = self.table.integers(column);
        self.rows.iter().map(|&row| values[row]).collect()
    }

    fn reals(&self, column: &str) -> Vec<f64> {
        let values = self.table.reals(column);
        self.rows.iter().map(|&row| values[row]).collect()
    }

    fn sum(&self, column: &str) -> i64 {
        self.integers(column).iter().sum()
    }

    fn count(&self) -> i64 {
        self.rows.len() as i64
    }
}

/// Returns the rows of intervals in the measured interval, which have the times of their ends.
fn in_span(series: &Table) -> Rows<'_> {
    Rows::of(series).between("time_s", [WARM_UP_S + INTERVAL_S / 2.0, f64::INFINITY])
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { values.iter().sum::<f64>() / values.len() as f64 }
}

#[track_caller]
fn close(found: f64, expected: f64, what: &str) {
    let same =
        found.is_nan() && expected.is_nan() || (found - expected).abs() <= 1e-9 * expected.abs() + 1e-15;
    assert!(same, "{what}: {found}, expected {expected}");
}

#[test]
fn the_row_of_a_link_is_the_sum_of_its_series() {
    let outcome = measured();
    let (links, series) = (table(&outcome, "links"), table(&outcome, "link_series"));
    for link in 0..3 {
        let (row, rows) = (Rows::of(links).with("link", link), in_span(series).with("link", link));
        assert_eq!(rows.count(), 80, "link {link}");
        for column in ["arrived_bytes", "departed_bytes", "marked_packets", "retransmitted_packets"] {
            assert_eq!(row.sum(column), rows.sum(column), "{column} of link {link}");
        }
        let dropped =
            ["overflow", "early", "corruption"].map(|why| row.sum(&format!("dropped_packets_{why}")));
        assert_eq!(dropped.iter().sum::<i64>(), rows.sum("dropped_packets"), "link {link}");
        assert_eq!(
            row.integers("queue_max_bytes").first(),
            rows.integers("queue_max_bytes").iter().max(),
            "link {link}"
        );
        for column in ["queue_mean_bytes", "queue_mean_packets"] {
            close(row.reals(column)[0], mean(&rows.reals(column)), column);
        }
        close(row.reals("offered_bytes")[0], rows.reals("offered_bytes").iter().sum(), "offered");
    }
    let share = |link, column, buffer: f64| {
        let rows = Rows::of(series).with("link", link);
        for (share, queue) in rows.reals("queue_share").iter().zip(rows.reals(column)) {
            close(*share, queue / buffer, "share");
        }
    };
    share(FIRST, "queue_mean_packets", 4.0);
    share(SECOND_ONE, "queue_mean_bytes", 12_000.0);
    share(2, "queue_mean_bytes", f64::NAN);
    let offered = Rows::of(links).reals("offered_bytes");
    close(offered[0], 8e6, "8 Mbit/s for 8 s");
    assert!(offered[2].is_nan());
}

#[test]
fn the_row_of_a_flow_is_the_sum_of_its_series() {
    for outcome in [measured(), run(&slow(), 5)] {
        flows_are_sums(&outcome);
    }
    let outcome = measured();
    let (flows, series) = (table(&outcome, "flows"), outcome.flow_series.table());
    // A flow between its start and its stop has a row in each interval, also in pauses.
    let active = Rows::of(&series).with("flow", 1).between("time_s", [0.0, 8.55]);
    assert_eq!(active.count(), 85);
    // All have stopped at 8.5 s, and no packet is in flight at 9 s.
    assert_eq!(
        Rows::of(&series).between("time_s", [9.15, f64::INFINITY]).count(),
        0,
        "idle intervals have no row"
    );
    let paused = Rows::of(&series).with("flow", 1);
    let sent_bytes = in_span(&series).with("flow", 1).sum("sent_bytes");
    assert!(0 < sent_bytes && sent_bytes < paused.sum("sent_bytes"));
    assert_eq!(sent_bytes, 700 * Rows::of(flows).with("flow", 1).sum("sent_packets"));
}

fn flows_are_sums(outcome: &Outcome) {
    let (flows, series) = (table(outcome, "flows"), outcome.flow_series.table());
    for flow in 0..3 {
        let row = Rows::of(flows).with("flow", flow);
        let rows = in_span(&series).with("flow", flow);
        for column in ["departed_bytes", "goodput_bytes"] {
            assert!(row.sum(column) > 0);
            assert_eq!(row.sum(column), rows.sum(column), "{column} of flow {flow}");
        }
        assert_eq!(row.sum("lost_packets"), rows.sum("lost_packets"), "flow {flow}");
    }
}

#[test]
fn loss_counters_equal_the_rows_of_lost_packets() {
    let outcome = measured();
    let (flows, links, drops) =
        (table(&outcome, "flows"), table(&outcome, "links"), table(&outcome, "drops"));
    let lost = |link, span| Rows::of(drops).with("link", link).between("time_s", span);
    for link in [FIRST, SECOND_ONE] {
        let row = Rows::of(links).with("link", link);
        for (reason, why) in (0..).zip(["overflow", "early", "corruption"]) {
            let rows = lost(link, [WARM_UP_S, f64::INFINITY]).with("reason", reason);
            assert_eq!(row.sum(&format!("dropped_packets_{why}")), rows.count(), "{why} at link {link}");
            assert_eq!(row.sum(&format!("dropped_bytes_{why}")), rows.sum("bytes"), "{why} at link {link}");
        }
        assert_eq!(row.sum("dropped_packets_total"), lost(link, [0.0, f64::INFINITY]).count());
    }
    // No acknowledgment is lost.
    for flow in 0..3 {
        let row = Rows::of(flows).with("flow", flow);
        let rows = Rows::of(drops).with("flow", flow).between("time_s", [WARM_UP_S, f64::INFINITY]);
        assert_eq!(row.sum("lost_packets"), rows.count(), "flow {flow}");
    }
    let series = outcome.flow_series.table();
    for interval in 0..100 {
        let end = f64::from(interval + 1) * INTERVAL_S;
        for flow in 0..3 {
            let row = Rows::of(&series).with("flow", flow).between("time_s", [end - 0.01, end + 0.01]);
            let rows = Rows::of(drops).with("flow", flow).between("time_s", [end - INTERVAL_S, end]);
            assert_eq!(row.sum("lost_packets"), rows.count(), "flow {flow} until {end} s");
        }
    }
}

#[test]
fn delays_are_those_of_the_packets_that_arrived() {
    delays_are_of_packets(&measured());
    delays_are_of_packets(&run(&slow(), 5));
}

/// Returns the same plan with rates so low that there are only a few packets, or one, per interval.
fn slow() -> Plan {
    let mut plan = two_links(2 * SECOND);
    for link in &mut plan.links[..2] {
        link.rate = RatePlan::Constant(ConstantConfig { bps: 200_000 });
    }
    for flow in &mut plan.flows {
        match &mut flow.traffic {
            TrafficPlan::ConstantBitRate { bps, .. } | TrafficPlan::PoissonDatagrams { bps, .. } => {
                *bps /= 50;
            }
            _ => flow.controller = Some(fixed(1460)),
        }
    }
    plan
}

fn delays_are_of_packets(outcome: &Outcome) {
    let (flows, packets) = (table(outcome, "flows"), table(outcome, "packets"));
    let series = outcome.flow_series.table();
    let delays = |rows: &Rows<'_>| -> Vec<f64> {
        rows.reals("received_s").iter().zip(rows.reals("sent_s")).map(|(to, from)| to - from).collect()
    };
    for flow in 0..3 {
        let of_flow = || Rows::of(packets).with("flow", flow);
        let row = Rows::of(flows).with("flow", flow);
        let rows = of_flow().between("received_s", [WARM_UP_S, f64::INFINITY]);
        assert_eq!(row.sum("delivered_packets"), rows.count(), "flow {flow}");
        close(row.reals("delay_mean_s")[0], mean(&delays(&rows)), "mean delay");
        close(row.reals("queueing_mean_s")[0], mean(&rows.reals("queueing_s")), "mean queueing");
        let least = delays(&of_flow()).iter().copied().fold(f64::NAN, f64::min);
        close(row.reals("delay_min_s")[0], least, "smallest delay");
        for interval in 0..100 {
            let end = f64::from(interval + 1) * INTERVAL_S;
            let row = Rows::of(&series).with("flow", flow).between("time_s", [end - 0.01, end + 0.01]);
            let rows = of_flow().between("received_s", [end - INTERVAL_S, end]);
            if row.count() == 0 {
                assert_eq!(rows.count(), 0, "idle intervals have no row");
                continue;
            }
            close(row.reals("delay_mean_s")[0], mean(&delays(&rows)), "mean delay");
            close(row.reals("queueing_mean_s")[0], mean(&rows.reals("queueing_s")), "mean queueing");
            let most = delays(&rows).iter().copied().fold(f64::NAN, f64::max);
            close(row.reals("delay_max_s")[0], most, "largest delay");
            if flow > 0 {
                assert_eq!(rows.sum("retransmission"), 0);
                assert_eq!(row.sum("goodput_bytes"), rows.sum("bytes"), "all of a datagram is goodput");
            }
        }
        let histogram = table(outcome, "delay_histogram");
        for (kind, mut values) in [(0, delays(&rows)), (1, rows.reals("queueing_s"))] {
            values.sort_by(f64::total_cmp);
            let mut values = values.into_iter();
            let bins = Rows::of(histogram).with("source", flow).with("kind", kind);
            assert_eq!(bins.sum("packets"), rows.count(), "kind {kind} of source {flow}");
            for (end, count) in bins.reals("delay_s").into_iter().zip(bins.integers("packets")) {
                assert!(count > 0);
                // Below a microsecond all bins have the same width.
                let within = end * (1.0 - 0.001) - 1e-6..=end + 1e-12;
                for value in values.by_ref().take(count as usize) {
                    assert!(within.contains(&value), "{value} in the bin that ends at {end}");
                }
            }
        }
    }
}

/// All packets have left the links when the run ends, so their counters differ only by the losses between
/// them.
#[test]
fn bytes_are_counted_at_the_measured_link() {
    let outcome = run(&two_links(0), 5);
    assert_eq!(outcome.counts.packets_inside, 0);
    let (flows, drops) = (table(&outcome, "flows"), table(&outcome, "drops"));
    let series = outcome.flow_series.table();
    let lost = |flow, link| Rows::of(drops).with("flow", flow).with("link", link);
    for (flow, measured_at) in [(0, SECOND_ONE), (1, FIRST), (2, SECOND_ONE)] {
        let row = Rows::of(flows).with("flow", flow);
        let sent = Rows::of(&series).with("flow", flow).sum("sent_bytes");
        let before = if measured_at == SECOND_ONE { lost(flow, FIRST).sum("bytes") } else { 0 };
        assert_eq!(row.sum("arrived_bytes"), sent - before, "flow {flow}");
        let damaged = lost(flow, measured_at).with("reason", 2).sum("bytes");
        let dropped = lost(flow, measured_at).sum("bytes") - damaged;
        assert!(dropped > 0, "flow {flow}");
        assert_eq!(row.sum("departed_bytes"), sent - before - dropped, "flow {flow}");
    }
    // The expected amount of random datagrams: 8.5 s at 1.5 Mbit/s, 2200 of them, whose sizes have a mean of
    // 720 and a coefficient of variation of 0.55.
    let sent = Rows::of(&series).with("flow", 2).sum("sent_bytes") as f64;
    let error = ((1.0 + 0.55 * 0.55) / 2200.0_f64).sqrt();
    assert!((sent / (8.5 * 1.5e6 / 8.0) - 1.0).abs() < 4.0 * error, "{sent} bytes");
}

/// Only the second link marks, and no packet is lost behind it.
#[test]
fn marks_are_counted_and_delivered() {
    let outcome = run(&two_links(0), 5);
    let marked = Rows::of(table(&outcome, "packets")).with("ecn", 3).count();
    let links = table(&outcome, "links");
    assert!(marked > 0);
    assert_eq!(links.integers("marked_packets"), [0, marked, 0]);
}

/// Little's law is exact if a queue starts and ends empty. All packets of the second link wait nowhere else.
#[test]
fn the_mean_queue_equals_the_total_waiting_time() {
    let mut plan = two_links(0);
    plan.flows.drain(..2);
    let outcome = run(&plan, 5);
    let links = Rows::of(table(&outcome, "links")).with("link", SECOND_ONE);
    let packets = table(&outcome, "packets");
    let waited = packets.reals("queueing_s").iter().sum::<f64>();
    close(links.reals("queue_mean_packets")[0] * 10.0, waited, "packet-seconds");
    let waits = packets.reals("queueing_s").iter().zip(packets.integers("bytes"));
    let waited: f64 = waits.map(|(wait, &bytes)| wait * bytes as f64).sum();
    assert!(waited > 0.0);
    close(links.reals("queue_mean_bytes")[0] * 10.0, waited, "byte-seconds");
}

/// Two flows over a link that loses and occasionally stops: timers expire, spuriously for the packets waiting
/// there. One of the flows is marked instead of dropped; its recovery is not an event if the window was
/// already reduced for a mark.
#[test]
fn events_of_senders_equal_their_counters() {
    let mut plan = two_links(0);
    plan.flows.truncate(1);
    plan.flows.push(FlowPlan { name: "unmarked".to_owned(), ..plan.flows[0].clone() });
    if let Some(transport) = &mut plan.flows[1].transport {
        transport.ecn = false;
    }
    let steps = vec![(0, 12_000_000), (3 * SECOND, 0), (3_600 * MILLISECOND, 12_000_000)];
    plan.links[0].rate = RatePlan::Steps(StepsConfig { steps, repeat_after_ns: Some(4 * SECOND) });
    let outcome = run(&plan, 3);
    let (flows, events) = (table(&outcome, "flows"), table(&outcome, "flow_events"));
    let columns = ["recoveries", "timeouts", "ecn_reductions", "spurious_timeouts"];
    for flow in 0..2 {
        let of_flow = |event| Rows::of(events).with("flow", flow).with("event", event).count();
        let counted = columns.map(|column| Rows::of(flows).with("flow", flow).sum(column));
        assert_eq!([1, 2, 3].map(of_flow), counted[1..], "flow {flow}");
        assert!(counted[0] > 0 && counted[1] > 0 && counted[3] > 0 && (counted[2] > 0) == (flow == 0));
        let [entered, left] = [of_flow(0), of_flow(4)];
        assert!(0 < left && left <= counted[0], "a recovery ends, unless a timeout or the end comes before");
        assert!(if flow == 0 { entered <= counted[0] } else { entered == counted[0] });
    }
    let arrived = Rows::of(table(&outcome, "packets")).with("retransmission", 1).count();
    let sent = Rows::of(flows).sum("retransmitted_packets");
    assert!(0 < arrived && arrived <= sent, "{arrived} of {sent}");
}

/// 1000 bytes every half millisecond over a link that transmits them in a millisecond: half of the packets
/// are dropped, the others find three waiting. An arrival 0.2 ms after a whole millisecond finds that one has
/// left at that instant.
#[test]
fn counters_agree_at_a_link_with_twice_its_load() {
    let traffic = TrafficPlan::ConstantBitRate {
        bps: 16_000_000,
        packet_bytes: 1000,
        on_ns: None,
        off_ns: None,
        start_off: false,
    };
    let start_ns = Draw::Constant { value: 2e5 };
    let narrow = LinkPlan { queue: packets(4), ..link("narrow", mbps(8), 3.0) };
    let mut plan = plan(2, vec![narrow], vec![FlowPlan { start_ns, ..datagrams("udp", traffic) }]);
    plan.record.measure_from_ns = SECOND;
    let outcome = run(&plan, 1);

    let link = Rows::of(table(&outcome, "links"));
    let counts = ["arrived_packets", "departed_packets", "dropped_packets_overflow", "dropped_packets_total"];
    assert_eq!(counts.map(|name| link.sum(name)), [2000, 1000, 1000, 1996]);
    let counts = ["arrived_bytes", "departed_bytes", "dropped_bytes_overflow"];
    assert_eq!(counts.map(|name| link.sum(name)), [2_000_000, 1_000_000, 1_000_000]);
    assert_eq!(["queue_max_packets", "queue_max_bytes"].map(|name| link.sum(name)), [4, 4000]);
    close(link.reals("queue_mean_packets")[0], 4.0, "mean queue");
    close(link.reals("queue_mean_bytes")[0], 4000.0, "mean queue");
    close(link.reals("offered_bytes")[0], 1e6, "offered");

    // The queue grows by one per millisecond, from 0.7 ms on.
    let series = table(&outcome, "link_series");
    let queue: Vec<f64> = series.reals("queue_mean_packets").to_vec();
    close(queue[0], (1.0 + 2.0 + 3.0 + 4.0 * 96.3) / 100.0, "the first interval");
    for (name, each) in [("arrived_bytes", 200_000), ("departed_bytes", 100_000), ("dropped_packets", 100)] {
        assert!(series.integers(name)[1..].iter().all(|&count| count == each), "{name}");
    }
    assert!(series.integers("queue_packets").iter().all(|&queue| queue == 4));

    let flow = Rows::of(table(&outcome, "flows"));
    let counts = ["sent_packets", "lost_packets", "delivered_packets", "arrived_bytes", "departed_bytes"];
    assert_eq!(counts.map(|name| flow.sum(name)), [2000, 1000, 1000, 2_000_000, 1_000_000]);
    for (name, seconds) in [
        ("start_s", 0.0002),
        ("first_departure_s", 1.0002),
        ("last_departure_s", 1.9992),
        ("delay_min_s", 0.004), // the first packet, in the warm-up
        ("delay_mean_s", 0.008),
        ("queueing_mean_s", 0.004),
    ] {
        close(flow.reals(name)[0], seconds, name);
    }
}

/// While 1000 bytes arrive every half millisecond for 280 ms, a link transmits 280 of them, and the other 280
/// in the pause of 420 ms.
#[test]
fn the_longest_queue_follows_from_the_largest_burst() {
    let traffic = TrafficPlan::ConstantBitRate {
        bps: 16_000_000,
        packet_bytes: 1000,
        on_ns: Some(Draw::Constant { value: 2.8e8 }),
        off_ns: Some(Draw::Constant { value: 4.2e8 }),
        start_off: false,
    };
    let start_ns = Draw::Constant { value: 2e5 };
    let udp = FlowPlan { start_ns, ..datagrams("udp", traffic) };
    let outcome = run(&plan(2, vec![link("tidal", mbps(8), 3.0)], vec![udp]), 1);
    let link = Rows::of(table(&outcome, "links"));
    assert_eq!(["queue_max_packets", "queue_max_bytes"].map(|name| link.sum(name)), [280, 280_000]);
    let series = table(&outcome, "link_series");
    let (most, ends) = (series.integers("queue_max_bytes"), series.integers("queue_bytes"));
    // The queue peaks between 200 and 300 ms, and again 700 ms later; otherwise it rises or falls
    // monotonically, except for single packets.
    for (interval, pair) in (1..).zip(ends.windows(2)) {
        let (most, edge) = (most[interval], pair[0].max(pair[1]));
        assert!(most >= edge, "interval {interval}");
        let turns = interval % 7 == 2;
        assert!(if turns { most == 280_000 } else { most <= edge + 1000 }, "interval {interval}");
    }
}

#[test]
fn quantities_not_requested_have_no_rows() {
    let mut plan = two_links(2 * SECOND);
    plan.links[0].record = false;
    plan.record.packets = false;
    // Ends before the measured interval.
    plan.flows[1].stop_ns = Some(Draw::Constant { value: 1e9 });
    let outcome = run(&plan, 5);
    for name in ["links", "link_series", "link_observations"] {
        let links = table(&outcome, name).integers("link");
        assert!(!links.is_empty() && links.iter().all(|&link| link != FIRST), "{name}");
    }
    assert!(outcome.tables.iter().all(|table| !["packets", "estimate_samples"].contains(&table.name)));
    let flow = Rows::of(table(&outcome, "flows")).with("flow", 1);
    for column in ["first_departure_s", "last_departure_s", "delay_mean_s"] {
        assert!(flow.reals(column)[0].is_nan(), "{column}");
    }
    assert!(flow.reals("delay_min_s")[0] > 0.0, "of the whole run");
    assert_eq!(flow.sum("sent_packets"), 0, "it sent in the warm-up only");
}

/// CUBIC reports its `W_max` at each reduction: the last one in an interval has a row.
#[test]
fn quantities_of_controllers_have_a_row_in_their_interval() {
    let mut plan = two_links(0);
    plan.flows.truncate(1);
    plan.flows[0].controller = Some(cubic());
    let outcome = run(&plan, 5);
    let interval = |time: f64| (time / INTERVAL_S - 1e-6).floor() as i64;
    let events = Rows::of(table(&outcome, "flow_events"));
    let reductions = events.integers("event").into_iter().zip(events.reals("time_s"));
    let mut expected: Vec<i64> =
        reductions.filter(|(event, _)| *event < 3).map(|(_, time)| interval(time + 1e-9)).collect();
    expected.dedup();
    let reported = Rows::of(table(&outcome, "flow_observations"));
    let found: Vec<i64> = reported.reals("time_s").into_iter().map(interval).collect();
    assert!(expected.len() > 10);
    assert_eq!(found, expected);
    assert_eq!(outcome.quantities[reported.integers("quantity")[0] as usize], "w_max");
    assert!(reported.reals("value").iter().all(|w_max| *w_max > 0.0));
}
