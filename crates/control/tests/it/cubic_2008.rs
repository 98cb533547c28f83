//! CUBIC of 2008 compared with two slow transcriptions of its text.
//!
//! The first evaluates the formulas from a log of all acknowledgments of the epoch, from the start each time.
//! The second advances in whole segments and counters, as the kernel of that time did. Both have their own
//! window and do not use the crate.

use crate::support::{MSS, cubic};
use airpath_control::{CubicConfig, StandardSlowStart, Windowed};
use airpath_model::{
    AckEvent, CongestionEvent, CongestionSignal, Controller, Duration, NullProbe, RttEstimate, Timestamp,
};

const C: f64 = 0.4;
const KEEP: f64 = 0.8;
const FRIENDLY: f64 = 3.0 * (1.0 - KEEP) / (1.0 + KEEP);

/// A path and the events on it.
struct Trial {
    /// Seconds.
    rtt: f64,
    /// The window, in segments, at which the first loss is detected.
    first: u32,
    /// Acknowledged segments between losses.
    cycles: &'static [u32],
    /// The largest lag caused by whole counts, in segments.
    behind: f64,
}

/// Windows of a few hundred segments. The cycles have different lengths, so that fast convergence applies
/// (3000 after 20000) and losses occur on either side of the plateau; the short ones are in the TCP-friendly
/// region. No loss occurs while the window is within a segment of the last `W_max`, because rounding would
/// then decide whether fast convergence applies (asserted in [`Counters::lost`]).
const SMALL: Trial = Trial {
    rtt: 0.08,
    first: 200,
    cycles: &[20_000, 3000, 20_000, 60_000, 500, 300, 4000, 30_000],
    behind: 0.0,
};

/// Windows of thousands of segments over a long round trip. The plateau is 17 s away; before it, the curve is
/// steeper than 16 segments in 100 ms for the first 6 s, and again from 11 s after it.
const LARGE: Trial = Trial { rtt: 0.5, first: 10_000, cycles: &[700_000, 100_000], behind: 20.0 };

#[test]
fn the_rule_matches_its_formulas() {
    for trial in [SMALL, LARGE] {
        let mut log = Log { rtt: trial.rtt, cwnd: f64::from(trial.first), ..Log::default() };
        // The rule's window is whole bytes, and the fraction is carried over. The error is below one byte,
        // plus its consequences.
        compare(&trial, &mut log, Log::acknowledged, Log::lost, |log| log.cwnd, 0.01);
    }
}

#[test]
fn the_rule_follows_the_kernel_within_its_whole_segments() {
    for trial in [SMALL, LARGE] {
        let mut kernel = Counters { rtt: trial.rtt, cwnd: trial.first, ..Counters::default() };
        // The kernel's window waits for a whole count, as does its Reno window, and both round down at a
        // loss. Each costs up to a segment, and a late segment shifts the following ones. If a segment of
        // growth takes 25 acknowledgments, waiting for the whole one makes growth up to 1/25 slower for a
        // while.
        let tolerance = 4.0 + trial.behind;
        compare(
            &trial,
            &mut kernel,
            Counters::acknowledged,
            Counters::lost,
            |kernel| f64::from(kernel.cwnd),
            tolerance,
        );
    }
}

/// Reports the same acknowledgments and losses to the rule and to `other`, and compares the windows in
/// segments.
fn compare<T>(
    trial: &Trial,
    other: &mut T,
    mut acknowledged: impl FnMut(&mut T, f64),
    mut lost: impl FnMut(&mut T),
    cwnd: impl Fn(&T) -> f64,
    tolerance: f64,
) {
    let rule = cubic(CubicConfig::LINUX2008);
    let initial = MSS.mul_f64(cwnd(other));
    let mut controller = Windowed::new(rule, StandardSlowStart::default(), initial, MSS).expect("in range");
    let mut now = 0.0;
    let signal = |controller: &mut Windowed<_, _>, now| {
        let mut event = CongestionEvent::at(Timestamp::from_secs_f64(now), CongestionSignal::Loss);
        event.mss = MSS;
        event.flight_size = controller.control().window;
        controller.on_congestion(&event, &mut NullProbe);
    };
    signal(&mut controller, now);
    lost(other);
    for &packets in trial.cycles {
        for _ in 0..packets {
            // Rounded to the nanosecond, as for the rule.
            now = Timestamp::from_secs_f64(now + trial.rtt / cwnd(other)).as_secs_f64();
            let mut event = AckEvent::at(Timestamp::from_secs_f64(now));
            event.acked = MSS;
            event.mss = MSS;
            let rtt = Duration::from_secs_f64(trial.rtt);
            event.rtt = RttEstimate { latest: rtt, smoothed: rtt, variation: Duration::ZERO, minimum: rtt };
            controller.on_ack(&event, &mut NullProbe);
            acknowledged(other, now);
            let found = controller.control().window.as_f64() / MSS.as_f64();
            assert!((found - cwnd(other)).abs() < tolerance, "{found} against {} at {now} s", cwnd(other));
        }
        signal(&mut controller, now);
        lost(other);
    }
}

