//! Sources between two real hosts, over a wire that carries every packet at once.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use airpath_model::Bytes;
use airpath_sim::plan::Plan;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::*;
use crate::hosts::Hosts;
use crate::skipped::skipped;
use crate::tun::Tun;

/// A plan of half a second with one link each way and these flows (JSON: name, traffic, stop in ms or null).
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
        let datagrams = traffic.contains("bps");
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
        r#"{{"duration_ns":500000000,"record":{{"measure_from_ns":0,"interval_ns":50000000,"packets":false,
        "estimate_samples":false,"capture":[]}},"estimators":[],"links":[{},{}],"flows":[{}]}}"#,
        link("there"),
        link("back"),
        flows.join(",")
    ))
    .unwrap()
}

/// Carries packets until told to stop.
fn carry(tuns: &[Tun; 2], stop: &AtomicBool) {
    let mut buffer = [0; 2048];
    while !stop.load(Ordering::Relaxed) {
        let mut waited = [&tuns[0], &tuns[1]].map(|tun| PollFd::new(tun.as_fd(), PollFlags::POLLIN));
        poll(&mut waited, PollTimeout::from(10_u8)).unwrap();
        for (from, to) in [(0, 1), (1, 0)] {
            while let Some(length) = tuns[from].read(&mut buffer).unwrap() {
                tuns[to].write(&buffer[..length]);
            }
        }
    }
}

/// Runs the plan; `None`, with the reason said, where hosts cannot be made.
fn run(plan: &Plan) -> Option<(Vec<Report>, SourceSummary)> {
    let (hosts, tuns) = match Hosts::new() {
        Ok(made) => made,
        Err(error) => {
            skipped(error);
            return None;
        }
    };
    let both = [hosts.host(Side::Senders), hosts.host(Side::Receivers)];
    let sources = Sources::open(plan, 1, both).unwrap();
    let (stop, (sender, receiver)) = (AtomicBool::new(false), mpsc::channel());
    let summary = thread::scope(|scope| {
        scope.spawn(|| carry(&tuns, &stop));
        let report = |report| sender.send(report).unwrap();
        let run = || sources.run(&Clock::start(), &report, &RunControl::default());
        let summary = hosts.host(Side::Senders).enter(run);
        stop.store(true, Ordering::Relaxed);
        summary.unwrap().unwrap()
    });
    drop(sender);
    Some((receiver.iter().collect(), summary))
}

fn goodput(reports: &[Report], wanted: u32) -> u64 {
    let of = |report: &Report| match report {
        Report::Goodput { flow, bytes } if *flow == wanted => *bytes,
        _ => 0,
    };
    reports.iter().map(of).sum()
}

#[test]
fn sources_do_what_the_plan_says() {
    let repeated = r#"{"kind":"repeated","bytes":{"kind":"constant","value":20000},
        "pause_ns":{"kind":"constant","value":10000000}}"#;
    let rate = r#"{"kind":"constant-bit-rate","bps":2000000,"packet_bytes":1000,"on_ns":null,"off_ns":null,
        "start_off":false}"#;
    let stop = r#"{"kind":"constant","value":320000000}"#;
    let plan =
        plan(&[("long", r#"{"kind":"bulk"}"#, stop), ("files", repeated, "null"), ("datagrams", rate, stop)]);
    let Some((reports, summary)) = run(&plan) else { return };
    assert_eq!(summary.faults, Vec::<String>::new());

    let transfers: Vec<_> = reports
        .iter()
        .filter_map(|report| match report {
            Report::Completion { flow, transfer, start, end, size } => {
                Some((*flow, *transfer, *start, *end, size.get()))
            }
            Report::Goodput { .. } | Report::Interval { .. } => None,
        })
        .collect();
    assert!(transfers.len() > 5, "{} transfers", transfers.len());
    for (number, &(flow, transfer, start, end, size)) in (0..).zip(&transfers) {
        assert_eq!((flow, transfer, size), (1, number, 20_000));
        assert!(start < end);
    }
    for pair in transfers.windows(2) {
        let pause = pair[1].2.since(pair[0].3);
        assert!(pause >= Duration::from_millis(10), "a pause of {pause:?}");
    }

    // Whole transfers, and at most one that was under way.
    let files = goodput(&reports, 1);
    let whole = transfers.len() as u64 * 20_000;
    assert!((whole..=whole + 20_000).contains(&files), "{files} bytes of files, {whole} in whole ones");
    // 300 ms at 250 datagrams a second.
    assert_eq!(summary.flows[2].sent_packets, 75);
    assert_eq!(goodput(&reports, 2), 75_000);
    assert!(summary.flows[0].sent_packets > 100 && summary.flows[0].min_rtt_s > 0.0, "{summary:?}");

    let active = |wanted: u32, interval: usize| {
        let of = |report: &&Report| matches!(report, Report::Interval { flow, .. } if *flow == wanted);
        match reports.iter().filter(of).nth(interval) {
            Some(Report::Interval { state, .. }) => *state,
            _ => panic!("no such interval"),
        }
    };
    assert!(active(0, 3).active && active(0, 3).cwnd >= Some(Bytes::new(14_480)), "{:?}", active(0, 3));
    assert!(!active(0, 8).active && !active(2, 8).active, "they stopped");
}

#[test]
fn what_the_kernel_does_not_have_is_named() {
    let mut plan = plan(&[("long", r#"{"kind":"bulk"}"#, "null")]);
    plan.duration_ns = 50_000_000;
    plan.flows[0].controller =
        Some(airpath_sim::plan::ControllerPlan::Kernel { algorithm: "no_such".to_owned() });
    let Some((_, summary)) = run(&plan) else { return };
    assert_eq!(summary.faults.len(), 1);
    assert!(summary.faults[0].contains("no_such"), "{:?}", summary.faults);
}

#[test]
fn flows_that_differ_in_what_a_host_shares_are_refused() {
    let mut plan = plan(&[("one", r#"{"kind":"bulk"}"#, "null"), ("two", r#"{"kind":"bulk"}"#, "null")]);
    assert!(KernelSettings::of(&plan).is_ok());
    plan.flows[1].transport.as_mut().unwrap().ecn = true;
    assert_eq!(
        KernelSettings::of(&plan).unwrap_err().to_string(),
        "flow two: transport.ecn: marks (ECN) are on for flow two and off for flow one; accepted in an emulation: the same for \
         all flows, since all connections of a host share them"
    );
}
