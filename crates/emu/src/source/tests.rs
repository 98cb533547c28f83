//! Sources between two real hosts, in virtual time, over a wire that carries every packet at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Instant;

use airpath_model::Bytes;
use airpath_os_linux::{Route, device_index};
use airpath_plan::Plan;

use super::*;
use crate::clock::virtual_time::VirtualTime;
use crate::host::DEVICE;
use crate::hosts::Hosts;
use crate::sock_diag::{SockDiag, Sockets};
use crate::tun::Tun;
use airpath_realtime::skipped;

/// Returns a plan of half a second with one link in each direction and these flows (JSON: name, traffic, stop
/// in ms or null).
fn plan(flows: &[(&str, &str, &str)]) -> Plan {
    let link = |name: &str| {
        format!(
            r#"{{"name":"{name}","rate":{{"kind":"unlimited"}},"delay_ns":{{"kind":"constant","value":0}},
            "jitter_ns":null,"loss":0,"bursts":null,"arq":null,
            "queue":{{"kind":"drop-tail","limit_bytes":null,"limit_packets":null}},"record":true}}"#
        )
    };
    let transport = r#"{"mss_bytes":1448,"header_bytes":52,"ack_bytes":52,"initial_window_bytes":14480,
        "receive_window_bytes":1073741824,"recovery":"prr","lost_retransmission_detection":true,
        "spurious_timeout_undo":true,"timestamps":true,"delayed_ack_segments":2,"delayed_ack_timeout_ns":40000000,
        "min_rto_ns":200000000,"rto_floor":"variance","max_rto_ns":120000000000,"initial_rto_ns":1000000000,
        "ecn":false,"pacing":false}"#;
    let flow = |&(name, traffic, stop): &(&str, &str, &str)| {
        let datagrams = traffic.contains("rate");
        let controller = r#"{"kind":"kernel","algorithm":"cubic"}"#;
        let (controller, transport) = if datagrams { ("null", "null") } else { (controller, transport) };
        format!(
            r#"{{"name":"{name}","path":[0],"reverse_path":[1],"measured_at":0,
            "start_ns":{{"kind":"constant","value":20000000}},"stop_ns":{stop},"traffic":{traffic},
            "controller":{controller},"transport":{transport},"estimators":[]}}"#
        )
    };
    let flows: Vec<_> = flows.iter().map(flow).collect();
    Plan::from_json(&format!(
        r#"{{"format":2,"duration_ns":500000000,"record":{{"measure_from_ns":0,"interval_ns":50000000,"packets":false,
        "estimate_samples":false,"capture":[]}},"estimators":[],"links":[{},{}],"flows":[{}]}}"#,
        link("there"),
        link("back"),
        flows.join(",")
    ))
    .unwrap()
}

/// Carries the waiting packets in both directions.
fn carry(tuns: &[Tun; 2]) {
    let mut buffer = [0; 2048];
    for (from, to) in [(0, 1), (1, 0)] {
        while let Some(length) = tuns[from].read(&mut buffer).unwrap() {
            tuns[to].write(&buffer[..length]);
        }
    }
}

/// The observable outcome of a run.
struct Seen {
    reports: Vec<Report>,
    summary: SourceSummary,
}

/// Runs the plan in virtual time. The thread of the sources is delayed according to `delays`: from a time on
/// (in ms), by a number of ms. Time is stopped, and packets are carried, while `holds` returns `true` for
/// the time, the complete transfers, and the connections of the senders. Returns `None`, after printing the
/// reason, if hosts cannot be created.
fn run(
    plan: &Plan,
    delays: &[(u64, u64)],
    holds: impl Fn(Timestamp, u64, usize) -> bool + Send + 'static,
) -> Option<Seen> {
    let (hosts, tuns) = match Hosts::new() {
        Ok(made) => made,
        Err(error) => {
            skipped(error);
            return None;
        }
    };
    let both = [hosts.host(Side::Senders), hosts.host(Side::Receivers)];
    let sources = Sources::open(plan, 1, both).unwrap();
    let connections = SockDiag::of(both[0]).unwrap();
    let (clock, time) = VirtualTime::start();
    for &(from, by) in delays {
        time.delay(millis(from), Duration::from_millis(by));
    }
    let complete = Arc::new(AtomicU64::new(0));
    let (counted, began) = (Arc::clone(&complete), Instant::now());
    time.hold_while(move |now, _| {
        // This only bounds a test that would never end.
        assert!(began.elapsed().as_secs() < 600, "nothing happens at {now:?}");
        carry(&tuns);
        holds(now, counted.load(Ordering::Relaxed), connections.sockets().unwrap().len())
    });
    let (sender, receiver) = mpsc::channel();
    let report = |report| {
        let completes = matches!(report, Report::Completion { .. });
        complete.fetch_add(u64::from(completes), Ordering::Relaxed);
        sender.send(report).unwrap();
    };
    let work = || sources.run(&clock, &report, &RunControl::default());
    let summary = hosts.host(Side::Senders).enter(work).unwrap().unwrap();
    drop(sender);
    Some(Seen { reports: receiver.iter().collect(), summary })
}

