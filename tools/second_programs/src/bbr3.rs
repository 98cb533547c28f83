//! BBR v3 of noq behind `Sender`.

use crate::link::{PACKET, Sender};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Bbr3Config, Controller, ControllerFactory};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A sender controlled by noq's controller that spaces packets at its pacing rate. Its random waits have no seed.
pub struct Bbr3 {
    control: Box<dyn Controller>,
    began: Instant,
    /// Time at which the next packet may leave.
    due: f64,
    sent: BTreeMap<u64, f64>,
    newest: Option<u64>,
}

impl Bbr3 {
    pub fn new() -> Self {
        let mut config = Bbr3Config::default();
        config.initial_window(10 * PACKET as u64);
        let began = Instant::now();
        let control = Arc::new(config).build(began, PACKET as u16);
        Self { control, began, due: 0.0, sent: BTreeMap::new(), newest: None }
    }

    fn at(&self, now: f64) -> Instant {
        self.began + Duration::from_secs_f64(now + 1.0)
    }

    fn in_flight(&self) -> u64 {
        (self.sent.len() * PACKET) as u64
    }

    fn full(&self) -> bool {
        self.in_flight() + PACKET as u64 > self.control.window()
    }
}

/// Returns an estimator with this single sample; the controller reads it once, at its first acknowledgment.
fn estimator(rtt: Duration) -> RttEstimator {
    // SAFETY: the type has no public constructor. It consists of four durations, one of them optional, in any order;
    // the compiler refuses another size.
    unsafe { std::mem::transmute([rtt; 4]) }
}

impl Sender for Bbr3 {
    fn next(&self, now: f64) -> Option<f64> {
        (!self.full()).then(|| self.due.max(now))
    }

    fn on_sent(&mut self, now: f64, sequence: u64) {
        let at = self.at(now);
        self.control.on_packet_sent(at, PACKET as u16, sequence);
        self.sent.insert(sequence, now);
        let rate = self.control.metrics().pacing_rate.map_or(f64::INFINITY, |rate| rate.max(1) as f64);
        self.due = self.due.max(now) + PACKET as f64 / rate;
        if self.full() {
            self.control.on_cwnd_limited();
        }
    }

    fn on_ack(&mut self, now: f64, sequence: u64, rtt: f64) {
        let sent = self.sent.remove(&sequence).unwrap();
        let sent = self.at(sent);
        let (at, rtt) = (self.at(now), estimator(Duration::from_secs_f64(rtt)));
        self.control.on_ack(at, sent, PACKET as u64, sequence, false, &rtt);
        self.newest = self.newest.max(Some(sequence));
        let in_flight = self.in_flight();
        self.control.on_end_acks(at, in_flight, false, self.newest);
    }

    fn on_lost(&mut self, now: f64, sequence: u64) {
        let sent = self.sent.remove(&sequence).unwrap();
        let sent = self.at(sent);
        let at = self.at(now);
        self.control.on_packet_lost(PACKET as u16, sequence, at);
        self.control.on_congestion_event(at, sent, false, false, PACKET as u64, sequence);
    }
}
