//! Faults with both hosts and routers: a thousand short connections, and an outage during transfers of each
//! controller.

use std::thread::sleep;
use std::time::{Duration, Instant};

use airpath_linux::host::CONTROLLERS;

use crate::support::OwnCgroup;
use crate::support::lab::{Daemon, Lab, output};
use crate::tools::check::{HOLD, check_host};
use crate::tools::namespaces::transfer;
use crate::tools::traces::{HOSTS, ROUTERS, assert_no_new_traces, traces_before};

/// The protocols, each over a separate bottleneck.
const PROTOCOLS: [&str; 2] = ["xcp", "vcp"];

fn counter(daemon: &Daemon, name: &str) -> u64 {
    daemon.status()["counters"][name].as_u64().unwrap()
}

fn sends(lab: &Lab, controller: &str, bytes: usize) -> Duration {
    transfer(&lab.a, (&lab.b, "10.9.0.2"), controller, bytes)
}

fn detach(lab: &Lab, daemon: Daemon) {
    output(env!("CARGO_BIN_EXE_airpathd"), &["detach", "--netns", &lab.a.path()]);
    assert!(daemon.end().1);
}

#[test]
fn a_thousand_short_connections_leave_nothing_behind() {
    check_host(HOLD, || {
        let (group, lab) = (OwnCgroup::join("airpath-short"), Lab::new("100mbit"));
        let before = [HOSTS, ROUTERS].map(|names| (names, traces_before(&lab.a, names)));
        for protocol in PROTOCOLS {
            let hosts = lab.hosts(&group.folder);
            let router = lab.router(&["--protocol", protocol, "--rate", "100Mbit"]);
            let began = Instant::now();
            // Our controllers and the kernel's.
            let controllers = [&CONTROLLERS[..], &["cubic", "reno"]].concat();
            for number in 0..1000 {
                sends(&lab, controllers[number % controllers.len()], 2000);
            }
            println!("{protocol}: {:.2?}; {}", began.elapsed(), router.status());
            assert!(counter(&hosts, "started") >= 700 && counter(&router, "data_packets") >= 100);
            assert_eq!((counter(&hosts, "malformed"), counter(&router, "malformed")), (0, 0));
            assert_eq!(lab.b.tcp_counter("InCsumErrors"), 0);
            detach(&lab, router);
            output(env!("CARGO_BIN_EXE_airpathd"), &["detach", "host"]);
            assert!(hosts.end().1);
            for (names, before) in &before {
                assert_no_new_traces(&lab.a, *names, before);
            }
        }
        Ok(())
    });
}

/// The link behind a router is down for ten seconds during a transfer of each controller. All transfers
/// complete.
#[test]
fn transfers_of_all_controllers_survive_an_outage() {
    check_host(HOLD, || {
        let group = OwnCgroup::join("airpath-outage");
        let labs = PROTOCOLS.map(|_| Lab::new("10mbit"));
        let before = [HOSTS, ROUTERS].map(|names| (names, traces_before(&labs[0].a, names)));
        let hosts = Lab::hosts_of(&labs.each_ref(), &[], &group.folder);
        let routers =
            [0, 1].map(|place| labs[place].router(&["--protocol", PROTOCOLS[place], "--rate", "10Mbit"]));
        let cables =
            |state| labs.iter().for_each(|lab| drop(lab.b.command(&format!("ip link set vb {state}"))));
        std::thread::scope(|scope| {
            let transfers: Vec<_> = std::iter::zip(&labs, PROTOCOLS)
                .flat_map(|(lab, protocol)| CONTROLLERS.map(|controller| (lab, protocol, controller)))
                // Together, more data than the link carries in half a second.
                .map(|(lab, protocol, controller)| {
                    (protocol, controller, scope.spawn(move || sends(lab, controller, 800_000)))
                })
                .collect();
            sleep(Duration::from_millis(500));
            for (protocol, controller, transfer) in &transfers {
                assert!(!transfer.is_finished(), "{controller} over {protocol}: the transfer has ended");
            }
            cables("down");
            sleep(Duration::from_secs(10));
            for daemon in routers.iter().chain([&hosts]) {
                daemon.status();
            }
            for (protocol, controller, transfer) in &transfers {
                assert!(!transfer.is_finished(), "{controller} over {protocol}: no outage");
            }
            cables("up");
            for (protocol, controller, transfer) in transfers {
                let took = transfer.join().unwrap();
                println!("{controller} over {protocol}: {took:.2?}");
                // Retransmission timers double: a timer that expires shortly before the end of the outage
                // expires next when the time since the start of the outage has doubled.
                assert!(took < Duration::from_secs(30), "{controller} over {protocol}: {took:?}");
            }
        });
        for router in &routers {
            let status = router.status();
            assert_eq!(status["queue"]["kind"], "tbf", "{status}");
            assert_eq!(status["gaps"], 0, "{status}");
            assert_eq!(status["counters"]["malformed"], 0, "{status}");
        }
        assert_eq!((counter(&hosts, "started"), counter(&hosts, "malformed")), (10, 0));
        for lab in &labs {
            assert_eq!(lab.a.tcp_counter("InCsumErrors") + lab.b.tcp_counter("InCsumErrors"), 0);
        }
        for (lab, router) in std::iter::zip(&labs, routers) {
            detach(lab, router);
        }
        drop(hosts);
        for (names, before) in &before {
            assert_no_new_traces(&labs[0].a, *names, before);
        }
        Ok(())
    });
}
