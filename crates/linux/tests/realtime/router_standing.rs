//! The daemon's router over a live token bucket, compared with the simulator's router
//! (`support/standing.rs`). `tests/it/router_standing.rs` does the same with a virtual clock.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use airpath_linux::host::HostConfig;
use airpath_linux::router::{Capacity, Protocol, Router};

use crate::support::standing::{OF_VCP, OF_XCP, Recording, Step, compare_with_vcp, compare_with_xcp, config};
use crate::support::{OwnCgroup, clock, load};
use crate::tools::check::{HOLD, check_host};
use crate::tools::namespaces::Pair;

/// Send buffer of the senders, bytes of memory: the queue stays at tens of kilobytes and never
/// overflows.
const WINDOW: u32 = 100_000;

/// Sends `traffic` through the daemon's router over a token bucket, and records `quantities` at each sample.
fn traffic_over(
    protocol: Protocol,
    quantities: &[&str],
    traffic: impl Fn(&Pair) + Sync,
) -> Result<Recording, String> {
    let recording = recorded_traffic_over(protocol, quantities, traffic);
    let looks = recording.steps.windows(2).map(|pair| pair[1].looked.clock - pair[0].looked.clock);
    // The router ignores such a pause, including the packets in it.
    match looks.max().map(Duration::from_nanos) {
        Some(longest) if longest > HOLD => Err(format!("{longest:.2?} between two looks")),
        _ => Ok(recording),
    }
}

fn recorded_traffic_over(
    protocol: Protocol,
    quantities: &[&str],
    traffic: impl Fn(&Pair) + Sync,
) -> Recording {
    let (group, pair) = (OwnCgroup::join("airpath-standing"), Pair::through_a_middle());
    pair.slow("rate 10mbit burst 4kb limit 575kb", WINDOW);
    let devices = Some(pair.devices());
    // The host starts before the router, which raises the codes that the host's programs set.
    let _host = load(&HostConfig { cgroup: group.folder.clone(), devices, ..HostConfig::default() });
    pair.middle.as_ref().unwrap().within(|| {
        let mut router = Router::start_recording(config(protocol, Capacity::Ebe)).unwrap();
        let mut recording = Recording { steps: Vec::new(), passed: Vec::new() };
        let mut note = |router: &Router| {
            let observed = quantities.iter().map(|name| router.observed(name).unwrap_or(f64::NAN)).collect();
            recording.steps.push(Step { looked: *router.looked(), observed });
            recording.passed.extend(router.passed().unwrap());
        };
        note(&router);
        std::thread::scope(|scope| {
            let traffic = scope.spawn(|| traffic(&pair));
            while !traffic.is_finished() {
                std::thread::sleep(Duration::from_nanos(router.wait().as_nanos()));
                router.step(clock()).unwrap();
                note(&router);
            }
            traffic.join().unwrap();
        });
        // Packets of two processors may be recorded out of order.
        recording.passed.sort_by_key(|packet| packet.count);
        recording
    })
}

#[test]
fn vcp_over_ebe_equals_the_simulated_router() {
    check_host(HOLD, || {
        let recording = traffic_over(Protocol::Vcp, OF_VCP, |pair| {
            std::thread::scope(|scope| {
                scope.spawn(|| pair.transfer("cubic", 6_000_000));
                std::thread::sleep(Duration::from_secs(2));
                pair.transfer("airpath_vcp", 500_000);
            });
        })?;
        compare_with_vcp(&recording);
        Ok(())
    });
}

#[test]
fn xcp_over_ebe_equals_the_simulated_router_with_the_sampled_queue() {
    check_host(HOLD, || {
        let recording = traffic_over(Protocol::Xcp, OF_XCP, |pair| {
            std::thread::scope(|scope| {
                scope.spawn(|| pair.transfer("cubic", 4_000_000));
                pair.transfer("airpath_xcp", 4_000_000);
            });
        })?;
        compare_with_xcp(&recording);
        Ok(())
    });
}

/// Packets pass while the programs are loaded: the router counts the arrival of each packet whose departure
/// it counts.
#[test]
fn a_router_that_starts_under_traffic_counts_packets_on_both_sides_of_the_queue() {
    check_host(HOLD, || {
        let pair = Pair::through_a_middle();
        pair.slow("rate 10mbit burst 4kb limit 575kb", WINDOW);
        let over = AtomicBool::new(false);
        let looks = pair.middle.as_ref().unwrap().within(|| {
            let socket = UdpSocket::bind("10.77.1.1:0").unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        let _ = socket.send_to(&[0; 100], "10.77.1.2:9");
                        std::thread::sleep(Duration::from_millis(1));
                    }
                });
                std::thread::sleep(Duration::from_millis(100));
                let router = Router::start_recording(config(Protocol::Vcp, Capacity::Ebe));
                let looks = router.and_then(|mut router| {
                    let mut looks = Vec::new();
                    for _ in 0..20 {
                        looks.push((router.passed()?.len() as u64, router.looked().sample.departed_packets));
                        std::thread::sleep(Duration::from_millis(10));
                        router.step(clock())?;
                    }
                    Ok(looks)
                });
                over.store(true, Ordering::Relaxed);
                looks
            })
        });
        let (mut came, mut left) = (0, 0);
        for (arrived, departed) in looks.unwrap() {
            (came, left) = (came + arrived, left + departed);
            assert!(left <= came, "{left} packets departed, {came} had arrived");
        }
        assert!(came > 50, "{came} packets");
        Ok(())
    });
}
