//! QUIC logs: our own, compared with the run that wrote them; those of other stacks, in their dialects;
//! corrupted ones.

#![allow(clippy::wildcard_imports, reason = "plans are written with most of their types")]

use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use crate::common::estimators::options;
use crate::common::qlog_damage;
use crate::plans::*;
use airpath_model::{AckEvent, Duration};
use airpath_quic::QuicRun;
use airpath_replay::{
    NamedEstimator, Options, QlogAnalysis, QlogObserver, analyse_qlog, analyse_qlog_observed,
};
use airpath_sim::plan::*;
use airpath_sim::{Outcome, RunControl, flow_logs};
use airpath_trace::qlog::{EventWriter, WrittenEvent};
use proptest::prelude::*;

/// Returns a log as a file: a header, then the events.
fn file(events: &[u8]) -> Vec<u8> {
    let header = "\u{1e}{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"title\":\"a run\",\"trace\":{\"vantage_point\":{\"type\":\"server\"}}}\n";
    [header.as_bytes(), events].concat()
}

fn read(bytes: &[u8]) -> QlogAnalysis {
    analyse_qlog(Cursor::new(bytes.to_vec()), &options()).unwrap()
}

/// The estimates after each acknowledgment, byte/s, with the time since the first event.
#[derive(Default)]
struct Replayed(Vec<(f64, Vec<Option<f64>>)>);

impl QlogObserver for Replayed {
    fn on_ack(&mut self, event: &AckEvent, estimates: &[Option<f64>]) {
        self.0.push((event.now.as_secs_f64(), estimates.to_vec()));
    }
}

/// Returns estimators as in a plan.
fn estimators() -> Vec<(&'static str, AckRateConfig)> {
    let (tau, start) = (Duration::from_secs(1), Start::First);
    let bilinear = |virtual_samples| FilterConfig::Bilinear { tau, virtual_samples, start };
    let hold = FilterConfig::ZeroOrderHold { tau, start };
    let ten = SamplerConfig::Interval { interval: Duration::from_millis(10) };
    let pair = SamplerConfig::BackToBack { acks: 2, spacing: Duration::from_millis(1) };
    let filtered = |sampler, filter| AckRateConfig::Filtered { sampler, filter };
    [
        ("westwood", filtered(SamplerConfig::PerAck, bilinear(VirtualSamples::Zero))),
        ("westwood-zoh", filtered(SamplerConfig::PerAck, hold)),
        ("westwood-10ms", filtered(ten, bilinear(VirtualSamples::Zero))),
        ("westwood-aa", filtered(SamplerConfig::RoundTrip, bilinear(VirtualSamples::Held))),
        ("westwood+", AckRateConfig::WestwoodPlus { ticks_per_second: 1000 }),
        ("samples", filtered(SamplerConfig::PerAck, FilterConfig::None)),
        ("packet-pair", filtered(pair, FilterConfig::Median { window: 9 })),
        ("delivery-rate", filtered(SamplerConfig::DeliveryRate, FilterConfig::None)),
    ]
    .into()
}

/// Returns a plan of one flow over 5 Mbit/s with these losses and this queue limit in packets.
fn plan_of(loss: f64, room: u64) -> Plan {
    let bottleneck = LinkPlan { loss, queue: packets(room), ..link("there", mbps(5), 35.0) };
    let links = vec![bottleneck, link("back", RatePlan::Unlimited, 35.0)];
    let mut plan = plan(30, links, vec![flow("watched", cubic())]);
    plan.record.interval_ns = 10 * MILLISECOND;
    plan.record.qlog = true;
    plan
}

/// Runs the simulator's own transport with estimators alongside its controller.
fn simulated(loss: f64, room: u64) -> (Plan, Outcome) {
    let mut plan = plan_of(loss, room);
    plan.estimators = estimators()
        .into_iter()
        .map(|(name, estimator)| EstimatorPlan { name: name.to_owned(), estimator: estimator.into() })
        .collect();
    plan.flows[0].estimators = (0..plan.estimators.len() as u16).collect();
    // The window does not exceed the queue limit.
    plan.flows[0].transport.as_mut().unwrap().receive_window_bytes = 150_000;
    let outcome = run(&plan, 5);
    (plan, outcome)
}

