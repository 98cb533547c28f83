//! Others on the same path: the kernel's own controllers keep their part of a bottleneck, and datagrams pass as they were sent.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "what was measured is worth reading")]

#[path = "support/datagrams.rs"]
mod datagrams;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/namespace.rs"]
#[allow(dead_code, reason = "shared with tests that use the rest")]
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
use namespaces::{Pair, load};
use support::{OwnCgroup, alone, can_host};
use wire::Wire;

/// Of the wires, one way.
const DELAY: Duration = Duration::from_millis(10);
/// How long flows share a bottleneck, and how much of that counts: without a router VCP takes some ten seconds to find a path full.
const SECONDS: usize = 25;
const COUNTED: usize = 10;

/// Two hosts, 20 ms there and back, and a bottleneck of 10 Mbit/s with a queue of 30 kB.
fn path() -> (Pair, Wire) {
    let pair = Pair::over_a_wire();
    let middle = pair.middle.as_ref().unwrap();
    middle.command("tc qdisc add dev out root tbf rate 10mbit burst 5kb limit 30000");
    let wire = Wire::new(middle, DELAY, |_, _| true);
    (pair, wire)
}

/// Each of our controllers, the kernel's CUBIC and its Reno over one bottleneck, without a router, so that XCP and VCP are Reno there; and
/// datagrams beside VCP over a router. All six paths at once, which takes no longer than one.
#[test]
fn ours_and_others_share_bottlenecks() {
    if !can_host("coexistence") {
        return;
    }
    let _alone = alone();
    let group = OwnCgroup::join("airpath-beside");
    let (paths, with_router) = (CONTROLLERS.map(|_| path()), path());
    let devices = paths.iter().chain([&with_router]).flat_map(|(pair, _)| pair.devices()).collect();
    let _host =
        load(&HostConfig { cgroup: group.folder.clone(), devices: Some(devices), ..HostConfig::default() });
    std::thread::scope(|scope| {
        scope.spawn(|| datagrams_pass_a_router_of_vcp_as_they_were_sent(&with_router.0));
        each_controller_the_kernels_cubic_and_its_reno_share_a_bottleneck(&paths);
    });
}

fn each_controller_the_kernels_cubic_and_its_reno_share_a_bottleneck(
    paths: &[(Pair, Wire); CONTROLLERS.len()],
) {
    let shares = std::thread::scope(|scope| {
        let flows = CONTROLLERS.each_ref().map(|ours| [*ours, "cubic", "reno"]);
        let running: Vec<_> = std::iter::zip(paths, flows)
            .map(|((pair, _), flows)| flows.map(|flow| (flow, scope.spawn(move || pair.bulk(flow, SECONDS)))))
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
    for ((pair, _), path) in std::iter::zip(paths, &shares) {
        let queue = pair.middle.as_ref().unwrap().command("tc -s qdisc show dev out");
        assert!(!queue.contains("dropped 0,"), "this was the bottleneck: {queue}");
        let fair = path.iter().map(|(_, share)| share).sum::<f64>() / path.len() as f64;
        for (flow, share) in path {
            assert!(*share >= fair / 4.0, "{flow}: {path:?} Mbit/s");
        }
    }
}

/// A constant stream of datagrams with each ECN field, beside VCP, by the host's programs and a router of VCP.
fn datagrams_pass_a_router_of_vcp_as_they_were_sent(pair: &Pair) {
    let bottleneck = (pair.middle.as_ref().unwrap(), "out");
    let router = Lab::router_at(bottleneck, &[], &["--protocol", "vcp", "--rate", "10Mbit"]);
    let stream = Stream::start(&pair.left, (&pair.right, "10.77.0.2"));
    let took = pair.transfer("airpath_vcp", 4_000_000);
    let (sent, arrived) = stream.end();
    let status = router.status();
    println!("{sent} sent, {arrived} arrived in {took:.2?}; {status}");
    assert!(sent > 500, "{sent}");
    // The router was at work: it raised codes of VCP's packets, meanwhile.
    assert!(status["counters"]["written"].as_u64().unwrap() > 100, "{status}");
    let dropped = status["queue"]["drops"].as_u64().unwrap();
    assert!(
        u64::from(sent - arrived) <= dropped,
        "{sent} sent, {arrived} arrived, {dropped} dropped by the queue"
    );
    for (protocol, counter) in [("Udp:", "InErrors"), ("Udp:", "InCsumErrors"), ("Tcp:", "InCsumErrors")] {
        assert_eq!(pair.right.counter(protocol, counter), 0, "{protocol} {counter}");
    }
}