/// Returns W(t) of the paper, equation 1, with t one RTT ahead, and whether the plateau is reached by then.
fn target(since_epoch: f64, rtt: f64, cwnd_at_epoch: f64, w_max: f64) -> (f64, bool) {
    let t = since_epoch + rtt;
    if w_max > cwnd_at_epoch {
        let k = libm::cbrt((w_max - cwnd_at_epoch) / C);
        (w_max - C * libm::pow(k - t, 3.0), t >= k)
    } else {
        (cwnd_at_epoch + C * libm::pow(t, 3.0), true)
    }
}

/// Returns the number of acknowledged segments per segment of growth.
fn count(cwnd: f64, rtt: f64, (target, at_plateau): (f64, bool), reno: f64) -> f64 {
    let curve = if target > cwnd { cwnd / (target - cwnd) } else { 100.0 * cwnd };
    // 16 segments in 100 ms are 16 RTT / 0.1 s in a window of acknowledgments.
    let bounded = if at_plateau { curve.max(cwnd / (16.0 * rtt / 0.1)) } else { curve };
    let friendly = if reno > cwnd { bounded.min(cwnd / (reno - cwnd)) } else { bounded };
    friendly.max(1.0)
}

/// Returns `W_max` after a loss at `cwnd`, with fast convergence.
fn saturation(cwnd: f64, last: f64) -> f64 {
    if cwnd < last { cwnd * (1.0 + KEEP) / 2.0 } else { cwnd }
}

#[derive(Default)]
struct Log {
    rtt: f64,
    cwnd: f64,
    w_max: f64,
    /// The time of each acknowledgment of this epoch and the window at that time.
    acknowledgments: Vec<(f64, f64)>,
    /// The sum over `acknowledgments` of 1 / window, and the number of acknowledgments in the sum.
    summed: (usize, f64),
}

impl Log {
    fn acknowledged(&mut self, now: f64) {
        self.acknowledgments.push((now, self.cwnd));
        let (epoch, at_epoch) = self.acknowledgments[0];
        let reno = at_epoch + FRIENDLY * self.windows_acknowledged();
        let target = target(now - epoch, self.rtt, at_epoch, self.w_max);
        self.cwnd += 1.0 / count(self.cwnd, self.rtt, target, reno);
    }

    fn windows_acknowledged(&mut self) -> f64 {
        let (done, sum) = self.summed;
        let more: f64 = self.acknowledgments[done..].iter().map(|(_, cwnd)| 1.0 / cwnd).sum();
        self.summed = (self.acknowledgments.len(), sum + more);
        self.summed.1
    }

    fn lost(&mut self) {
        self.w_max = saturation(self.cwnd, self.w_max);
        self.cwnd = (self.cwnd * KEEP).max(2.0);
        self.acknowledgments.clear();
        self.summed = (0, 0.0);
    }
}

#[derive(Default)]
struct Counters {
    rtt: f64,
    cwnd: u32,
    w_max: f64,
    /// Start of the epoch and the window at that time.
    epoch: Option<(f64, f64)>,
    acknowledged: f64,
    reno_credit: f64,
    reno: u32,
}

impl Counters {
    fn acknowledged(&mut self, now: f64) {
        let cwnd = f64::from(self.cwnd);
        if self.epoch.is_none() {
            (self.reno, self.reno_credit) = (self.cwnd, 0.0);
        }
        let (epoch, at_epoch) = *self.epoch.get_or_insert((now, cwnd));
        self.reno_credit += 1.0;
        while self.reno_credit > cwnd / FRIENDLY {
            self.reno_credit -= cwnd / FRIENDLY;
            self.reno += 1;
        }
        let target = target(now - epoch, self.rtt, at_epoch, self.w_max);
        if self.acknowledged >= count(cwnd, self.rtt, target, f64::from(self.reno)) {
            self.cwnd += 1;
            self.acknowledged = 0.0;
        } else {
            self.acknowledged += 1.0;
        }
    }

    fn lost(&mut self) {
        let cwnd = f64::from(self.cwnd);
        assert!((cwnd - self.w_max).abs() > 2.0, "{cwnd}: too close to {} to distinguish", self.w_max);
        self.w_max = saturation(cwnd, self.w_max);
        self.cwnd = ((cwnd * KEEP) as u32).max(2);
        self.epoch = None;
    }
}
