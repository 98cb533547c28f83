//! Congestion signals of the kernel's TCP, over a wire between two hosts: timeouts, repaired losses of last
//! packets, marks.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use airpath_linux::host::{Record, Told};

use crate::support::packets;
use crate::tools::check::{HOLD, check_host};
use crate::tools::path::Path;
use crate::tools::wire::Way;

/// One-way delay.
const DELAY: Duration = Duration::from_millis(20);
/// Longest frame without data, bytes.
const LONGEST_WITHOUT_DATA: usize = 500;
/// Numbers of congestion signals.
const LOSS: u8 = 0;
const MARK: u8 = 1;
const TIMEOUT: u8 = 2;

fn signals(records: &[Record]) -> Vec<u8> {
    let signal = |record: &Record| match record.told {
        Told::Congestion(event) => Some(event.signal),
        _ => None,
    };
    records.iter().filter_map(signal).collect()
}

/// All data is dropped for half a second: data in flight at that time is retransmitted in slow start, not one
/// segment per round trip.
#[test]
fn after_a_timeout_the_window_grows_again() {
    const OUTAGE: Duration = Duration::from_millis(500);
    check_host(HOLD, || {
        // One controller with its own rule, and one that is Reno without routers.
        for controller in ["airpath_westw", "airpath_xcp"] {
            let (mut data, mut began) = (0, None::<Instant>);
            let path = Path::new(DELAY, move |way, frame| {
                if way == Way::Back || frame.len() < LONGEST_WITHOUT_DATA {
                    return true;
                }
                data += 1;
                data < 250 || began.get_or_insert_with(Instant::now).elapsed() > OUTAGE
            });
            let began = Instant::now();
            let (records, _) = path.transfer(controller, 1_000_000);
            let took = began.elapsed();
            println!("{controller}: {took:.1?}, signals {:?}", signals(&records));
            let mut timed_out = false;
            let mut since = 0;
            for record in &records {
                match record.told {
                    Told::Congestion(event) => {
                        timed_out = event.signal != LOSS && (timed_out || event.signal == TIMEOUT);
                    }
                    Told::Ack(event) if timed_out => {
                        assert!(!event.in_recovery, "{controller}: {record:?}");
                        since += 1;
                    }
                    _ => {}
                }
            }
            assert!(since > 10, "{controller}: {since} acknowledgments after a timeout");
            assert!(took < Duration::from_secs(5), "{controller}: {took:?}");
        }
        Ok(())
    });
}

/// In slow start the window grows to twice the data that the application keeps in flight, as with every
/// controller of the kernel. This includes XCP's controller if no router gives feedback.
#[test]
fn the_slow_start_window_is_twice_the_data_in_flight() {
    const SEGMENT: usize = 1400;
    const BURST: usize = 15;
    check_host(HOLD, || {
        for controller in ["airpath_westw", "airpath_xcp"] {
            let path = Path::new(DELAY, |_, _| true);
            let (mut sender, mut receiver) = path.pair.connect(controller);
            let (burst, mut arrived) = (vec![1; BURST * SEGMENT], vec![0; BURST * SEGMENT]);
            let (began, mut records, mut acknowledged) = (Instant::now(), Vec::new(), 0);
            // Long enough for XCP to fall back to Reno. Each burst is sent after the acknowledgment of the
            // last one, so that no two are in flight.
            for bursts in 1..=40 {
                sender.write_all(&burst).unwrap();
                receiver.read_exact(&mut arrived).unwrap();
                while acknowledged < bursts * burst.len() {
                    assert!(
                        began.elapsed() < Duration::from_secs(60),
                        "{acknowledged} bytes of {bursts} bursts"
                    );
                    std::thread::sleep(DELAY / 4);
                    let news = path.news();
                    let advance = |record: &Record| match record.told {
                        Told::Ack(event) => event.advance as usize,
                        _ => 0,
                    };
                    acknowledged += news.iter().map(advance).sum::<usize>();
                    records.extend(news);
                }
            }
            let window = records.iter().map(|record| record.window).max().unwrap() as usize / SEGMENT;
            println!("{controller}: {window} segments, bursts of {BURST}");
            assert!((2 * BURST - 2..4 * BURST).contains(&window), "{controller}: {window} segments");
        }
        Ok(())
    });
}

/// The last packet before a pause is dropped at random, and the kernel's tail loss probe repairs it. VCP,
/// whose path has the code "low", takes it for a channel error.
#[test]
fn a_packet_repaired_by_a_tail_loss_probe_is_a_loss() {
    // The probe's acknowledgment takes a round trip, and the retransmission timer 200 ms more.
    check_host(Duration::from_millis(200), || {
        let records = with_a_lost_last_packet();
        println!("signals {:?}", signals(&records));
        let smallest = records.iter().map(|record| record.window).min().unwrap();
        let kept = signals(&records) == [LOSS] && smallest >= records[0].window;
        kept.then_some(()).ok_or_else(|| format!("signals {:?}, {smallest} bytes", signals(&records)))
    });
}

/// Returns VCP's events over a path that drops the sixth packet with data, the last before a pause.
fn with_a_lost_last_packet() -> Vec<Record> {
    /// Payload of the first segments, which carry an option of 8 bytes.
    const SEGMENT: usize = 1440;
    let mut data = 0;
    let path = Path::new(DELAY, move |way, frame| {
        data += usize::from(way == Way::There && frame.len() > LONGEST_WITHOUT_DATA);
        let lost = data == 6;
        data += usize::from(lost);
        !lost
    });
    let (mut sender, mut receiver) = path.pair.connect("airpath_vcp");
    let mut arrived = [0; 6 * SEGMENT];
    sender.write_all(&[1; 6 * SEGMENT]).unwrap();
    // The probe is sent when the timer expires, some 240 ms later. Later acknowledgments show that it
    // repaired a loss.
    std::thread::sleep(Duration::from_millis(420));
    receiver.read_exact(&mut arrived).unwrap();
    for _ in 0..3 {
        sender.write_all(&[1; 6 * SEGMENT]).unwrap();
        receiver.read_exact(&mut arrived).unwrap();
    }
    path.records()
}

/// Marks are echoed until the sender signals its reaction; until then the window does not grow (RFC 3168,
/// section 6.1.2).
#[test]
fn acknowledgments_with_echoed_marks_do_not_grow_the_window() {
    check_host(HOLD, || {
        let mut data = 0;
        let path = Path::new(DELAY, move |way, frame| {
            if way == Way::There && frame.len() > LONGEST_WITHOUT_DATA {
                data += 1;
                if data % 100 == 50 {
                    packets::mark(frame);
                }
            }
            true
        });
        for namespace in [&path.pair.left, &path.pair.right] {
            namespace.within(|| std::fs::write("/proc/sys/net/ipv4/tcp_ecn", "1").unwrap());
        }
        let (records, _) = path.transfer("airpath_ebe", 1_000_000);
        let mut echoes = 0;
        for pair in records.windows(2) {
            if let Told::Ack(event) = pair[1].told
                && event.marked
            {
                echoes += 1;
                assert_eq!(pair[0].window, pair[1].window, "{:?}", pair[1]);
            }
        }
        println!("{echoes} echoes, signals {:?}", signals(&records));
        assert!(echoes > 10, "{echoes} echoes");
        assert!(signals(&records).contains(&MARK));
        Ok(())
    });
}
