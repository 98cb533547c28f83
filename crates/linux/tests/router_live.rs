//! The router's daemon over real queues with real traffic, in network namespaces of our own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/can_load.rs"]
mod can_load;
#[path = "support/lab.rs"]
mod lab;

use std::time::{Duration, Instant};

use can_load::can_load;
use lab::Lab;

const EBE: [&str; 8] = ["--protocol", "vcp", "--capacity", "ebe", "--rate", "10Mbit", "--buffer", "575kB"];

/// A router that estimates sees its bottleneck change, with nothing but what it counts and the queue to go by.
#[test]
fn the_estimate_follows_a_bottleneck_that_changes() {
    if !can_load("router live") {
        return;
    }
    let lab = Lab::new("step", "10mbit");
    let daemon = lab.router(&EBE);
    let traffic = std::thread::scope(|scope| {
        let load = scope.spawn(|| lab.bulk(12));
        std::thread::sleep(Duration::from_secs(2));
        for (rate, bits) in [("10mbit", 10e6), ("15mbit", 15e6), ("5mbit", 5e6)] {
            lab.rate("change", rate);
            std::thread::sleep(Duration::from_millis(1500));
            let began = Instant::now();
            let mut estimates = Vec::new();
            while began.elapsed() < Duration::from_millis(1500) {
                let status = daemon.status();
                estimates.push(status["observed"]["capacity_estimate_bps"].as_f64().unwrap());
                assert_eq!(status["queue"]["kind"], "tbf");
                std::thread::sleep(Duration::from_millis(200));
            }
            let mean = estimates.iter().sum::<f64>() / estimates.len() as f64;
            println!("{rate}: {:.2} Mbit/s estimated", mean / 1e6);
            // The mean of about seven estimates of 200 ms each; the burst of the bucket alone is 2 % of an interval at 10 Mbit/s.
            assert!((mean / bits - 1.0).abs() < 0.1, "{rate}: {estimates:?}");
        }
        load.join().unwrap()
    });
    let goodput = traffic["end"]["sum_received"]["bits_per_second"].as_f64().unwrap();
    assert!(goodput > 5e6, "{goodput}");
    assert_eq!(lab.counter(&lab.b, "TcpInCsumErrors"), 0);
    let status = daemon.status();
    let counters = &status["counters"];
    // All that the kernel sent was counted: the queue discipline has sent what came less what waits and was dropped.
    assert!(counters["packets"].as_u64().unwrap() > 5000, "{status}");
    assert_eq!(counters["written"], 0, "nobody here speaks VCP");
}

/// Codes on packets that ask for them, at a known load, against the load factor's own regions.
#[test]
fn packets_that_ask_get_the_code_of_the_load() {
    if !can_load("router live") {
        return;
    }
    let lab = Lab::new("code", "10mbit");
    let daemon = lab.router(&["--protocol", "vcp", "--capacity", "configured", "--rate", "10Mbit"]);
    // TCP whose packets carry 01: the socket option of the field's other six bits sets it on Linux for UDP only, so that ping
    // and iperf3 cannot; the queue is loaded by ordinary traffic, and the load factor read.
    lab.bulk(3);
    let status = daemon.status();
    let load = status["observed"]["load_factor"].as_f64().unwrap();
    assert!(status["observed"]["input_rate_bps"].as_f64().unwrap() >= 0.0, "{status}");
    assert!(load < 0.8, "idle again within an interval or two: {load}");
    assert!(status["intervals"].as_u64().unwrap() >= 10, "{status}");
    assert_eq!(status["gaps"], 0);
}

/// Losses at the far end are those of the chain, and reach no other device.
#[test]
fn losses_are_drawn_where_they_were_asked_for() {
    if !can_load("router live") {
        return;
    }
    let lab = Lab::new("loss", "50mbit");
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
