//! Westwood+ with the arithmetic of Linux.

use airpath_model::config::check;
use airpath_model::{AckEvent, CongestionSignal, Duration, Timestamp};

use super::acked_count::AckedCount;
use crate::ConfigError;

/// The RTT before the first sample, seconds.
const INITIAL_RTT_S: u64 = 20;

/// Westwood+ (Grieco and Mascolo 2004) as implemented in `tcp_westwood.c`.
///
/// Data is summed over a window of at least the last RTT and at least 50 ms. The sum over the window's length
/// passes through two low-pass filters in series, each (7 y + b)/8. All values are whole bytes and whole
/// ticks of the kernel's clock. The window closes before the data of the closing acknowledgment is counted,
/// and with the RTT known before that acknowledgment. The first acknowledgment only opens the window.
#[derive(Clone, Debug)]
pub struct WestwoodPlus {
    ticks_per_second: u64,
    count: AckedCount,
    /// The start of the window, in ticks.
    window_start: Option<u64>,
    /// `bk`: bytes in the window.
    amount: u64,
    /// `bw_ns_est`: output of the first filter, bytes per tick.
    once_filtered: u64,
    /// `bw_est`: output of the second filter.
    estimate: u64,
    /// The last RTT in ticks.
    rtt: u64,
    minimum_rtt: u64,
    /// Whether the next acknowledgment resets the smallest RTT.
    relearn: bool,
}

impl WestwoodPlus {
    /// Creates an estimator with a clock of `ticks_per_second` (HZ), 20 to 1 000 000.
    ///
    /// # Errors
    /// `ticks_per_second` is outside that range.
    pub fn new(ticks_per_second: u32) -> Result<Self, ConfigError> {
        let allowed = (20..=1_000_000).contains(&ticks_per_second);
        check(allowed, "ticks_per_second", "from 20 to 1000000", f64::from(ticks_per_second))?;
        let ticks_per_second = u64::from(ticks_per_second);
        let initial_rtt = INITIAL_RTT_S * ticks_per_second;
        Ok(Self {
            ticks_per_second,
            count: AckedCount::default(),
            window_start: None,
            amount: 0,
            once_filtered: 0,
            estimate: 0,
            rtt: initial_rtt,
            minimum_rtt: initial_rtt,
            relearn: true,
        })
    }

    /// Processes an acknowledgment. Returns sample and estimate in byte/s if it closed a window.
    pub fn on_ack(&mut self, event: &AckEvent) -> Option<(f64, f64)> {
        let now = self.ticks(event.now);
        let amount = self.count.count(event).get();
        let Some(start) = self.window_start else {
            self.window_start = Some(now);
            return None;
        };
        let length = now.saturating_sub(start);
        let closed = length > self.rtt.max(self.ticks_per_second / 20);
        let sample = self.amount / length.max(1);
        if closed {
            self.filter(sample);
            self.amount = 0;
            self.window_start = Some(now);
        }
        self.amount = self.amount.saturating_add(amount);
        self.minimum_rtt = if self.relearn { self.rtt } else { self.rtt.min(self.minimum_rtt) };
        self.relearn = false;
        if let Some(rtt) = event.rtt_sample {
            self.rtt = self.ticks_rounded_up(rtt);
        }
        closed.then(|| (self.per_second(sample), self.per_second(self.estimate)))
    }

    /// Processes a congestion signal. After a timeout the next acknowledgment resets the smallest RTT.
    pub fn on_congestion(&mut self, signal: CongestionSignal) {
        self.relearn |= signal == CongestionSignal::Timeout;
    }

    /// Returns the estimate in byte/s, or `None` before the first sample.
    pub fn bandwidth(&self) -> Option<f64> {
        (self.once_filtered > 0 || self.estimate > 0).then(|| self.per_second(self.estimate))
    }

    /// Returns the output of the first filter, byte/s.
    pub fn once_filtered(&self) -> f64 {
        self.per_second(self.once_filtered)
    }

    /// Returns the smallest RTT since the start or the last timeout, where the RTT before the first sample
    /// counts as 20 s; `None` before the second acknowledgment.
    pub fn minimum_rtt(&self) -> Option<Duration> {
        self.window_start?;
        let nanos = u128::from(self.minimum_rtt) * 1_000_000_000 / u128::from(self.ticks_per_second);
        Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    fn filter(&mut self, sample: u64) {
        let smooth = |before: u64, input: u64| {
            // Sums in 128 bits cannot overflow, and the mean fits in 64 bits again.
            ((7 * u128::from(before) + u128::from(input)) >> 3) as u64
        };
        if self.once_filtered == 0 && self.estimate == 0 {
            self.once_filtered = sample;
            self.estimate = sample;
        } else {
            self.once_filtered = smooth(self.once_filtered, sample);
            self.estimate = smooth(self.estimate, self.once_filtered);
        }
    }

    fn ticks(&self, time: Timestamp) -> u64 {
        let ticks = u128::from(time.as_nanos()) * u128::from(self.ticks_per_second) / 1_000_000_000;
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// Converts microseconds to ticks in the same way as the kernel.
    fn ticks_rounded_up(&self, span: Duration) -> u64 {
        let product = u128::from(span.as_nanos()) * u128::from(self.ticks_per_second);
        u64::try_from(product.div_ceil(1_000_000_000)).unwrap_or(u64::MAX)
    }

    fn per_second(&self, per_tick: u64) -> f64 {
        per_tick as f64 * self.ticks_per_second as f64
    }
}
