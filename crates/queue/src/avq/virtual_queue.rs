//! The simulated queue by which AVQ decides.

use airpath_model::config::check;
use airpath_model::{Bytes, Timestamp};

use crate::{AvqConfig, ConfigError};

/// A simulated backlog and the virtual capacity that drains it.
#[derive(Clone, Copy, Debug)]
pub(super) struct VirtualQueue {
    /// C in byte/s; the next field is the size of the buffer in bytes.
    link: f64,
    buffer: f64,
    alpha: f64,
    gamma: f64,
    /// C̃, byte/s.
    capacity: f64,
    bytes: f64,
    last_arrival: Timestamp,
}

impl VirtualQueue {
    pub(super) fn new(config: &AvqConfig) -> Result<Self, ConfigError> {
        let AvqConfig { capacity, buffer, alpha, gamma, initial_share, .. } = *config;
        let link = capacity.bytes_per_second();
        check(link > 0.0, "capacity", "greater than zero", link)?;
        check(alpha > 0.0 && alpha.is_finite(), "alpha", "greater than zero and finite", alpha)?;
        check(gamma > 0.0 && gamma <= 1.0, "gamma", "above 0, at most 1", gamma)?;
        check((0.0..=1.0).contains(&initial_share), "initial_share", "from 0 to 1", initial_share)?;
        Ok(Self {
            link,
            buffer: buffer.as_f64(),
            alpha,
            gamma,
            capacity: initial_share * link,
            bytes: 0.0,
            last_arrival: Timestamp::ZERO,
        })
    }

    /// Returns C̃ in byte/s.
    pub(super) const fn capacity(&self) -> f64 {
        self.capacity
    }

    /// Returns the virtual backlog in bytes.
    pub(super) const fn bytes(&self) -> f64 {
        self.bytes
    }

    /// Records the arrival of a packet of `size` and returns whether it overflows.
    pub(super) fn on_arrival(&mut self, now: Timestamp, size: Bytes) -> bool {
        let (passed, size) = (now.since(self.last_arrival).as_secs_f64(), size.as_f64());
        self.last_arrival = now;
        self.bytes = (self.bytes - self.capacity * passed).max(0.0);
        let overflows = self.bytes + size > self.buffer;
        if !overflows {
            self.bytes += size;
        }
        let grown = (self.capacity + self.alpha * self.gamma * self.link * passed).min(self.link);
        self.capacity = (grown - self.alpha * size).max(0.0);
        overflows
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::{Duration, Rate};

    use super::*;

    /// Values computed independently: 1 Mbit/s, a buffer of 3000 bytes.
    #[test]
    fn the_virtual_capacity_falls_with_arrivals_and_grows_with_time() {
        let config = AvqConfig {
            capacity: Rate::from_bps(1_000_000),
            buffer: Bytes::new(3000),
            alpha: 0.15,
            gamma: 0.98,
            initial_share: 0.8,
            ecn: true,
        };
        let mut queue = VirtualQueue::new(&config).expect("the parameters are in range");
        let arrivals = [
            (0, 1500, 99_775.0, false),
            (1, 1500, 99_568.375, false),
            (2, 1500, 99_361.75, true),
            (2, 40, 99_355.75, false),
            (100, 1500, 100_931.5, false),
            (1000, 1500, 117_244.0, false),
        ];
        for (millis, size, capacity, overflows) in arrivals {
            let at = Timestamp::ZERO + Duration::from_millis(millis);
            assert_eq!(queue.on_arrival(at, Bytes::new(size)), overflows, "at {millis} ms");
            assert!((queue.capacity() - capacity).abs() < 1e-9, "{} {capacity}", queue.capacity());
        }
        queue.on_arrival(Timestamp::ZERO + Duration::from_secs(100), Bytes::new(1500));
        assert!((queue.capacity() - (125_000.0 - 225.0)).abs() < 1e-9, "at most that of the link");
    }
}
