//! Sources that send datagrams and listen to nobody.

use airpath_model::{Duration, Ecn, PathHeader, RandomStream, Rate, Timestamp};

use crate::packet::{Body, Contents};
use crate::plan::Draw;

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

/// A source of datagrams.
#[derive(Debug)]
pub(crate) struct DatagramSource {
    pattern: Pattern,
    stream: RandomStream,
    next: Timestamp,
    on_until: Timestamp,
    start: Timestamp,
    stop: Timestamp,
    sent: u64,
}

impl DatagramSource {
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

    /// The datagram of that flow that is due at `now`, if one is.
    pub(crate) fn poll(&mut self, now: Timestamp, flow: u32, hop: u32) -> Option<Contents> {
        if self.next > now || now >= self.stop {
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
        Some(Contents {
            flow,
            connection: 0,
            hop,
            size,
            ecn: Ecn::NotEct,
            sent_at: now,
            enqueued_at: now,
            queueing: Duration::ZERO,
            body: Body::Datagram { sequence, path: PathHeader::None },
        })
    }

    /// When the next datagram is due.
    pub(crate) fn next_event(&self) -> Timestamp {
        if self.next < self.stop { self.next } else { Timestamp::NEVER }
    }

    /// Whether `now` is between start and stop.
    pub(crate) fn is_active(&self, now: Timestamp) -> bool {
        self.start <= now && now < self.stop
    }

    /// Datagrams sent so far.
    pub(crate) const fn sent(&self) -> u64 {
        self.sent
    }
}

/// The mean time between datagrams of a Poisson source.
fn mean_spacing(rate: Rate, mean_size: f64) -> Duration {
    Duration::from_secs_f64(mean_size * 8.0 / rate.as_bps_f64())
}
