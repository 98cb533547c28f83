//! Compares the times and amounts of data sent by sources with their plans.

use crate::common::*;
use airpath_sim::Outcome;
use airpath_sim::plan::*;

fn after(nanos: u64) -> Draw {
    Draw::Constant { value: nanos as f64 }
}

/// Returns the transmission times in microseconds and the sizes of the packets of one source of datagrams
/// over an unlimited link.
fn sent_us(flow: FlowPlan, seconds: u64) -> Vec<(u64, i64)> {
    let mut plan = plan(seconds, vec![link("free", RatePlan::Unlimited, 1.0)], vec![flow]);
    plan.record.packets = true;
    let outcome = run(&plan, 1);
    let packets = table(&outcome, "packets");
    let times = packets.reals("sent_s").iter().map(|time| (time * 1e6).round() as u64);
    times.zip(packets.integers("bytes").iter().copied()).collect()
}

#[test]
fn datagrams_leave_in_periods_between_start_and_stop() {
    let traffic = |start_off| TrafficPlan::ConstantBitRate {
        bps: 80_000,
        packet_bytes: 100,
        on_ns: Some(after(25 * MILLISECOND)),
        off_ns: Some(after(40 * MILLISECOND)),
        start_off,
    };
    let times = |start_off| -> Vec<u64> {
        let start_ns = after(5 * MILLISECOND);
        let stop_ns = Some(after(150 * MILLISECOND));
        let flow = FlowPlan { start_ns, stop_ns, ..datagrams("udp", traffic(start_off)) };
        sent_us(flow, 1).into_iter().map(|(time, _)| time / 1000).collect()
    };
    // One every 10 ms; a period of 65 ms starts with one, and nothing is sent at 150 ms any more.
    assert_eq!(times(false), [5, 15, 25, 70, 80, 90, 135, 145]);
    assert_eq!(times(true), [45, 55, 65, 110, 120, 130]);
    let steady = TrafficPlan::ConstantBitRate {
        bps: 80_000,
        packet_bytes: 100,
        on_ns: None,
        off_ns: None,
        start_off: false,
    };
    let flow = FlowPlan { stop_ns: Some(after(30 * MILLISECOND)), ..datagrams("udp", steady) };
    assert_eq!(sent_us(flow, 1), [(0, 100), (10_000, 100), (20_000, 100)], "not at the stop itself");
}

/// The intervals of Poisson datagrams have the mean given by their sizes and rate, and an equal standard
/// deviation, including the time to the first.
#[test]
fn random_datagrams_are_a_poisson_process() {
    let traffic =
        TrafficPlan::PoissonDatagrams { bps: 800_000, packet_bytes: Draw::Constant { value: 100.0 } };
    let start_ns = after(SECOND);
    let times: Vec<u64> = [1_000_000]
        .into_iter()
        .chain(
            sent_us(FlowPlan { start_ns, ..datagrams("udp", traffic) }, 41).into_iter().map(|(time, _)| time),
        )
        .collect();
    let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1000.0).collect();
    let count = gaps.len() as f64;
    assert!((count - 40_000.0).abs() < 4.0 * 200.0, "{count} in 40 s, one in a millisecond");
    let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / count;
    // The square of an exponential variable has mean 2 and variance 20.
    assert!((square - 2.0).abs() < 4.0 * (20.0 / count).sqrt(), "{square}");
    assert!(gaps[0] > 0.0, "the first is not sent at the start");
}

/// Runs one flow over a forward link of 10 Mbit/s and an unlimited reverse link, 50 ms without queues.
fn files(traffic: TrafficPlan, seconds: u64) -> Outcome {
    let flow = FlowPlan { traffic, ..flow("files", newreno()) };
    run(&plan(seconds, round_trip_links(link("there", mbps(10), 25.0), 25.0), vec![flow]), 1)
}

