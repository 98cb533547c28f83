//! How well real time followed logical time.

use airpath_model::{Duration, Timestamp};
use hdrhistogram::Histogram;

use crate::address::Side;

/// Lateness above which packets count as late.
pub const LATE: Duration = Duration::from_millis(1);

/// Planned and actual times of deliveries to hosts.
#[derive(Debug)]
pub(crate) struct Timing {
    /// Lateness in nanoseconds of the packets to each side.
    lateness: [Histogram<u64>; 2],
    sum_ns: u128,
    late: u64,
    refused: u64,
    /// For each side, the bytes of each second, planned and actual.
    seconds: [Vec<Second>; 2],
}

/// Bytes that were delivered to one host within one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Second {
    /// According to the network.
    pub(crate) modelled: u64,
    /// According to the clock.
    pub(crate) achieved: u64,
}

/// Lateness of packets in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lateness {
    /// Packets delivered to hosts.
    pub packets: u64,
    /// Mean.
    pub mean_s: f64,
    /// Median.
    pub p50_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
    /// Maximum.
    pub max_s: f64,
    /// Packets later than [`LATE`].
    pub late_packets: u64,
    /// Packets that the host's network stack did not accept.
    pub refused_packets: u64,
}

/// Longest recorded lateness in nanoseconds: a minute.
const LONGEST: u64 = 60_000_000_000;
/// Number of seconds with initially allocated memory: a quarter of an hour. More is allocated on demand.
const SECONDS: usize = 900;

impl Timing {
    pub(crate) fn new() -> Self {
        // Bounds and digits are in the range that the library accepts.
        let lateness = || Histogram::new_with_bounds(1, LONGEST, 3).unwrap_or_else(|_| unreachable!());
        let seconds = || Vec::with_capacity(SECONDS);
        Self {
            lateness: [lateness(), lateness()],
            sum_ns: 0,
            late: 0,
            refused: 0,
            seconds: [seconds(), seconds()],
        }
    }

    /// Records a packet that was due at a host at `due` and is delivered at `now`.
    pub(crate) fn on_delivery(
        &mut self,
        side: Side,
        due: Timestamp,
        now: Timestamp,
        bytes: usize,
        taken: bool,
    ) {
        let late = now.since(due);
        self.lateness[side.index()].saturating_record(late.as_nanos());
        self.sum_ns += u128::from(late.as_nanos());
        self.late += u64::from(late > LATE);
        self.refused += u64::from(!taken);
        let seconds = &mut self.seconds[side.index()];
        second(seconds, due).modelled += bytes as u64;
        second(seconds, now).achieved += bytes as u64;
    }

    pub(crate) fn lateness(&self) -> Lateness {
        let mut lateness = self.lateness[0].clone();
        // Both have the same bounds and digits.
        lateness.add(&self.lateness[1]).unwrap_or_else(|_| unreachable!());
        let packets = lateness.len();
        let quantile = |share: f64| lateness.value_at_quantile(share) as f64 / 1e9;
        if packets == 0 {
            return Lateness::default();
        }
        Lateness {
            packets,
            mean_s: self.sum_ns as f64 / packets as f64 / 1e9,
            p50_s: quantile(0.5),
            p99_s: quantile(0.99),
            max_s: lateness.max() as f64 / 1e9,
            late_packets: self.late,
            refused_packets: self.refused,
        }
    }

    /// Returns the median lateness of the packets to one side in seconds; NaN without any.
    pub(crate) fn median_s(&self, side: Side) -> f64 {
        let lateness = &self.lateness[side.index()];
        if lateness.is_empty() { f64::NAN } else { lateness.value_at_quantile(0.5) as f64 / 1e9 }
    }

    pub(crate) fn seconds(&self, side: Side) -> &[Second] {
        &self.seconds[side.index()]
    }
}

fn second(seconds: &mut Vec<Second>, at: Timestamp) -> &mut Second {
    let index = (at.as_nanos() / 1_000_000_000) as usize;
    if seconds.len() <= index {
        seconds.resize(index + 1, Second::default());
    }
    &mut seconds[index]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheduling_delays_and_seconds_add_up() {
        let mut timing = Timing::new();
        let at = |micros: u64| Timestamp::ZERO + Duration::from_micros(micros);
        timing.on_delivery(Side::Senders, at(999_990), at(1_000_010), 100, true);
        timing.on_delivery(Side::Senders, at(1_500_000), at(1_502_000), 200, false);
        let lateness = timing.lateness();
        assert_eq!((lateness.packets, lateness.late_packets, lateness.refused_packets), (2, 1, 1));
        assert!((lateness.mean_s - 1010e-6).abs() < 1e-9);
        assert!((lateness.max_s / 2e-3 - 1.0).abs() < 1e-3, "three digits");
        let expected = [Second { modelled: 100, achieved: 0 }, Second { modelled: 200, achieved: 300 }];
        assert_eq!(timing.seconds(Side::Senders), expected);
        assert!(timing.seconds(Side::Receivers).is_empty());
        assert!((timing.median_s(Side::Senders) / 20e-6 - 1.0).abs() < 1e-3, "the smaller of two");
        assert!(timing.median_s(Side::Receivers).is_nan());
    }

    #[test]
    fn the_scheduling_delay_of_all_packets_includes_both_sides() {
        let mut timing = Timing::new();
        let due = Timestamp::ZERO + Duration::from_millis(1);
        for (side, micros) in [(Side::Senders, 10), (Side::Senders, 10), (Side::Receivers, 400)] {
            timing.on_delivery(side, due, due + Duration::from_micros(micros), 100, true);
        }
        let lateness = timing.lateness();
        assert_eq!(lateness.packets, 3);
        assert!((lateness.p50_s / 10e-6 - 1.0).abs() < 1e-3);
        assert!((timing.median_s(Side::Receivers) / 400e-6 - 1.0).abs() < 1e-3);
    }
}
