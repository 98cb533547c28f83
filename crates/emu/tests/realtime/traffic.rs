//! The kernel's own TCP through the emulator in real time.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use airpath_emu::Side;
use airpath_plan::RatePlan;

use crate::check::{assert_valid, check};
use crate::support::*;

#[test]
fn a_file_arrives_completely_and_every_packet_is_accounted_for() {
    check(|| {
        let plan = lossy(300);
        let emulation = emulation(&plan)?;
        let took = transfer(&emulation, 1_000_000);
        until_connections_are_over(&emulation);
        thread::sleep(Duration::from_millis(250)); // the last acknowledgments, and the end of an interval
        let emulated = emulation.stop(None).unwrap();
        let packets = emulated.validity.measured.packets;
        assert_eq!(
            packets.sent,
            packets.unknown + packets.delivered + packets.lost + packets.inside,
            "{packets:?}"
        );
        assert_eq!((packets.unknown, packets.inside), (0, 0), "{packets:?}");
        assert!(packets.lost > 0, "one in a hundred should be lost");
        assert_eq!(sum(&emulated.outcome, "links", "dropped_packets_total"), packets.lost as i64);
        assert_eq!(emulated.validity.measured.device_drops, [0, 0]);
        // At most 691 segments of 1448 bytes and as many acknowledgments, and retransmissions; at 10 Mbit/s
        // this takes 0.83 s.
        let departed = sum(&emulated.outcome, "links", "departed_bytes");
        assert!((1_000_000..1_200_000).contains(&departed), "{departed} bytes");
        assert!(took > 0.8 && took < 20.0, "{took} s");
        Some(())
    });
}

#[test]
fn ping_answers_after_the_round_trip() {
    check(|| {
        let links = vec![
            link("there", constant(10_000_000), 30.0, 100),
            link("back", RatePlan::Unlimited, 20.0, 100),
        ];
        let plan = plan(30, links, 1);
        let emulation = emulation(&plan)?;
        let mut ping = Command::new("ping");
        ping.args(["-c", "3", "-i", "0.2", "10.8.0.1"]).env("LC_ALL", "C").stdout(Stdio::piped());
        let Ok(ping) = emulation.spawn(Side::Senders, &mut ping) else {
            skipped("there is no ping");
            return None;
        };
        let said = String::from_utf8(ping.wait_with_output().unwrap().stdout).unwrap();
        assert_valid(&emulation.stop(None).unwrap().validity.problems);
        assert!(said.contains("3 received"), "{said}");
        let least = said.split("mdev = ").nth(1).and_then(|times| times.split('/').next()).unwrap();
        let least: f64 = least.parse().unwrap();
        assert!((50.0..51.5).contains(&least), "50 ms of delay: {said}");
        Some(())
    });
}
