//! A second implementation of Copa, in packets and seconds: as in its paper, damped, and as in its authors' release.

use crate::link::Sender;
use std::collections::{BTreeSet, VecDeque};

const DELTA: f64 = 0.5;

/// Window of the minimum RTT that represents the path without a queue, in seconds.
const BASE: f64 = 10.0;

/// The rule for the velocity v. All rules act once per round trip and restart at 1 when the direction changes.
#[derive(Clone, Copy, PartialEq)]
pub enum Rule {
    /// Compares the window with that of a round trip ago; v doubles from the third round trip in one direction.
    Paper,
    /// As in the paper, but the first step back changes the direction, and no step is larger than a packet.
    Damped,
    /// Compares the numbers of steps up and down; v doubles after each round trip in the same direction as the last.
    /// Above `DELTA W`, which is a step of one packet, v is halved at every acknowledgment.
    Released,
}

/// The minimum over a window of time that ends now.
#[derive(Default)]
struct Minimum(VecDeque<(f64, f64)>);

impl Minimum {
    fn update(&mut self, length: f64, now: f64, value: f64) -> f64 {
        while self.0.back().is_some_and(|&(_, last)| last >= value) {
            self.0.pop_back();
        }
        self.0.push_back((now, value));
        while self.0[0].0 < now - length {
            self.0.pop_front();
        }
        self.0[0].1
    }
}

pub struct Copa {
    rule: Rule,
    window: f64,
    slow_start: bool,
    base: Minimum,
    standing: Minimum,
    smoothed: Option<f64>,
    velocity: f64,
    /// +1 or -1: the direction of the last round trip.
    direction: f64,
    /// Number of round trips in this direction.
    steady: u32,
    /// Start of the current round trip, the window at that time, and the steps up minus those down since then.
    began: f64,
    before: f64,
    balance: f64,
    /// Time at which the next packet may leave, and the spacing to the one after it.
    due: f64,
    spacing: f64,
    flying: BTreeSet<u64>,
}

impl Copa {
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            window: 10.0,
            slow_start: true,
            base: Minimum::default(),
            standing: Minimum::default(),
            smoothed: None,
            velocity: 1.0,
            direction: 1.0,
            steady: 0,
            began: 0.0,
            before: 0.0,
            balance: 0.0,
            due: 0.0,
            spacing: 0.0,
            flying: BTreeSet::new(),
        }
    }

    /// Updates velocity and direction once per round trip; `rtt` is the newest sample.
    fn turn(&mut self, now: f64, rtt: f64) {
        if now - self.began <= rtt {
            return;
        }
        let moved = match self.rule {
            Rule::Paper | Rule::Damped => self.window - self.before,
            Rule::Released => self.balance,
        };
        if moved * self.direction > 0.0 {
            self.steady += 1;
        } else {
            (self.direction, self.steady, self.velocity) = (-self.direction, 1, 1.0);
        }
        let needed = if self.rule == Rule::Released { 2 } else { 3 };
        if self.steady >= needed {
            self.velocity *= 2.0;
        }
        (self.began, self.before, self.balance) = (now, self.window, 0.0);
    }
}

impl Sender for Copa {
    fn next(&self, now: f64) -> Option<f64> {
        (self.flying.len() as f64 + 1.0 <= self.window.floor()).then(|| self.due.max(now))
    }

    fn on_sent(&mut self, now: f64, sequence: u64) {
        self.flying.insert(sequence);
        self.due = self.due.max(now) + self.spacing;
    }

    fn on_ack(&mut self, now: f64, sequence: u64, rtt: f64) {
        self.flying.remove(&sequence);
        let gain = if self.rule == Rule::Released { 1.0 / 16.0 } else { 1.0 / 8.0 };
        let smoothed = self.smoothed.map_or(rtt, |smoothed| smoothed + (rtt - smoothed) * gain);
        self.smoothed = Some(smoothed);
        let base = self.base.update(BASE, now, rtt);
        let standing = self.standing.update(smoothed / 2.0, now, rtt);
        // The window at which the rate equals the target rate; infinite without a queue.
        let target = standing / (DELTA * (standing - base));
        if self.slow_start {
            self.slow_start = self.window + 1.0 < target;
            self.window += 1.0;
            (self.began, self.before) = (now, self.window);
        } else {
            self.turn(now, rtt);
            let way = if self.window < target { 1.0 } else { -1.0 };
            self.balance += way;
            if self.rule == Rule::Damped && self.velocity > 1.0 && way != self.direction {
                (self.direction, self.steady, self.velocity) = (way, 0, 1.0);
            }
            if self.rule == Rule::Released && self.velocity > DELTA * self.window {
                self.velocity = (self.velocity / 2.0).max(1.0);
            }
            let most = if self.rule == Rule::Damped { 1.0 } else { f64::INFINITY };
            let step = (self.velocity / (DELTA * self.window)).min(most);
            self.window = (self.window + way * step).max(2.0);
        }
        self.spacing = standing / (2.0 * self.window);
    }

    fn on_lost(&mut self, _now: f64, sequence: u64) {
        self.flying.remove(&sequence);
    }
}