fn millis(millis: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(millis)
}

fn goodput(reports: &[Report], wanted: u32) -> u64 {
    let of = |report: &Report| match report {
        Report::Goodput { flow, bytes } if *flow == wanted => *bytes,
        _ => 0,
    };
    reports.iter().map(of).sum()
}

/// Returns the number of samples of a flow.
fn samples(reports: &[Report], wanted: u32) -> usize {
    reports.iter().filter(|report| matches!(report, Report::Interval { flow, .. } if *flow == wanted)).count()
}

/// 250 datagrams a second of 1000 bytes.
const DATAGRAMS: &str = r#"{"kind":"constant-bit-rate","rate":2000000,"packet":1000,"on":null,"off":null,
    "start_off":false}"#;
const STOP: &str = r#"{"kind":"constant","value":320000000}"#;

#[test]
fn long_flows_and_datagrams_start_and_stop_as_planned() {
    let mut plan = plan(&[("long", r#"{"kind":"bulk"}"#, STOP), ("datagrams", DATAGRAMS, STOP)]);
    // A few packets in each round trip: the wire has no delay.
    plan.flows[0].transport.as_mut().unwrap().receive_window_bytes = 1 << 16;
    let holds = |now, _, connections| now >= millis(320) && connections > 0;
    let Some(Seen { reports, summary }) = run(&plan, &[], holds) else { return };
    assert_eq!(summary.faults, Vec::<String>::new());
    // From 20 to 320 ms.
    assert_eq!(summary.flows[1].sent_packets, 75);
    assert_eq!(goodput(&reports, 1), 75_000);
    assert!(summary.datagram_lateness_s < 1e-9, "{summary:?}");
    assert!(summary.flows[0].sent_packets >= 10 && summary.flows[0].min_rtt_s > 0.0, "{summary:?}");

    let active = |wanted: u32, interval: usize| {
        let of = |report: &&Report| matches!(report, Report::Interval { flow, .. } if *flow == wanted);
        match reports.iter().filter(of).nth(interval) {
            Some(Report::Interval { state, .. }) => *state,
            _ => panic!("no such interval"),
        }
    };
    let limited = |wanted: u32| {
        let of = move |report: &Report| match report {
            Report::Interval { flow, limited, .. } if *flow == wanted => {
                Some(limited.map(|times| times.total))
            }
            _ => None,
        };
        reports.iter().filter_map(of).collect::<Vec<_>>()
    };
    // From 20 ms, until the connection has ended: at 320 ms, or at the next sample.
    assert_eq!(limited(0)[3], Some(Duration::from_millis(178)), "2 ms before the end of the interval");
    assert_eq!(limited(0)[8], limited(0)[9]);
    let total = limited(0)[9].unwrap();
    assert!(total >= Duration::from_millis(300) && total <= Duration::from_millis(328), "{total:?}");
    assert_eq!(limited(1), [None; 10], "datagrams are not limited");

    assert!(active(0, 3).active && active(0, 3).cwnd >= Some(Bytes::new(14_480)), "{:?}", active(0, 3));
    assert!(!active(0, 8).active && !active(1, 8).active, "they stopped");
}

#[test]
fn files_follow_each_other_after_their_pause() {
    let repeated = r#"{"kind":"repeated","size":{"kind":"constant","value":20000},
        "pause":{"kind":"constant","value":10000000}}"#;
    let plan = plan(&[("files", repeated, "null")]);
    // Files begin at 20 ms, 30 ms and so on. Each transfer is complete before time advances, regardless of
    // the kernel's processing time.
    let begun =
        |now: Timestamp| now.as_nanos().checked_sub(20_000_000).map_or(0, |nanos| nanos / 10_000_000 + 1);
    let Some(Seen { reports, summary }) = run(&plan, &[], move |now, complete, _| complete < begun(now))
    else {
        return;
    };
    assert_eq!(summary.faults, Vec::<String>::new());
    let transfers = reports.iter().filter_map(|report| match *report {
        Report::Completion { flow, transfer, start, end, size } => {
            Some((flow, transfer, start, end, size.get()))
        }
        Report::Goodput { .. } | Report::Interval { .. } | Report::Counted { .. } => None,
    });
    let expected = (0..48).map(|number| {
        let at = millis(20 + 10 * u64::from(number));
        (0, number, at, at, 20_000)
    });
    assert_eq!(transfers.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    assert_eq!(goodput(&reports, 0), 48 * 20_000);
}

#[test]
fn an_application_writes_to_one_connection_until_the_stop() {
    let writes = r#"{"kind":"writes","size":{"kind":"constant","value":20000},
        "interval":{"kind":"constant","value":10000000}}"#;
    let plan = plan(&[("video", writes, STOP)]);
    // The thread is late for six writes.
    let holds = |now, _, connections| now >= millis(320) && connections > 0;
    let Some(Seen { reports, summary }) = run(&plan, &[(100, 55)], holds) else { return };
    assert_eq!(summary.faults, Vec::<String>::new());
    assert_eq!(goodput(&reports, 0), 30 * 20_000, "from 20 to 320 ms");
    let ends = reports.iter().filter(|report| matches!(report, Report::Completion { .. }));
    assert_eq!(ends.count(), 0, "the data has no end");
}

/// Sends datagrams until `stop`, while the thread is delayed.
fn delayed(stop: &str, delays: &[(u64, u64)]) -> Option<Seen> {
    run(&plan(&[("datagrams", DATAGRAMS, stop)]), delays, |_, _, _| false)
}

#[test]
fn datagrams_due_before_the_stop_are_sent_by_a_thread_that_wakes_later() {
    let Some(Seen { summary, .. }) = delayed(STOP, &[(300, 40)]) else { return };
    assert_eq!(summary.flows[0].sent_packets, 75);
    assert!((summary.datagram_lateness_s - 0.040).abs() < 1e-9, "{summary:?}");
}

#[test]
fn datagrams_due_before_the_end_are_sent_by_a_thread_that_wakes_later() {
    let Some(Seen { reports, summary }) = delayed("null", &[(480, 100)]) else { return };
    assert_eq!(summary.flows[0].sent_packets, 120);
    assert!((summary.datagram_lateness_s - 0.100).abs() < 1e-9, "{summary:?}");
    assert_eq!(samples(&reports, 0), 10, "the last interval is sampled, too");
}

#[test]
fn intervals_that_pass_while_the_thread_is_delayed_are_sampled_once() {
    // 48 and 98 ms; 270 instead of 148, 198 and 248; 298 to 498.
    let Some(Seen { reports, summary }) = delayed("null", &[(100, 170)]) else { return };
    assert_eq!(samples(&reports, 0), 2 + 1 + 5);
    assert_eq!(summary.flows[0].sent_packets, 120);
}

#[test]
fn features_missing_in_the_kernel_are_named() {
    let mut plan = plan(&[("long", r#"{"kind":"bulk"}"#, "null")]);
    plan.duration_ns = 50_000_000;
    plan.flows[0].controller = Some(airpath_plan::ControllerPlan::Kernel { algorithm: "no_such".to_owned() });
    let Some(Seen { summary, .. }) = run(&plan, &[], |_, _, _| false) else { return };
    assert_eq!(summary.faults.len(), 1);
    assert!(summary.faults[0].contains("no_such"), "{:?}", summary.faults);
}

#[test]
fn flows_that_differ_in_host_wide_settings_are_rejected() {
    let mut plan = plan(&[("one", r#"{"kind":"bulk"}"#, "null"), ("two", r#"{"kind":"bulk"}"#, "null")]);
    assert!(KernelSettings::of(&plan).is_ok());
    plan.flows[1].transport.as_mut().unwrap().ecn = true;
    assert_eq!(
        KernelSettings::of(&plan).unwrap_err().to_string(),
        "flow two: transport.ecn: marks (ECN) are on for flow two and off for flow one; accepted in an emulation: the same for \
         all flows, since all connections of a host share them"
    );
}

#[test]
fn without_offload_a_host_sends_segments_one_by_one() {
    let mut plan = plan(&[("one", r#"{"kind":"bulk"}"#, "null")]);
    for (gso, segments) in [(true, None), (false, Some(1))] {
        plan.flows[0].transport.as_mut().unwrap().gso = gso;
        let (hosts, _tuns) = match Hosts::new() {
            Ok(made) => made,
            Err(error) => return skipped(error),
        };
        let sender = hosts.host(Side::Senders);
        KernelSettings::of(&plan).unwrap().apply([sender, hosts.host(Side::Receivers)]).unwrap();
        let most = || Route::open().unwrap().max_gso_segments(device_index(DEVICE).unwrap());
        let most = sender.enter(|| most().unwrap()).unwrap();
        assert_eq!(most.filter(|&most| most == 1), segments);
    }
}
