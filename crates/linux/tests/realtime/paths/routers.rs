//! The router daemon over real queues with real traffic of few Mbit/s each, and controllers with its
//! feedback.

use std::time::{Duration, Instant};

use crate::support::lab::{Daemon, Lab};

const EBE: [&str; 8] = ["--protocol", "vcp", "--capacity", "ebe", "--rate", "10Mbit", "--buffer", "575kB"];

const BUSY: [&str; 8] = ["--protocol", "vcp", "--capacity", "busy", "--rate", "3Mbit", "--poll", "2ms"];

/// EBE estimates a changing bottleneck from the router's packet counters and the queue alone.
pub(crate) fn ebe_follows_a_changing_bottleneck(lab: &Lab) {
    estimates_follow(lab, &EBE);
}

/// `busy` does the same by polling. It measures the rate itself, and keeps it without traffic.
pub(crate) fn busy_follows_a_changing_bottleneck(lab: &Lab) {
    let (daemon, measured) = estimates_follow(lab, &BUSY);
    for (estimate, departures) in measured {
        // An estimate differs by at most a packet or an interval of 2 ms in a memory of 100 ms; the times of the two
        // readings of the departures are known to some milliseconds of 1.5 s.
        assert!((estimate / departures - 1.0).abs() < 0.03, "{estimate}, {departures} bit/s departed");
    }
    // The full queue needs a second to drain.
    std::thread::sleep(Duration::from_millis(1500));
    let status = daemon.status();
    println!("busy without traffic: {:.2} Mbit/s; {status}", estimate_of(&status) / 1e6);
    assert_eq!((&status["capacity"], &status["queue"]["bytes"]), (&"busy".into(), &0.into()));
    assert!((estimate_of(&status) / 5e6 - 1.0).abs() < 0.1, "{status}");
}

fn estimate_of(status: &serde_json::Value) -> f64 {
    status["observed"]["capacity_estimate_bps"].as_f64().unwrap()
}

/// Returns the number of bytes that the bottleneck has sent, and the time at which it was read.
fn sent(lab: &Lab) -> (f64, Instant) {
    let text = lab.a.command("tc -s qdisc show dev va");
    let bytes = text.split_whitespace().skip_while(|word| *word != "Sent").nth(1).unwrap();
    (bytes.parse().unwrap(), Instant::now())
}

/// Checks that the router's estimate follows a changing bottleneck. Returns the daemon, and for each rate the mean
/// estimate and the rate of departures, bit/s; packets always wait.
fn estimates_follow(lab: &Lab, words: &[&str]) -> (Daemon, Vec<(f64, f64)>) {
    let daemon = lab.router(words);
    let mut measured = Vec::new();
    let traffic = std::thread::scope(|scope| {
        let load = scope.spawn(|| lab.bulk(12));
        std::thread::sleep(Duration::from_secs(2));
        for (rate, bits) in [("10mbit", 10e6), ("15mbit", 15e6), ("5mbit", 5e6)] {
            lab.rate("change", rate);
            std::thread::sleep(Duration::from_millis(1500));
            let (before, began) = sent(lab);
            let mut estimates = Vec::new();
            while began.elapsed() < Duration::from_millis(1500) {
                let status = daemon.status();
                estimates.push(estimate_of(&status));
                assert_eq!(status["queue"]["kind"], "tbf");
                std::thread::sleep(Duration::from_millis(200));
            }
            let (after, ended) = sent(lab);
            let departures = 8.0 * (after - before) / (ended - began).as_secs_f64();
            let mean = estimates.iter().sum::<f64>() / estimates.len() as f64;
            println!(
                "{}, {rate}: {:.3} Mbit/s estimated, {:.3} departed; {estimates:.0?}",
                words[3],
                mean / 1e6,
                departures / 1e6
            );
            // For EBE: the mean of about seven estimates of 200 ms each; the burst of the bucket alone is 2 % of an
            // interval at 10 Mbit/s.
            assert!((mean / bits - 1.0).abs() < 0.1, "{words:?}, {rate}: {estimates:?}");
            measured.push((mean, departures));
        }
        load.join().unwrap()
    });
    let goodput = traffic["end"]["sum_received"]["bits_per_second"].as_f64().unwrap();
    assert!(goodput > 5e6, "{goodput}");
    assert_eq!(lab.b.tcp_counter("InCsumErrors"), 0);
    let status = daemon.status();
    let counters = &status["counters"];
    // All packets were counted: the queue discipline sent the arrived packets except those that are waiting
    // or were dropped.
    assert!(counters["packets"].as_u64().unwrap() > 5000, "{status}");
    assert_eq!(counters["written"], 0, "no VCP packets pass");
    (daemon, measured)
}

