//! Others on the same path: the kernel's own controllers keep their part of a bottleneck, and datagrams pass as they were sent.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "what was measured is worth reading")]

#[path = "support/datagrams.rs"]
mod datagrams;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/namespace.rs"]
mod namespace;
#[path = "support/namespaces.rs"]
#[allow(dead_code, reason = "shared with tests that use the rest")]
mod namespaces;
mod support;
#[path = "support/wire.rs"]
#[allow(dead_code, reason = "shared with tests that use the rest")]
mod wire;

use std::time::Duration;

use airpath_linux::host::{CONTROLLERS, HostConfig};
use datagrams::Stream;
use lab::Lab;
use namespaces::{Pair, load, transfer};
use support::{OwnCgroup, alone, can_host};
use wire::Wire;

/// Of the wires, one way.
const DELAY: Duration = Duration::from_millis(10);
/// Of the bottlenecks, Mbit/s of frames.
const RATE: f64 = 10.0;
/// How long flows share a bottleneck, and how much of that counts: without a router VCP takes some ten seconds to find a path full.
const SECONDS: usize = 25;
const COUNTED: usize = 12;

/// Each of our controllers, the kernel's CUBIC and its Reno over one bottleneck. No router is near: XCP and VCP are Reno there. All
/// five paths at once, which takes no longer than one.
#[test]
fn each_controller_the_kernels_cubic_and_its_reno_share_a_bottleneck() {
    if !can_host("coexistence") {
        return;
    }
    let _alone = alone();
    let group = OwnCgroup::join("airpath-beside");
    let pairs = CONTROLLERS.map(|_| Pair::over_a_wire());
    let _wires = pairs.each_ref().map(|pair| {
        let middle = pair.middle.as_ref().unwrap();
        middle.command("tc qdisc add dev out root tbf rate 10mbit burst 5kb limit 30000");
        Wire::new(middle, DELAY, |_, _| true)
    });
    let devices = Some(pairs.iter().flat_map(Pair::devices).collect());
    let _host = load(&HostConfig { cgroup: group.folder.clone(), devices, ..HostConfig::default() });
    let shares = std::thread::scope(|scope| {
        let flows = CONTROLLERS.each_ref().map(|ours| [*ours, "cubic", "reno"]);
        let running: Vec<_> = std::iter::zip(&pairs, flows)
            .map(|(pair, flows)| flows.map(|flow| (flow, scope.spawn(move || pair.bulk(flow, SECONDS)))))
            .collect();
        let share = |seconds: Vec<f64>| seconds[SECONDS - COUNTED..].iter().sum::<f64>() / COUNTED as f64;
        running
            .into_iter()
            .map(|path| path.map(|(flow, running)| (flow, share(running.join().unwrap()))))
            .collect::<Vec<_>>()
    });
    for path in &shares {
        println!("{}", path.map(|(flow, share)| format!("{flow} {share:.2}")).join(", "));
    }
    for path in &shares {
        for (flow, share) in path {
            assert!(*share >= RATE / path.len() as f64 / 4.0, "{flow}: {path:?} Mbit/s");
        }
    }
}

/// A constant stream of datagrams with each ECN field, beside VCP, by the host's programs and a router of VCP.
#[test]
fn datagrams_pass_a_router_of_vcp_as_they_were_sent() {
    if !can_host("coexistence") {
        return;
    }
    let _alone = alone();
    let (group, lab) = (OwnCgroup::join("airpath-datagrams"), Lab::new("10mbit"));
    let _hosts = lab.hosts(&group.folder);
    let router = lab.router(&["--protocol", "vcp", "--rate", "10Mbit"]);
    let stream = Stream::start(&lab);
    let took = transfer(&lab.a, (&lab.b, "10.9.0.2"), "airpath_vcp", 5_000_000);
    let (sent, arrived) = stream.end();
    let status = router.status();
    println!("{sent} sent, {arrived} arrived in {took:.2?}; {status}");
    assert!(sent > 500, "{sent}");
    // The router was at work: it raised codes of VCP's packets, meanwhile.
    assert!(status["counters"]["written"].as_u64().unwrap() > 100, "{status}");
    let dropped = status["queue"]["drops"].as_u64().unwrap();
    assert!(sent - arrived <= dropped, "{sent} sent, {arrived} arrived, {dropped} dropped by the queue");
    for (protocol, counter) in [("Udp:", "InErrors"), ("Udp:", "InCsumErrors"), ("Tcp:", "InCsumErrors")] {
        assert_eq!(lab.b.counter(protocol, counter), 0, "{protocol} {counter}");
    }
}