/// Each file has its own connection, so all files of one size take the same time.
#[test]
fn files_follow_each_other_after_a_pause() {
    let bytes = Draw::Constant { value: 100_000.0 };
    let outcome = files(TrafficPlan::Repeated { bytes, pause_ns: Draw::Constant { value: 4e8 } }, 5);
    let completions = table(&outcome, "completions");
    let (starts, ends) = (completions.reals("start_s"), completions.reals("end_s"));
    // Slow start from 10 packets: 10, 20, and the rest of 69, in three round trips of 51.2 ms plus the time
    // of 69 packets.
    assert!(starts.len() >= 6, "{starts:?}");
    assert!(completions.integers("transfer").iter().copied().eq(0..starts.len() as i64));
    assert!(completions.integers("bytes").iter().all(|&bytes| bytes == 100_000));
    assert!(starts[0].abs() < 1e-12);
    for (next, end) in starts[1..].iter().zip(ends) {
        assert!((next - end - 0.4).abs() < 1e-9, "{next} after {end}");
    }
    for (start, end) in starts.iter().zip(ends) {
        assert!((end - start - (ends[0] - starts[0])).abs() < 1e-9, "{start} to {end}");
        assert!((0.15..0.3).contains(&(end - start)), "{start} to {end}");
    }
    let begun = starts.len() as i64;
    let flows = table(&outcome, "flows");
    assert_eq!(flows.integers("goodput_bytes")[0], 100_000 * begun, "the run ends in a pause");
    assert_eq!(flows.integers("sent_packets")[0], 69 * begun, "of all connections");
    // There are rows during a file, and none in pauses.
    let series = outcome.flow_series.table();
    for end in series.reals("time_s") {
        let interval = end - 0.1..*end;
        let busy =
            starts.iter().zip(ends).any(|(start, stop)| *start < interval.end && *stop >= interval.start);
        assert!(busy, "a row at {end} s");
    }
}

/// Returns the packets sent by one flow of writes: times in nanoseconds, and payloads.
fn written(size: Draw, interval: Draw, stop_ns: Option<Draw>) -> (Outcome, Vec<(u64, i64)>) {
    let traffic = TrafficPlan::Writes { bytes: size, interval_ns: interval };
    let flow = FlowPlan { traffic, start_ns: after(100 * MILLISECOND), stop_ns, ..flow("video", newreno()) };
    let mut plan = plan(4, round_trip_links(link("there", mbps(100), 5.0), 5.0), vec![flow]);
    plan.record.packets = true;
    let outcome = run(&plan, 1);
    let packets = table(&outcome, "packets");
    let times = packets.reals("sent_s").iter().map(|time| (time * 1e9).round() as u64);
    let payloads = packets.integers("bytes").iter().map(|bytes| bytes - 40);
    let sent = times.zip(payloads).collect();
    (outcome, sent)
}

/// All data of a write is sent before the next one, over one unlimited connection.
#[test]
fn an_application_writes_at_intervals() {
    let (outcome, sent) = written(after(100_000), after(400 * MILLISECOND), Some(after(1_700 * MILLISECOND)));
    let begins_at = [100, 500, 900, 1300].map(|millis| millis * MILLISECOND);
    for (number, begin) in begins_at.into_iter().enumerate() {
        let of_write = sent.iter().filter(|(time, _)| (begin..begin + 400 * MILLISECOND).contains(time));
        let (times, payloads): (Vec<u64>, Vec<i64>) = of_write.copied().unzip();
        assert_eq!(times[0], begin, "write {number} leaves at once");
        assert_eq!(payloads.iter().sum::<i64>(), 100_000, "write {number}");
        assert!(times.last() < Some(&(begin + 100 * MILLISECOND)), "write {number} is followed by silence");
    }
    assert_eq!(sent.len(), 4 * 69, "nothing is written at the stop itself");
    let flows = table(&outcome, "flows");
    assert_eq!(flows.integers("goodput_bytes"), [400_000]);
    assert_eq!(table(&outcome, "completions").integers("bytes"), [0_i64; 0], "the data has no end");
}

