//! A schedule of rates.

use alloc::vec::Vec;

use airpath_model::declare::{ComponentError, Deserialize, JsonSchema, Serialize};
use airpath_model::{Duration, Rate};

use super::{Changes, DeclaredRate, RateFacts};
use crate::declare::ensure;
use crate::{InvalidChannel, RateProcess, Schedule, ScheduleEnd, Step};

/// The parameters of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepsConfig {
    /// Pairs of a start (duration from the start of the run) and a rate; starts increase, the first is "0s";
    /// "0bps" is an outage.
    #[schemars(with = "Vec<(Duration, Rate)>", length(min = 1), example = ONE_STEP)]
    pub steps: Vec<(u64, u64)>,
    /// Period after which the schedule starts again; without it, the last rate continues.
    #[schemars(with = "Option<Duration>", extend("x-key" = "repeat_after", "exclusiveMinimum" = 0))]
    pub repeat_after_ns: Option<u64>,
}

/// The example in the schema.
const ONE_STEP: [(u64, u64); 1] = [(0, 10_000_000)];

impl DeclaredRate for StepsConfig {
    fn check(&self) -> Result<(), ComponentError> {
        let starts_at_zero = self.steps.first().is_some_and(|(start, _)| *start == 0);
        ensure(
            starts_at_zero && self.steps.is_sorted_by(|(one, _), (next, _)| one < next),
            "the starts in \"steps\" must begin with \"0s\" and increase",
        )?;
        let last = self.steps.last().map_or(0, |(start, _)| *start);
        ensure(
            self.repeat_after_ns.is_none_or(|period| period > last),
            "\"repeat_after\" must be later than the last start in \"steps\"",
        )
    }

    fn process(&self, _: RateFacts<'_>) -> Result<RateProcess, InvalidChannel> {
        let step = |&(start, bps): &(u64, u64)| Step {
            start: Duration::from_nanos(start),
            rate: Rate::from_bps(bps),
        };
        let period = self.repeat_after_ns.map(Duration::from_nanos);
        let end = period.map_or(ScheduleEnd::Hold, ScheduleEnd::RepeatAfter);
        Schedule::new(self.steps.iter().map(step).collect(), end).map(RateProcess::from)
    }

    fn highest(&self) -> Option<Rate> {
        self.steps.iter().map(|&(_, bps)| Rate::from_bps(bps)).max()
    }

    fn changes(&self) -> Option<Changes> {
        let starts = self.steps.iter().map(|&(start, _)| start).collect();
        Some(Changes { starts, period: self.repeat_after_ns })
    }

    fn mean_bps(&self, run: Duration) -> Option<f64> {
        let end = self.repeat_after_ns.unwrap_or(run.as_nanos());
        let ends = self.steps.iter().skip(1).map(|&(start, _)| start.min(end)).chain([end]);
        let bits = self
            .steps
            .iter()
            .zip(ends)
            .map(|(&(start, bps), until)| u128::from(bps) * u128::from(until.saturating_sub(start)));
        let (bits, end) = (bits.sum::<u128>(), u128::from(end.max(1)));
        Some((bits / end) as f64 + (bits % end) as f64 / end as f64)
    }
}