/// VCP end to end: its controller in the kernel, with a router that estimates a changing bottleneck. The
/// host's programs run before the router's: they set the codes that the router raises.
pub(crate) fn vcp_follows_an_estimated_bottleneck(lab: &Lab) {
    let daemon = lab.router(&EBE);
    let mut goodputs = Vec::new();
    let report = std::thread::scope(|scope| {
        // Longer than the three rates take on an idle machine: on a busy machine the requests to the daemon
        // take longer.
        let load = scope.spawn(|| lab.bulk_by("airpath_vcp", 32));
        for rate in ["10mbit", "15mbit", "5mbit"] {
            lab.rate("change", rate);
            std::thread::sleep(Duration::from_secs(5));
            let before = daemon.status();
            std::thread::sleep(Duration::from_secs(3));
            let after = daemon.status();
            let bytes = |status: &serde_json::Value| status["counters"]["bytes"].as_f64().unwrap();
            let seconds = after["uptime_s"].as_f64().unwrap() - before["uptime_s"].as_f64().unwrap();
            let carried = 8.0 * (bytes(&after) - bytes(&before)) / seconds;
            let estimate = after["observed"]["capacity_estimate_bps"].as_f64().unwrap();
            let queue = after["queue"]["bytes"].as_f64().unwrap();
            println!(
                "{rate}: {:.2} Mbit/s carried, {:.2} estimated, {queue} bytes wait",
                carried / 1e6,
                estimate / 1e6
            );
            goodputs.push(carried);
        }
        load.join().unwrap()
    });
    let counters = daemon.status()["counters"].clone();
    assert!(counters["data_packets"].as_u64().unwrap() > 5000, "VCP's packets carry codes: {counters}");
    assert!(counters["written"].as_u64().unwrap() > 100, "and some were raised: {counters}");
    assert_eq!(lab.a.tcp_counter("InCsumErrors") + lab.b.tcp_counter("InCsumErrors"), 0, "{report}");
    for (carried, rate) in goodputs.iter().zip([10e6, 15e6, 5e6]) {
        // Utilization of a protocol whose target is 98 % and that probes in steps: at least 80 %, and never
        // more than the link.
        assert!((0.8..1.1).contains(&(carried / rate)), "{goodputs:?}");
    }
}

/// XCP end to end, with a router that has a configured capacity.
pub(crate) fn xcp_keeps_to_the_configured_capacity(lab: &Lab) {
    let daemon = lab.router(&["--protocol", "xcp", "--capacity", "configured", "--rate", "10Mbit"]);
    let report = lab.bulk_by("airpath_xcp", 6);
    let status = daemon.status();
    let counters = &status["counters"];
    let data = counters["data_packets"].as_u64().unwrap();
    assert!(data > 3000 && counters["written"].as_u64().unwrap() > data / 2, "{counters}");
    assert_eq!(counters["malformed"], 0);
    assert_eq!(counters["unguided"], 0, "{counters}");
    assert_eq!(lab.a.tcp_counter("InCsumErrors") + lab.b.tcp_counter("InCsumErrors"), 0);
    let goodput = report["end"]["sum_received"]["bits_per_second"].as_f64().unwrap();
    println!("{:.2} Mbit/s of goodput; {counters}", goodput / 1e6);
    // The round-trip time of this path is some milliseconds, queue included, since no delay can be added in
    // this kernel. XCP's equilibrium is C - (beta/alpha) Q/d. Each packet of 1514 bytes that is always
    // waiting costs 0.565 * 1514 B / 5 ms = 1.4 Mbit/s there: one to three of them, minus 5 % for headers.
    assert!((0.5..0.9).contains(&(goodput / 10e6)), "{goodput}");
    assert_eq!(status["queue"]["drops"], 0);
}

/// Losses at the far end, over a link of 50 Mbit/s, match the chain, and affect no other device.
pub(crate) fn losses_occur_only_on_the_configured_device(lab: &Lab) {
    let path = std::env::temp_dir().join(format!("airpath-loss-{}.toml", std::process::id()));
    let text = "[router]\nprotocol = \"vcp\"\nrate = \"50Mbit\"\n[router.loss]\nkind = \"gilbert\"\nmean_loss = 0.1\nmean_burst = 2.0\n";
    std::fs::write(&path, text).unwrap();
    let daemon = lab.router(&["--config", path.to_str().unwrap()]);
    std::fs::remove_file(&path).unwrap();
    let words = ["ping", "-q", "-i", "0.002", "-c", "1000", "-W", "1", "10.9.0.2"];
    let answer = lab.spawn(&lab.a, &words).text();
    assert!(answer.contains("1000 packets transmitted"), "{answer}");
    let counters = &daemon.status()["counters"];
    let (lost, passed) = (counters["lost"].as_u64().unwrap(), counters["unlost"].as_u64().unwrap());
    let share = lost as f64 / (lost + passed) as f64;
    // Five standard deviations of a share of 0.1 in 1000 with the correlation 0.44 of bursts of two.
    assert!((share - 0.1).abs() < 5.0 * 0.0153, "{share}");
}
