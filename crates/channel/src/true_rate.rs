//! The true rate of a channel, for estimators that may use it.

use airpath_model::{Duration, Rate, Timestamp, TrueRate};

use crate::RateProcess;

/// The true rate of a channel: the current rate if the channel has one, otherwise the mean over the last
/// [`ChannelRate::WINDOW`] or another window (delivery opportunities have no current rate).
///
/// It queries copies of the rate process, so that queries have no side effects.
#[derive(Clone, Debug)]
pub struct ChannelRate {
    ahead: RateProcess,
    behind: RateProcess,
    window: Duration,
    /// Bits offered in the window.
    in_window: f64,
}

impl ChannelRate {
    /// Default averaging window for opportunities: EBE's estimation interval.
    pub const WINDOW: Duration = Duration::from_millis(200);

    /// Creates the rate from copies of `process`, which must not have been queried yet.
    pub fn new(process: &RateProcess) -> Self {
        Self { ahead: process.clone(), behind: process.clone(), window: Self::WINDOW, in_window: 0.0 }
    }

    /// Returns the rate with opportunities averaged over `window`, which is at least one millisecond.
    #[must_use]
    pub fn averaged_over(self, window: Duration) -> Self {
        Self { window: window.max(Duration::from_millis(1)), ..self }
    }
}

impl TrueRate for ChannelRate {
    fn rate(&mut self, now: Timestamp) -> Rate {
        match &mut self.ahead {
            RateProcess::Unlimited => Rate::UNLIMITED,
            RateProcess::Steady(process) => process.rate(),
            RateProcess::Schedule(process) => process.rate_at(now),
            RateProcess::Uniform(process) => process.rate_at(now),
            RateProcess::Opportunities(process) => {
                self.in_window += process.offered_bits(now);
                // The window starts at time zero, and is not evaluated before it is full.
                if let Some(opened) = now.as_nanos().checked_sub(self.window.as_nanos()) {
                    let left = self.behind.offered_bits(Timestamp::from_nanos(opened));
                    self.in_window -= left.unwrap_or(0.0);
                }
                let length = self.window.min(now.since(Timestamp::ZERO)).max(Duration::from_millis(1));
                Rate::from_bps_f64(self.in_window / length.as_secs_f64())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use airpath_model::Bytes;

    use super::*;
    use crate::{Opportunities, Schedule, ScheduleEnd, Step, TraceEnd};

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_schedule_reports_the_current_rate() {
        let step = |ms: u64, mbps: u64| Step {
            start: Duration::from_millis(ms),
            rate: Rate::from_bps(mbps * 1_000_000),
        };
        let steps: Arc<[Step]> = Arc::new([step(0, 10), step(100, 2), step(200, 0)]);
        let schedule = Schedule::new(steps, ScheduleEnd::RepeatAfter(Duration::from_millis(300))).unwrap();
        let mut truth = ChannelRate::new(&schedule.into());
        let rates: [u64; 6] = [0, 99, 100, 199, 250, 300].map(|ms| truth.rate(at(ms)).as_bps() / 1_000_000);
        assert_eq!(rates, [10, 10, 2, 2, 0, 10]);
    }

    #[test]
    fn opportunities_are_averaged_over_the_window() {
        let instants: Arc<[u64]> = (1..=1000_u64).map(|ms| ms * 1_000_000).collect();
        let trace = Opportunities::new(instants, Bytes::new(1500), TraceEnd::Repeat).unwrap();
        let mut truth = ChannelRate::new(&trace.into());
        for ms in [100, 200, 500, 5_000] {
            assert_eq!(truth.rate(at(ms)).as_bps(), 12_000_000, "{ms} ms");
        }
    }
}