/// Returns the largest difference between the estimates of a run and of its log from a given time on,
/// relative to the run's, for each of these estimators (with their numbers in tables).
fn distances(
    plan: &Plan,
    outcome: &Outcome,
    estimators: &[(i64, (&str, AckRateConfig))],
    from_s: f64,
) -> (BTreeMap<String, f64>, QlogAnalysis) {
    let named = |(name, config): (&str, _)| NamedEstimator::new(name, config).unwrap();
    let options = Options {
        estimators: estimators.iter().map(|(_, estimator)| named(*estimator)).collect(),
        ..Options::default()
    };
    let mut replayed = Replayed::default();
    let log = file(&flow_logs(plan, outcome)[0].events);
    let analysis = analyse_qlog_observed(Cursor::new(log), &options, &mut replayed).unwrap();
    assert_eq!((analysis.report.broken, analysis.report.incomplete), (0, 0));
    let table = table(outcome, "flow_estimates");
    let (times, which, live) =
        (table.reals("time_s"), table.integers("estimator"), table.reals("estimate_bps"));
    let mut distances = BTreeMap::new();
    let mut rows = 0;
    for row in (0..times.len()).filter(|&row| !live[row].is_nan() && times[row] >= from_s) {
        let Some(place) = estimators.iter().position(|(number, _)| *number == which[row]) else { continue };
        let last_before = |end: usize| end.checked_sub(1).and_then(|last| replayed.0[last].1[place]);
        // An acknowledgment that arrives exactly at the end of an interval may count for this interval or for
        // the next.
        let with = replayed.0.partition_point(|(time, _)| *time <= times[row]);
        let without = replayed.0.partition_point(|(time, _)| *time < times[row]);
        let distance = [last_before(with), last_before(without)]
            .into_iter()
            .flatten()
            .map(|estimate| (estimate * 8.0 - live[row]).abs() / live[row].max(1.0))
            .fold(f64::INFINITY, f64::min);
        let worst = distances.entry(estimators[place].1.0.to_owned()).or_insert(0.0_f64);
        *worst = worst.max(distance);
        rows += 1;
    }
    assert!(rows > 900 && distances.len() == estimators.len(), "{rows} {distances:?}");
    (distances, analysis)
}

/// Both sides compute the same values in the same order.
const ROUNDING: f64 = 1e-12;

