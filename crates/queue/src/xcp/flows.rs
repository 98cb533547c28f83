//! The mean round-trip time over flows, from the headers of their packets.

use airpath_model::{Bytes, Duration, XcpHeader};

/// Sums over the packets of one interval, each weighted by X, the time between two packets of its flow. A
/// flow sends RTT/X packets per round trip, so that all flows have the same weight regardless of their rates.
#[derive(Clone, Copy, Debug, Default)]
pub struct XcpFlows {
    /// Σ X, seconds.
    sum_x: f64,
    /// Σ X RTT, seconds squared.
    sum_x_rtt: f64,
    /// Σ s: bytes of the packets on which feedback can be written.
    bytes: Bytes,
}

impl XcpFlows {
    /// Processes the arrival of a data packet of `size`. Its RTT counts up to `longest`; a flow without an
    /// RTT (zero) does not count.
    pub(crate) fn on_arrival(&mut self, header: &XcpHeader, size: Bytes, longest: Duration) {
        if header.rtt.is_zero() {
            return;
        }
        self.bytes += size;
        let x = header.inter_packet.as_secs_f64();
        self.sum_x += x;
        self.sum_x_rtt += x * header.rtt.min(longest).as_secs_f64();
    }

    /// Adds packets that were summed elsewhere: Σ X in seconds, Σ X RTT in seconds squared with each RTT
    /// bounded, and their bytes, only of flows with an RTT. Sums that are negative or not a number count as
    /// zero.
    pub fn on_arrivals(&mut self, sum_x: f64, sum_x_rtt: f64, bytes: Bytes) {
        self.sum_x += sum_x.max(0.0);
        self.sum_x_rtt += sum_x_rtt.max(0.0);
        self.bytes += bytes;
    }

    /// Returns Σ X in seconds, or zero if no flow with an RTT was observed.
    pub(crate) fn sum_x(&self) -> f64 {
        self.sum_x
    }

    /// Returns Σ s in bytes, over the same packets.
    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Returns d, the mean round-trip time, which is greater than zero, or `None` if no flow with an RTT was
    /// observed.
    pub(crate) fn mean_rtt(&self) -> Option<Duration> {
        (self.sum_x > 0.0)
            .then(|| Duration::from_secs_f64(self.sum_x_rtt / self.sum_x).max(Duration::from_nanos(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Bytes = Bytes::new(1000);

    fn header(rtt_ms: u64, packets_in_window: u64) -> XcpHeader {
        let rtt = Duration::from_millis(rtt_ms);
        XcpHeader { rtt, inter_packet: rtt / packets_in_window, delta_throughput: 1e24 }
    }

    #[test]
    fn the_mean_is_over_flows_and_not_over_packets() {
        // In 400 ms one flow sends 40 packets with an RTT of 100 ms, the other 2 packets with an RTT of
        // 400 ms.
        let mut flows = XcpFlows::default();
        let longest = Duration::from_secs(1);
        for _ in 0..40 {
            flows.on_arrival(&header(100, 10), SIZE, longest);
        }
        for _ in 0..2 {
            flows.on_arrival(&header(400, 2), SIZE, longest);
        }
        assert_eq!(flows.mean_rtt(), Some(Duration::from_millis(250)));
        assert!((flows.sum_x() - 0.8).abs() < 1e-12);
        assert_eq!(flows.bytes(), Bytes::new(42_000));
    }

    #[test]
    fn long_round_trips_count_up_to_the_bound_and_unknown_ones_not_at_all() {
        let mut flows = XcpFlows::default();
        let longest = Duration::from_secs(1);
        assert_eq!(flows.mean_rtt(), None);
        flows.on_arrival(&header(0, 1), SIZE, longest);
        assert_eq!((flows.mean_rtt(), flows.bytes()), (None, Bytes::ZERO));
        flows.on_arrival(&header(5000, 5), SIZE, longest);
        assert_eq!(flows.mean_rtt(), Some(longest));
    }
}
