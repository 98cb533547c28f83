//! When datagrams leave that listen to nobody, and how long they are.

use airpath_model::{Duration, RandomStream, Rate, Timestamp};

use crate::plan::Draw;

/// One datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// 0, 1, … within the flow.
    pub sequence: u64,
    /// Size on the wire, bytes.
    pub size: u32,
}

/// When datagrams leave and how long they are.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// Evenly spaced while on.
    ConstantBitRate {
        /// Time from one datagram to the next.
        spacing: Duration,
        /// Size on the wire.
        size: u32,
        /// Lengths of on and off periods; always on without.
        periods: Option<(Draw, Draw)>,
    },
    /// A Poisson process.
    Poisson {
        /// Mean rate on the wire.
        rate: Rate,
        /// Size on the wire.
        size: Draw,
        /// The mean of the sizes, which fixes the mean spacing.
        mean_size: f64,
    },
}

/// The datagrams of one flow.
#[derive(Debug)]
pub struct Datagrams {
    pattern: Pattern,
    stream: RandomStream,
    next: Timestamp,
    on_until: Timestamp,
    start: Timestamp,
    stop: Timestamp,
    sent: u64,
}

impl Datagrams {
    /// A source that sends from `start` (after a first off period when `start_off`) to `stop`.
    pub(crate) fn new(
        pattern: Pattern,
        mut stream: RandomStream,
        start: Timestamp,
        stop: Timestamp,
        start_off: bool,
    ) -> Self {
        let (mut next, mut on_until) = (start, Timestamp::NEVER);
        match &pattern {
            Pattern::ConstantBitRate { periods: Some((on, off)), .. } => {
                if start_off {
                    next += off.duration(&mut stream);
                }
                on_until = next + on.duration(&mut stream);
            }
            Pattern::ConstantBitRate { periods: None, .. } => {}
            Pattern::Poisson { rate, mean_size, .. } => {
                next += stream.exponential_duration(mean_spacing(*rate, *mean_size));
            }
        }
        Self { pattern, stream, next, on_until, start, stop, sent: 0 }
    }

    /// The datagram that is due at `now`, if one is; ask until there is none.
    pub fn poll(&mut self, now: Timestamp) -> Option<Datagram> {
        if now >= self.stop {
            self.next = self.next.max(self.stop); // one that nobody asked for in time never leaves
            return None;
        }
        if self.next > now {
            return None;
        }
        let size = match &self.pattern {
            Pattern::ConstantBitRate { size, spacing, periods } => {
                self.next += *spacing;
                if let Some((on, off)) = periods
                    && self.next >= self.on_until
                {
                    // A new period begins with a datagram, whatever was left of the last spacing.
                    self.next = self.on_until + off.duration(&mut self.stream);
                    self.on_until = self.next + on.duration(&mut self.stream);
                }
                *size
            }
            Pattern::Poisson { rate, size, mean_size } => {
                let spacing = mean_spacing(*rate, *mean_size);
                self.next += self.stream.exponential_duration(spacing);
                size.at_least_one(&mut self.stream) as u32
            }
        };
        let sequence = self.sent;
        self.sent += 1;
        Some(Datagram { sequence, size })
    }

    /// When the next datagram is due.
    pub fn next_event(&self) -> Timestamp {
        if self.next < self.stop { self.next } else { Timestamp::NEVER }
    }

    /// Sends nothing more.
    pub fn stop(&mut self) {
        self.stop = Timestamp::ZERO;
    }

    /// Whether `now` is between start and stop.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.start <= now && now < self.stop
    }

    /// Datagrams sent so far.
    pub const fn sent(&self) -> u64 {
        self.sent
    }
}

/// The mean time between datagrams of a Poisson source.
fn mean_spacing(rate: Rate, mean_size: f64) -> Duration {
    Duration::from_secs_f64(mean_size * 8.0 / rate.as_bps_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_that_is_asked_for_after_the_stop_never_leaves() {
        let at = |millis: u64| Timestamp::from_nanos(millis * 1_000_000);
        let pattern =
            Pattern::ConstantBitRate { spacing: Duration::from_millis(4), size: 1000, periods: None };
        let mut datagrams = Datagrams::new(pattern, RandomStream::new(1, "test"), at(0), at(10), false);
        assert!(datagrams.poll(at(0)).is_some() && datagrams.poll(at(4)).is_some());
        assert_eq!(datagrams.next_event(), at(8));
        // Who sends by a real clock may be as late as this, and must not wait for it for ever.
        assert_eq!(datagrams.poll(at(11)), None);
        assert_eq!(datagrams.next_event(), Timestamp::NEVER);
        assert_eq!(datagrams.sent(), 2);
    }
}