fn passive_estimators() -> Vec<(i64, (&'static str, AckRateConfig))> {
    (1..).zip(estimators()).collect() // 0 is the controller's own
}

#[test]
fn the_log_of_a_run_without_losses_reproduces_its_estimates() {
    let (plan, outcome) = simulated(0.0, 200);
    let (distances, analysis) = distances(&plan, &outcome, &passive_estimators(), 0.0);
    assert!(distances.values().all(|worst| *worst <= ROUNDING), "{distances:?}");
    let flow = &analysis.flows[0];
    assert!(flow.is_sender && flow.lost_packets == 0 && flow.rtt_min_ns.unwrap() >= 70_000_000, "{flow:?}");
    let delivered = flow.delivered_bps.unwrap();
    assert!((4.8e6..4.9e6).contains(&delivered), "of 5 Mbit/s 40 in 1500 bytes are headers: {delivered}");
}

#[test]
fn with_losses_estimates_from_delivered_data_are_equal_and_those_from_duplicates_are_close() {
    let (plan, outcome) = simulated(0.003, 60);
    let (distances, analysis) = distances(&plan, &outcome, &passive_estimators(), 0.0);
    let lost = table(&outcome, "flows").integers("retransmitted_packets")[0] as u64;
    let flow = &analysis.flows[0];
    assert!(flow.says_losses && lost > 20 && flow.lost_packets.abs_diff(lost) <= 1, "{lost} {flow:?}");
    for name in ["delivery-rate", "packet-pair"] {
        assert!(distances[name] <= ROUNDING, "{distances:?}");
    }
    // TCP reports duplicate acknowledgments to them; QUIC has none.
    assert!((0.01..0.3).contains(&distances["westwood"]), "{distances:?}");
}

/// Returns Westwood with this estimator.
fn westwood_over(estimator: AckRateConfig) -> ControllerPlan {
    let estimator = serde_json::to_value(estimator).unwrap();
    ControllerPlan::Declared(ComponentPlan::named("westwood").with("estimator", estimator))
}

#[test]
fn the_log_of_a_quic_run_reproduces_its_controllers_estimates() {
    for estimator in estimators() {
        let mut plan = plan_of(0.003, 60);
        plan.flows[0].controller = Some(westwood_over(estimator.1));
        let outcome = QuicRun::new(&plan, &[], 5).unwrap().run(&RunControl::default()).unwrap();
        // In the handshake, packets share datagrams, which the log cannot distinguish: filters forget this
        // over 20 time constants.
        let (distances, analysis) = distances(&plan, &outcome, &[(0, estimator)], 20.0);
        assert!(distances.values().all(|worst| *worst <= 1e-9), "{distances:?}");
        let flow = &analysis.flows[0];
        assert!(flow.lost_packets > 50 && flow.says_losses, "{flow:?}");
        assert!(flow.rtt_min_ns.unwrap() >= 70_000_000);
    }
}

/// Logs of one connection as written by different stacks, created for this test from their documentation. 24
/// packets of 1250 bytes, one every 10 ms, over a round trip of 40 ms; two are acknowledged at a time; packet
/// 7 is lost.
const DIALECTS: [(&str, &[u8]); 5] = [
    ("quiche", include_bytes!("qlog/quiche-0.3.sqlog")),
    ("ngtcp2", include_bytes!("qlog/ngtcp2-0.3.sqlog")),
    ("quic-go", include_bytes!("qlog/quic-go-draft-02.qlog")),
    ("picoquic", include_bytes!("qlog/picoquic-draft-00.qlog")),
    ("events-14", include_bytes!("qlog/events-14.sqlog")),
];

/// The client's log of that connection.
const CLIENT: &[u8] = include_bytes!("qlog/client-0.4.qlog");

#[test]
fn logs_of_different_stacks_give_the_same_result() {
    let reference = read(DIALECTS[0].1);
    for (stack, bytes) in DIALECTS {
        let analysis = read(bytes);
        let report = &analysis.report;
        assert_eq!((report.broken, report.incomplete, &report.stopped), (0, 0, &None), "{stack}");
        assert_eq!(report.given, 24 + 12 + 1 + 12, "{stack}");
        assert_eq!(analysis.flows.len(), 1, "{stack}");
        let flow = &analysis.flows[0];
        assert_eq!((flow.vantage_point.as_str(), flow.is_sender), ("server", true), "{stack}");
        assert_eq!((flow.data_packets, flow.bytes, flow.acked_bytes), (24, 30_000, 28_750), "{stack}");
        assert_eq!((flow.acks, flow.lost_packets, flow.recoveries), (12, 1, 1), "{stack}");
        assert_eq!(flow.loss_runs, [(1, 1)], "{stack}");
        assert_eq!((flow.rtt_min_ns, flow.rtt_max_ns), (Some(40_000_000), Some(40_000_000)), "{stack}");
        // From the first packet to the last acknowledgment: 270 ms.
        assert!((flow.delivered_bps.unwrap() - 28_750.0 * 8.0 / 0.27).abs() < 1.0, "{stack}");
        assert_eq!(flow.estimates, reference.flows[0].estimates, "{stack}");
        let window = &flow.series.estimates[options().estimators.len()];
        assert_eq!(window.iter().rfind(|value| !value.is_nan()), Some(&15_200.0), "{stack}");
        let round_trip = &flow.series.estimates[options().estimators.len() + 2];
        assert!(round_trip.iter().all(|value| value.is_nan() || (value - 0.04).abs() < 1e-12), "{stack}");
    }
    let of = |name: &str| reference.flows[0].estimates.iter().find(|one| one.name == name).unwrap();
    // One packet every 10 ms.
    assert!((of("delivery-rate").last_bps.unwrap() - 1e6).abs() < 0.15e6, "{:?}", of("delivery-rate"));
    assert_eq!(of("sarbe").missing, Some("the receiver sends no timestamps"));
}

#[test]
fn losses_missing_in_the_log_are_detected() {
    let text = String::from_utf8(DIALECTS[0].1.to_vec()).unwrap();
    let without: String = text.split_inclusive('\n').filter(|line| !line.contains("packet_lost")).collect();
    let flow = &read(without.as_bytes()).flows[0];
    assert_eq!((flow.lost_packets, flow.says_losses, flow.recoveries), (1, false, 1));
}

/// The bytes in flight after each acknowledgment.
#[derive(Default)]
struct InFlight(Vec<u64>);

impl QlogObserver for InFlight {
    fn on_ack(&mut self, event: &AckEvent, _: &[Option<f64>]) {
        self.0.push(event.in_flight.get());
    }
}

/// A stack that migrates or restarts may restart its numbers at zero: the earlier packet with a number is
/// never acknowledged.
#[test]
fn a_reused_packet_number_leaves_nothing_in_flight() {
    let mut writer = EventWriter::default();
    for (at, packet) in [(0, 0), (1, 1), (50, 0), (51, 1)] {
        writer.event(at * MILLISECOND, &WrittenEvent::PacketSent { packet, bytes: 1250 });
    }
    for (at, number) in [(90, 0), (91, 1)] {
        let ranges = &[(number, number)];
        writer
            .event(at * MILLISECOND, &WrittenEvent::AckReceived { packet: number, bytes: Some(40), ranges });
    }
    let mut in_flight = InFlight::default();
    let log = Cursor::new(file(&writer.finish()));
    let analysis = analyse_qlog_observed(log, &options(), &mut in_flight).unwrap();
    assert_eq!(in_flight.0, [1250, 0]);
    assert_eq!((analysis.flows[0].acked_bytes, analysis.flows[0].rtt_max_ns), (2500, Some(40_000_000)));
}

#[test]
fn the_log_of_a_receiver_contains_arrivals_only() {
    let analysis = read(CLIENT);
    let flow = &analysis.flows[0];
    assert_eq!((flow.vantage_point.as_str(), flow.is_sender), ("client", false));
    assert_eq!((flow.data_packets, flow.bytes, flow.reverse_bytes), (23, 28_750, 1252));
    assert!((flow.delivered_bps.unwrap() - 1e6).abs() < 0.01e6, "{:?}", flow.delivered_bps);
    assert!(flow.estimates.iter().all(|one| one.missing.is_some() && one.mean_bps.is_none()));
    assert_eq!((flow.rtt_min_ns, flow.acks), (None, 0));
    assert_eq!(flow.series.acked.iter().sum::<u64>(), 28_750);
}

#[test]
fn gzip_is_read_and_every_connection_of_a_server_is_returned() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(DIALECTS[1].1).unwrap();
    let (packed, plain) = (read(&packed.finish().unwrap()), read(DIALECTS[1].1));
    assert_eq!((packed.report, &packed.flows[0].estimates), (plain.report, &plain.flows[0].estimates));

    let text = String::from_utf8(DIALECTS[0].1.to_vec()).unwrap();
    let of = |group: &str| text.replace("{\"time\"", &format!("{{\"group_id\":\"{group}\",\"time\""));
    let (one, other) = (of("aa"), of("bb"));
    let pairs = one.split_inclusive('\n').zip(other.split_inclusive('\n'));
    let both: String = pairs.skip(1).flat_map(|(one, other)| [one, other]).collect();
    let analysis = read(format!("{}\n{both}", text.lines().next().unwrap()).as_bytes());
    let groups: Vec<&str> = analysis.flows.iter().map(|flow| flow.group.as_str()).collect();
    assert_eq!(groups, ["aa", "bb"]);
    assert!(analysis.flows.iter().all(|flow| flow.acked_bytes == 28_750));
}

