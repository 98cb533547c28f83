//! `HyStart++`: a slow start that ends when the delay rises (RFC 9406).

use airpath_model::{AckEvent, Bytes, CongestionSignal, Duration, Phase};

#[cfg(feature = "declare")]
use crate::declare::{AnySlowStart, SlowStarts};
use crate::{ConfigError, SlowStart, StandardSlowStart};
use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;

/// HyStart++ (RFC 9406): slow start that ends when the delay rises. The parameters have the names of section
/// 4.3.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct HystartPlusPlusConfig {
    /// `MIN_RTT_THRESH`: a smaller increase of the RTT never counts. 4 ms.
    #[cfg_attr(feature = "declare", schemars(extend("x-at-most" = "max_rtt_thresh")))]
    pub min_rtt_thresh: Duration,
    /// `MAX_RTT_THRESH`: a larger increase always counts; at least `min_rtt_thresh`. 16 ms.
    pub max_rtt_thresh: Duration,
    /// `MIN_RTT_DIVISOR`: between the two thresholds, an increase counts from the minimum RTT of the last
    /// round divided by this number; at least 1. 8.
    #[cfg_attr(feature = "declare", schemars(range(min = 1)))]
    pub min_rtt_divisor: u64,
    /// `N_RTT_SAMPLE`: RTT samples of a round before it is evaluated; at least 1. 8.
    #[cfg_attr(feature = "declare", schemars(range(min = 1)))]
    pub n_rtt_sample: u32,
    /// `CSS_GROWTH_DIVISOR`: divisor of the growth in conservative slow start; at least 1. 4.
    #[cfg_attr(feature = "declare", schemars(range(min = 1)))]
    pub css_growth_divisor: u64,
    /// `CSS_ROUNDS`: rounds of conservative slow start before congestion avoidance; at least 1. 5.
    #[cfg_attr(feature = "declare", schemars(range(min = 1)))]
    pub css_rounds: u32,
    /// L: the largest number of segments that one acknowledgment adds; at least 1. 8 for senders without
    /// pacing, no limit (the largest number) for senders with pacing.
    #[cfg_attr(feature = "declare", schemars(range(min = 1)))]
    pub limit: u64,
}

impl Default for HystartPlusPlusConfig {
    /// Returns the recommended values for a sender without pacing.
    fn default() -> Self {
        Self {
            min_rtt_thresh: Duration::from_millis(4),
            max_rtt_thresh: Duration::from_millis(16),
            min_rtt_divisor: 8,
            n_rtt_sample: 8,
            css_growth_divisor: 4,
            css_rounds: 5,
            limit: 8,
        }
    }
}

#[cfg(feature = "declare")]
impl Component<SlowStarts> for HystartPlusPlusConfig {
    const ID: &'static str = "hystart++";

    fn build(&self, (): ()) -> Result<AnySlowStart, ConfigError> {
        Ok(AnySlowStart::new(HystartPlusPlus::new(*self)?))
    }
}

/// The slow start of RFC 9406, section 4.2. If the smallest RTT of a round is clearly above that of the
/// previous round, the window grows more slowly for some rounds (conservative slow start). If the rise was
/// temporary, slow start resumes; otherwise congestion avoidance begins.
///
/// This applies only to the first slow start; after any congestion signal, it is [`StandardSlowStart`].
#[derive(Clone, Debug)]
pub struct HystartPlusPlus {
    config: HystartPlusPlusConfig,
    standard: StandardSlowStart,
    /// Whether the initial slow start is over.
    finished: bool,
    /// [`AckEvent::round`] of the round being sampled.
    round: u64,
    last_round_min_rtt: Option<Duration>,
    current_round_min_rtt: Option<Duration>,
    rtt_sample_count: u32,
    conservative: Option<Conservative>,
}

