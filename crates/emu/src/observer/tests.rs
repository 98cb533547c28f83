//! The observer in virtual time: slow queries, and a delayed thread.

use std::cell::Cell;
use std::net::SocketAddrV4;
use std::sync::mpsc::channel;

use super::*;
use crate::clock::virtual_time::VirtualTime;
use crate::plans::{constant, link, plan};
use crate::sock_diag::TcpSocket;
use crate::tcp_info::TcpInfo;

/// A host with one connection, over which one byte is sent between queries.
struct Host {
    side: Side,
    time: &'static VirtualTime,
    /// Durations of the next queries; the last one is that of all later ones.
    takes: Vec<Duration>,
    asked: Cell<u64>,
}

impl Sockets for Host {
    fn sockets(&self) -> io::Result<Vec<TcpSocket>> {
        let asked = self.asked.get();
        self.asked.set(asked + 1);
        self.time.pass(*self.takes.get(asked as usize).or(self.takes.last()).unwrap());
        let end = |side: Side| SocketAddrV4::new(side.address(0).unwrap(), 1000);
        let info = TcpInfo { bytes_sent: Some(asked), bytes_received: Some(asked), ..TcpInfo::default() };
        Ok(vec![TcpSocket {
            here: end(self.side),
            there: end(self.side.other()),
            cookie: 1 + self.side.index() as u64,
            unread_bytes: 0,
            congestion_control: None,
            info,
        }])
    }

    fn destroyed(&self) -> io::Result<(Vec<TcpSocket>, bool)> {
        Ok((Vec::new(), false))
    }
}

/// Observes for 1050 ms, in intervals of 100 ms. `takes` contains the durations of the queries of one host;
/// wake-ups from a time on (in ms) are delayed by a number of ms.
fn observe(takes: &[Duration], delays: &[(u64, u64)]) -> Sampled {
    let (clock, time) = VirtualTime::start();
    let at = |millis| Timestamp::ZERO + Duration::from_millis(millis);
    for &(from, by) in delays {
        time.delay(at(from), Duration::from_millis(by));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let wish = Arc::clone(&stop);
    time.at(at(1050), move || wish.store(true, Ordering::Relaxed));
    let (requests, to_link_thread) = channel::<Request>();
    let plan = plan(
        10,
        vec![link("there", constant(1_000_000), 1.0, 10), link("back", constant(1_000_000), 1.0, 10)],
        1,
    );
    let mut exchange = Exchange::new(&plan, &[], 1, 1).unwrap();
    // The link thread is prompt.
    time.hold_while(move |_, _| {
        for request in to_link_thread.try_iter() {
            request(&mut exchange);
        }
        false
    });
    let hosts = Side::BOTH.map(|side| Host { side, time, takes: takes.to_vec(), asked: Cell::new(0) });
    let (ledger, interval) = (Ledger::new(0), Duration::from_millis(100));
    let late = Arc::default();
    let mut observation =
        Observation { hosts, ledger, clock, interval, requests, sampled: Sampled::default(), late };
    observation.run(&stop).unwrap();
    Sampled { late: observation.late.load(Ordering::Relaxed), ..observation.sampled }
}

const QUICK: Duration = Duration::from_micros(100);

#[test]
fn every_interval_is_sampled_in_time() {
    let Sampled { times, late, max_s, .. } = observe(&[QUICK], &[]);
    // At the start, ten intervals, at the end.
    assert_eq!((times, late), (12, 0));
    assert!((max_s - 0.0002).abs() < 1e-9, "{max_s}");
}

#[test]
fn slow_responses_are_requested_earlier_from_the_first_interval() {
    let Sampled { times, late, mean_s, .. } = observe(&[Duration::from_micros(2350)], &[]);
    assert_eq!((times, late), (12, 0));
    assert!((mean_s - 0.0047).abs() < 1e-9, "{mean_s}");
}

#[test]
fn requests_take_at_most_a_tenth_of_the_time() {
    let Sampled { times, late, .. } = observe(&[Duration::from_millis(15)], &[]);
    // Queries of 30 ms are made once in four intervals; and at the start and the end.
    assert_eq!((times, late), (2 + 3, 0));
}

#[test]
fn a_response_slower_than_earlier_ones_is_late() {
    let takes = [QUICK, QUICK, Duration::from_millis(4), QUICK];
    let Sampled { times, late, .. } = observe(&takes, &[]);
    assert_eq!((times, late), (12, 1));
}

#[test]
fn a_delayed_thread_is_late_once_and_skips_past_intervals() {
    // It wakes at 450 ms instead of 397.8.
    let Sampled { times, late, .. } = observe(&[QUICK], &[(395, 53)]);
    assert_eq!((times, late), (12, 1));
    // It misses two intervals.
    let Sampled { times, late, .. } = observe(&[QUICK], &[(395, 253)]);
    assert_eq!((times, late), (10, 1));
}