#[test]
fn random_writes_have_the_means_of_their_plan() {
    let size = Draw::Exponential { mean: 500.0 };
    let (_, sent) = written(size, Draw::Exponential { mean: 10.0 * MILLISECOND as f64 }, None);
    // Writes are smaller than a segment, except for a share of exp(-1460 / 500).
    let count = sent.len() as f64;
    assert!((count - 390.0 * 1.057).abs() < 4.0 * 390.0_f64.sqrt(), "{count} in 3.9 s, one in 10 ms");
    let mean = sent.iter().map(|(_, payload)| *payload as f64).sum::<f64>() / 390.0;
    assert!((mean - 500.0).abs() < 4.0 * 500.0 * (2.0 / 390.0_f64).sqrt(), "{mean} bytes");
}

/// Files that arrive at random are flows of one source, numbered within it, and their number follows from the
/// mean interval.
#[test]
fn arrivals_are_numbered_flows_of_their_source() {
    let arrivals =
        || TrafficPlan::Arrivals { bytes: Draw::Constant { value: 1000.0 }, mean_interval_ns: 1e7 };
    let (start_ns, stop_ns) = (after(2 * SECOND), Some(after(6 * SECOND)));
    let flows = vec![
        flow("long", newreno()),
        FlowPlan { traffic: arrivals(), ..flow("early", newreno()) },
        FlowPlan { traffic: arrivals(), start_ns, stop_ns, ..flow("late", newreno()) },
    ];
    let outcome = run(&plan(8, round_trip_links(link("there", mbps(10), 5.0), 5.0), flows), 1);
    let flows = table(&outcome, "flows");
    for (source, span) in [(0, 0.0..0.1), (1, 0.0..8.0), (2, 2.0..6.0)] {
        let rows: Vec<usize> = (0..flows.integers("flow").len())
            .filter(|&row| flows.integers("source")[row] == source)
            .collect();
        assert!(rows.iter().map(|&row| flows.integers("instance")[row]).eq(0..rows.len() as i64));
        let starts: Vec<f64> = rows.iter().map(|&row| flows.reals("start_s")[row]).collect();
        assert!(starts.is_sorted() && starts.iter().all(|start| span.contains(start)), "source {source}");
        let expected = if source == 0 { 1.0 } else { 100.0 * (span.end - span.start) };
        assert!(
            (rows.len() as f64 - expected).abs() < 4.0 * expected.sqrt(),
            "{} of source {source}",
            rows.len()
        );
        assert!(source == 0 || starts[0] > span.start, "the first takes an interval too");
    }
}

/// A source that stops in a pause sends no further file.
#[test]
fn no_file_begins_after_the_stop() {
    let bytes = Draw::Constant { value: 100_000.0 };
    let traffic = TrafficPlan::Repeated { bytes, pause_ns: Draw::Constant { value: 4e8 } };
    let stop_ns = Some(after(SECOND));
    let files = FlowPlan { traffic, stop_ns, ..flow("files", newreno()) };
    let outcome = run(&plan(5, round_trip_links(link("there", mbps(10), 25.0), 25.0), vec![files]), 1);
    let completions = table(&outcome, "completions");
    let last = completions.reals("end_s").last().copied().unwrap();
    assert!((0.6..1.0).contains(&last), "{last} is before a pause in which the source stops");
    let sent = table(&outcome, "flows").integers("sent_packets")[0];
    assert_eq!(sent, 69 * completions.integers("bytes").len() as i64);
}