impl HystartPlusPlus {
    /// Creates the slow start. Fails if a parameter is outside the range stated in [`HystartPlusPlusConfig`].
    pub fn new(config: HystartPlusPlusConfig) -> Result<Self, ConfigError> {
        check(
            config.max_rtt_thresh >= config.min_rtt_thresh,
            "max_rtt_thresh",
            "at least min_rtt_thresh (seconds)",
            config.max_rtt_thresh.as_secs_f64(),
        )?;
        let at_least_one = [
            ("min_rtt_divisor", config.min_rtt_divisor),
            ("n_rtt_sample", u64::from(config.n_rtt_sample)),
            ("css_growth_divisor", config.css_growth_divisor),
            ("css_rounds", u64::from(config.css_rounds)),
        ];
        for (parameter, value) in at_least_one {
            check(value >= 1, parameter, "at least 1", value as f64)?;
        }
        Ok(Self {
            config,
            standard: StandardSlowStart::new(config.limit)?,
            finished: false,
            round: 0,
            last_round_min_rtt: None,
            current_round_min_rtt: None,
            rtt_sample_count: 0,
            conservative: None,
        })
    }

    /// Starts a round. Returns whether conservative slow start has used up its rounds. The round in which it
    /// began counts as a whole round.
    fn next_round(&mut self, round: u64) -> bool {
        self.round = round;
        self.last_round_min_rtt = self.current_round_min_rtt.take();
        self.rtt_sample_count = 0;
        if let Some(conservative) = &mut self.conservative {
            conservative.rounds += 1;
            return conservative.rounds >= self.config.css_rounds;
        }
        false
    }

    /// Adds one RTT sample and, once the round has enough of them, enters or leaves conservative slow start.
    fn sample(&mut self, rtt: Duration) {
        let current = self.current_round_min_rtt.map_or(rtt, |minimum| minimum.min(rtt));
        self.current_round_min_rtt = Some(current);
        self.rtt_sample_count += 1;
        if self.rtt_sample_count < self.config.n_rtt_sample {
            return;
        }
        match (&self.conservative, self.last_round_min_rtt) {
            (Some(conservative), _) if current < conservative.baseline_min_rtt => self.conservative = None,
            (None, Some(last)) if current >= last + self.rtt_thresh(last) => {
                self.conservative = Some(Conservative { baseline_min_rtt: current, rounds: 0 });
            }
            _ => {}
        }
    }

    /// Returns `RttThresh` of section 4.2.
    fn rtt_thresh(&self, last_round_min_rtt: Duration) -> Duration {
        (last_round_min_rtt / self.config.min_rtt_divisor)
            .clamp(self.config.min_rtt_thresh, self.config.max_rtt_thresh)
    }
}

impl Default for HystartPlusPlus {
    fn default() -> Self {
        Self::new(HystartPlusPlusConfig::default()).expect("the RFC's constants are in range")
    }
}

impl SlowStart for HystartPlusPlus {
    fn growth(&self, event: &AckEvent) -> Bytes {
        let growth = self.standard.growth(event);
        match self.conservative {
            Some(_) => Bytes::new(growth.get() / self.config.css_growth_divisor),
            None => growth,
        }
    }

    fn on_ack(&mut self, event: &AckEvent) -> bool {
        if self.finished {
            return false;
        }
        if event.round != self.round && self.next_round(event.round) {
            self.finish();
            return true;
        }
        if let Some(rtt) = event.rtt_sample {
            self.sample(rtt);
        }
        false
    }

    fn on_congestion(&mut self, signal: CongestionSignal) {
        self.standard.on_congestion(signal);
        self.finish();
    }

    fn phase(&self) -> Phase {
        match self.conservative {
            Some(_) => Phase::ConservativeSlowStart,
            None => Phase::SlowStart,
        }
    }
}

impl HystartPlusPlus {
    fn finish(&mut self) {
        self.finished = true;
        self.conservative = None;
    }
}

/// State of conservative slow start.
#[derive(Clone, Debug)]
struct Conservative {
    /// `cssBaselineMinRtt`: a round with a smaller RTT shows that the rise was temporary.
    baseline_min_rtt: Duration,
    /// Number of rounds that ended in this phase.
    rounds: u32,
}

#[cfg(test)]
mod tests;