/// Returns an event of a connection as a line.
fn event(group: &str, name: &str, packet: u64) -> String {
    let header = format!(r#"{{"packet_type":"1RTT","packet_number":{packet}}}"#);
    let data = format!(r#"{{"header":{header},"raw":{{"length":1250}}}}"#);
    format!(r#"{{"time":{packet},"group_id":"{group}","name":"{name}","data":{data}}}"#)
}

#[test]
fn connections_are_ordered_by_data_and_omitted_ones_are_counted() {
    let (sent, lost) = ("transport:packet_sent", "recovery:packet_lost");
    let mut lines = vec![r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"server"}}}"#.to_owned()];
    lines.push(event("little", sent, 0));
    lines.extend((0..8).map(|packet| event("much", sent, packet)));
    // Two neighbours, one alone, three neighbours; the packets between them are not lost.
    lines.extend([0, 1, 3, 5, 6, 7].map(|packet| event("much", lost, packet)));
    lines.push(event("silent", lost, 0));
    let text = lines.join("\n");
    let all = read(text.as_bytes());
    assert_eq!(all.flows.iter().map(|flow| flow.group.as_str()).collect::<Vec<_>>(), ["much", "little"]);
    assert_eq!((all.silent, all.not_followed), (1, 0));
    assert_eq!((all.flows[0].lost_packets, &all.flows[0].loss_runs[..]), (6, &[(1, 1), (2, 1), (3, 1)][..]));
    let options = Options { most_flows: 1, ..options() };
    let first = analyse_qlog(Cursor::new(text), &options).unwrap();
    assert_eq!((first.flows.len(), first.flows[0].group.as_str()), (1, "little"));
    assert_eq!((first.silent, first.not_followed), (0, 15));
}

#[test]
fn traces_of_one_document_are_separate_connections() {
    let trace = |packets: u64| {
        let events: Vec<String> =
            (0..packets).map(|packet| event("", "transport:packet_sent", packet)).collect();
        format!(
            r#"{{"title":"{packets} packets","vantage_point":{{"type":"client"}},"events":[{}]}}"#,
            events.join(",")
        )
    };
    let text = format!(r#"{{"qlog_version":"0.3","traces":[{},{}]}}"#, trace(2), trace(3));
    let analysis = read(text.as_bytes());
    let said: Vec<(&str, u64)> =
        analysis.flows.iter().map(|flow| (flow.title.as_str(), flow.data_packets)).collect();
    assert_eq!(said, [("3 packets", 3), ("2 packets", 2)]);
}

#[test]
fn corrupted_records_are_skipped_and_reported_with_their_line() {
    let mut lines: Vec<String> =
        String::from_utf8(DIALECTS[0].1.to_vec()).unwrap().lines().map(str::to_owned).collect();
    lines[4].truncate(60);
    let analysis = read(lines.join("\n").as_bytes());
    let report = &analysis.report;
    let damage = report.first_broken.as_ref().unwrap();
    assert_eq!((report.broken, damage.line), (1, 5), "{report:?}");
    assert!(damage.problem.contains("EOF"), "{damage:?}");
    assert_eq!(analysis.flows[0].data_packets, 23);

    // A document yields the part before the corruption.
    let whole = DIALECTS[3].1;
    let cut = read(&whole[..whole.len() / 2]);
    let stopped = cut.report.stopped.unwrap();
    assert!(stopped.line > 20 && stopped.problem.contains("EOF"), "{stopped:?}");
    assert!(cut.flows[0].data_packets > 5);
}

#[test]
fn other_files_are_rejected_with_the_line() {
    let refused =
        |bytes: &[u8]| analyse_qlog(Cursor::new(bytes.to_vec()), &options()).unwrap_err().to_string();
    assert!(refused(b"").starts_with("the file is empty; accepted: a qlog"));
    for bytes in [&b"{\"a\":1}\n{\"b\":2}\n"[..], b"{\"a\":\n[1]}", b"hello", b"\x1e[1]\n", b"{\"traces\":3}"]
    {
        let message = refused(bytes);
        assert!(message.starts_with("line 1: found ") && message.contains("accepted: a qlog"), "{message}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_stop_the_reader(
        dialect in 0..6_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..8),
    ) {
        let mut bytes = DIALECTS.get(dialect).map_or(CLIENT, |(_, bytes)| bytes).to_vec();
        for (place, byte, kind) in edits {
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                2 if bytes.len() > 1 => { bytes.remove(place); }
                _ => bytes.truncate(place.max(1)),
            }
        }
        qlog_damage::is_readable(bytes);
    }
}