/// A timer that is too short sends each file twice. The second copy and its acknowledgment arrive when the
/// next connection has started, and do not affect it.
#[test]
fn packets_of_an_old_connection_do_not_affect_the_next() {
    let bytes = Draw::Constant { value: 1460.0 };
    let traffic = TrafficPlan::Repeated { bytes, pause_ns: after(0) };
    let mut files = FlowPlan { traffic, ..flow("files", newreno()) };
    if let Some(transport) = &mut files.transport {
        (transport.initial_rto_ns, transport.min_rto_ns) = (40 * MILLISECOND, 10 * MILLISECOND);
    }
    let outcome = run(&plan(3, round_trip_links(link("there", mbps(12), 25.0), 25.0), vec![files]), 1);
    let completions = table(&outcome, "completions");
    let count = completions.integers("bytes").len() as i64;
    // 1500 bytes take one millisecond.
    for (transfer, end) in (1..).zip(completions.reals("end_s")) {
        assert!((end - 0.051 * f64::from(transfer)).abs() < 1e-9, "transfer {transfer} ends at {end}");
    }
    assert_eq!(count, 58, "in 3 s");
    let flows = table(&outcome, "flows");
    assert_eq!(flows.integers("timeouts")[0], count + 1, "one for each file, including the unfinished one");
    assert_eq!(
        flows.integers("goodput_bytes")[0],
        1460 * (count + 1),
        "once, and the last copy that arrived"
    );
}

/// A flow with data to send is active, even if no packet moves, and unknown values are NaN.
#[test]
fn rows_are_recorded_during_a_transfer() {
    let stands_still = RatePlan::Steps(StepsConfig {
        steps: vec![(0, 10_000_000), (200 * MILLISECOND, 0), (2 * SECOND, 10_000_000)],
        repeat_after_ns: None,
    });
    let traffic = TrafficPlan::File { bytes: 600_000 };
    let file = FlowPlan { traffic, ..flow("file", newreno()) };
    let links = round_trip_links(link("there", stands_still, 75.0), 75.0);
    let outcome = run(&plan(10, links, vec![file]), 1);
    let end = table(&outcome, "completions").reals("end_s")[0];
    assert!((2.1..9.0).contains(&end), "{end}");
    let series = outcome.flow_series.table();
    let rows = series.reals("time_s");
    assert!((0..).zip(rows).all(|(row, time)| (time * 10.0 - f64::from(row) - 1.0).abs() < 1e-6), "{rows:?}");
    assert!(rows.len() as f64 >= (end * 10.0).floor(), "{} until {end}", rows.len());
    assert!(rows.len() as f64 <= (end * 10.0).ceil(), "{} until {end}", rows.len());
    let rtt = series.reals("srtt_s");
    assert!(rtt[0].is_nan() && rtt[1..].iter().all(|rtt| *rtt > 0.15), "{rtt:?}");
}

#[test]
fn without_a_response_the_round_trip_time_is_unknown() {
    let late =
        RatePlan::Steps(StepsConfig { steps: vec![(0, 0), (2 * SECOND, 1_000_000)], repeat_after_ns: None });
    let silent = link("there", late, 1.0);
    let outcome = run(&plan(1, round_trip_links(silent, 1.0), vec![flow("alone", newreno())]), 1);
    let flows = table(&outcome, "flows");
    for column in ["srtt_s", "min_rtt_s", "delay_mean_s", "delay_min_s", "first_departure_s"] {
        assert!(flows.reals(column)[0].is_nan(), "{column}");
    }
}

/// A window of one packet is acknowledged when the receiver's timer expires: for each of several flows at its
/// own time.
#[test]
fn a_single_packet_waits_for_the_acknowledgment_timer() {
    let flows = (0..3).map(|index| {
        let mut made = flow(&format!("f{index}"), fixed(1460));
        made.transport = Some(TransportPlan {
            delayed_ack_segments: 2,
            delayed_ack_timeout_ns: (41 + 10 * index) * MILLISECOND,
            ..transport()
        });
        made
    });
    let mut links = round_trip_links(link("there", RatePlan::Unlimited, 5.0), 5.0);
    links[0].queue = packets(100);
    let outcome = run(&plan(10, links, flows.collect()), 1);
    let sent = table(&outcome, "flows").integers("sent_packets");
    // One per 10 ms plus the timer, from the start on; no timer of the sender expires before.
    assert_eq!(sent, [10_000 / 51 + 1, 10_000 / 61 + 1, 10_000 / 71 + 1]);
    assert_eq!(table(&outcome, "flows").integers("timeouts"), [0, 0, 0]);
}
