//! Competing traffic on the same path: the kernel's own controllers keep their share of a bottleneck, and
//! datagrams pass unchanged.

use airpath_linux::host::CONTROLLERS;

use crate::paths::Path;
use crate::support::lab::Lab;
use crate::tools::datagrams::Stream;

/// Duration of the flows, and the part at its end that counts, seconds. Without a router, VCP takes about ten
/// seconds to detect a full path.
const SECONDS: usize = 25;
const COUNTED: usize = 10;

/// Checks the shares of each of our controllers, the kernel's CUBIC and its Reno over one bottleneck. It has
/// no router, so that XCP and VCP are Reno there.
pub(crate) fn bottlenecks_are_shared(paths: &[Path; CONTROLLERS.len()]) {
    let shares = std::thread::scope(|scope| {
        let flows = CONTROLLERS.each_ref().map(|ours| [*ours, "cubic", "reno"]);
        let running: Vec<_> = std::iter::zip(paths, flows)
            .map(|(path, flows)| flows.map(|flow| (flow, scope.spawn(move || path.pair.bulk(flow, SECONDS)))))
            .collect();
        let share = |seconds: Vec<f64>| seconds[SECONDS - COUNTED..].iter().sum::<f64>() / COUNTED as f64;
        running
            .into_iter()
            .map(|path| path.map(|(flow, running)| (flow, share(running.join().unwrap()))))
            .collect::<Vec<_>>()
    });
    for flows in &shares {
        println!("{}", flows.map(|(flow, share)| format!("{flow} {share:.2}")).join(", "));
    }
    for (path, flows) in std::iter::zip(paths, &shares) {
        let queue = path.middle().command("tc -s qdisc show dev out");
        assert!(!queue.contains("dropped 0,"), "this was the bottleneck: {queue}");
        let fair = flows.iter().map(|(_, share)| share).sum::<f64>() / flows.len() as f64;
        for (flow, share) in flows {
            assert!(*share >= fair / 4.0, "{flow}: {flows:?} Mbit/s");
        }
    }
}

/// Checks a constant stream of datagrams with each ECN field, which competes with VCP, through the host's
/// programs and a VCP router.
pub(crate) fn datagrams_pass_a_vcp_router_unchanged(path: &Path) {
    let pair = &path.pair;
    let router = Lab::router_at((path.middle(), "out"), &[], &["--protocol", "vcp", "--rate", "10Mbit"]);
    let stream = Stream::start(&pair.left, (&pair.right, "10.77.0.2"));
    let took = pair.transfer("airpath_vcp", 4_000_000);
    let (sent, arrived) = stream.end();
    let status = router.status();
    println!("{sent} sent, {arrived} arrived in {took:.2?}; {status}");
    assert!(sent > 500, "{sent}");
    // The router was active: it raised codes of VCP's packets during the stream.
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
