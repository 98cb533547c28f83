//! A second implementation of LEDBAT++, in packets and seconds: as in its draft, and as in Darwin's release.

use crate::link::Sender;
use std::collections::{BTreeSet, VecDeque};

const TARGET: f64 = 0.060;

/// The rules in which Darwin's sender differs.
#[derive(Clone, Copy, PartialEq)]
pub enum Rule {
    /// `W += GAIN` in a round trip below the target, `W += GAIN - W (delay / TARGET - 1)` above it.
    Draft,
    /// `W += 1` in a round trip below the target; `W -= W min(delay / TARGET - 1, 1/2)` once in a round trip above it,
    /// and the next slowdown is 30 s later.
    Darwin,
}

pub struct Ledbat {
    rule: Rule,
    window: f64,
    ssthresh: f64,
    base: f64,
    last: VecDeque<f64>,
    smoothed: Option<f64>,
    first_slow_start: bool,
    ramp: bool,
    slowdown_at: Option<f64>,
    frozen: Option<(f64, f64)>,
    began: f64,
    grown: f64,
    above: f64,
    flying: BTreeSet<u64>,
    recovery: u64,
    next: u64,
}

impl Ledbat {
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            window: 2.0,
            ssthresh: f64::INFINITY,
            base: f64::INFINITY,
            last: VecDeque::new(),
            smoothed: None,
            first_slow_start: true,
            ramp: false,
            slowdown_at: None,
            frozen: None,
            began: 0.0,
            grown: 0.0,
            above: 0.0,
            flying: BTreeSet::new(),
            recovery: 0,
            next: 0,
        }
    }

    fn gain(&self) -> f64 {
        1.0 / (2.0 * TARGET / self.base).ceil().min(16.0)
    }
}

impl Sender for Ledbat {
    fn next(&self, now: f64) -> Option<f64> {
        (self.flying.len() as f64 + 1.0 <= self.window.floor().max(1.0)).then_some(now)
    }

    fn on_sent(&mut self, _now: f64, sequence: u64) {
        self.flying.insert(sequence);
        self.next = sequence + 1;
    }

    fn on_ack(&mut self, now: f64, sequence: u64, rtt: f64) {
        self.flying.remove(&sequence);
        self.base = self.base.min(rtt);
        self.last.push_back(rtt);
        if self.last.len() > 4 {
            self.last.pop_front();
        }
        let smoothed = self.smoothed.map_or(rtt, |smoothed| smoothed + (rtt - smoothed) / 8.0);
        self.smoothed = Some(smoothed);
        let delay = self.last.iter().copied().fold(f64::INFINITY, f64::min) - self.base;
        if let Some((since, until)) = self.frozen {
            if now < until {
                return;
            }
            self.frozen = None;
            self.ramp = true;
            self.began = since;
        }
        if self.first_slow_start {
            if delay > 0.75 * TARGET {
                self.first_slow_start = false;
                self.ssthresh = self.window;
                self.slowdown_at = Some(now + 2.0 * smoothed);
            } else {
                self.window += self.gain();
            }
            return;
        }
        if self.ramp {
            let too_much = self.rule == Rule::Darwin && delay > TARGET;
            if !too_much {
                self.window = (self.window + self.gain()).min(self.ssthresh.max(self.window));
            }
            if self.window >= self.ssthresh || too_much {
                let lasted = (now - self.began) * if self.window < self.ssthresh { 2.0 } else { 1.0 };
                self.ssthresh = self.ssthresh.min(self.window);
                self.ramp = false;
                self.slowdown_at = Some(now + 9.0 * lasted);
            }
            return;
        }
        if self.slowdown_at.is_some_and(|at| now >= at) {
            self.slowdown_at = None;
            self.ssthresh = self.window;
            self.window = 2.0;
            self.frozen = Some((now, now + 2.0 * smoothed));
            self.grown = 0.0;
            return;
        }
        match self.rule {
            Rule::Draft => {
                let excess = (delay / TARGET - 1.0).max(0.0);
                let change = if excess > 0.0 {
                    (self.gain() - self.window * excess).max(-self.window / 2.0)
                } else {
                    self.gain()
                };
                self.window = (self.window + change / self.window).max(2.0);
            }
            Rule::Darwin if delay <= TARGET => {
                self.grown += 1.0;
                if self.grown >= self.window {
                    self.grown -= self.window;
                    self.window += 1.0;
                }
            }
            Rule::Darwin => {
                self.above += 1.0;
                if self.above >= self.window {
                    self.above -= self.window;
                    self.window = (self.window - self.window * (delay / TARGET - 1.0).min(0.5)).max(2.0);
                    self.slowdown_at = Some(now + 30.0);
                }
            }
        }
    }

    fn on_lost(&mut self, _now: f64, sequence: u64) {
        self.flying.remove(&sequence);
        if sequence >= self.recovery {
            self.recovery = self.next;
            self.ssthresh = (self.window / 2.0).max(2.0);
            self.window = self.window.min(self.ssthresh);
        }
    }
}
