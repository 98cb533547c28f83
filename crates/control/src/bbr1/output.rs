//! Pacing rate, quantum and target of the window.

use airpath_model::{Bytes, Duration, Rate};

use super::Bbr1;
use super::mode::{HIGH_GAIN, Mode};
use crate::bbr::output::{LARGEST_QUANTUM, OFFLOAD_QUANTA, PACING_MARGIN};

/// The time whose data is a quantum: 2⁻¹⁰ s (`sk_pacing_shift` in Linux).
const QUANTUM_TIME: Duration = Duration::from_nanos(1_000_000_000 >> 10);

/// The pacing rate below which a quantum may be one packet, and not two.
const SLOW: Rate = Rate::from_bps(1_200_000);

/// The largest quantum in packets.
const LARGEST_QUANTUM_PACKETS: u64 = 127;

/// Packets of the initial window (RFC 6928), independent of the configured one.
pub(super) const INITIAL_PACKETS: u64 = 10;

/// The time whose data bounds the window's growth by bursts of acknowledgments.
const LONGEST_BURST: Duration = Duration::from_millis(100);

impl Bbr1 {
    /// Returns the largest delivery rate of ten rounds.
    pub(super) fn max_bandwidth(&self) -> Rate {
        self.max_bw.get().unwrap_or_default()
    }

    /// Returns the estimated bandwidth: the rate of a policer, or the largest delivery rate.
    pub(super) fn bandwidth(&self) -> Rate {
        self.policer.rate().unwrap_or(self.max_bandwidth())
    }

    /// Returns the ratio of the pacing rate to the estimated bandwidth.
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::ProbeBandwidth(_) if self.policer.rate().is_some() => 1.0,
            mode => mode.pacing_gain(),
        }
    }

    /// Sets the pacing rate to the window per round trip, or per millisecond if no round-trip time is known.
    pub(super) fn init_pacing_rate(&mut self, smoothed_rtt: Duration) {
        let rtt = if smoothed_rtt.is_zero() { Duration::from_millis(1) } else { smoothed_rtt };
        self.pacing_rate = Rate::over(self.window, rtt).mul_f64(HIGH_GAIN * (1.0 - PACING_MARGIN));
    }

    /// Sets the pacing rate to `gain` times the bandwidth. It decreases only after the path has been filled,
    /// and is never zero, because no packet would ever be sent at that rate.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.bandwidth().mul_f64(gain * (1.0 - PACING_MARGIN)).max(Rate::from_bps(1));
        if self.full_pipe.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Returns the quantum in packets: the data of about a millisecond.
    pub(super) fn quantum_packets(&self) -> u64 {
        let bytes = self.pacing_rate.bytes_in(QUANTUM_TIME).min(LARGEST_QUANTUM);
        let least = if self.pacing_rate < SLOW { 1 } else { 2 };
        (bytes.get() / self.mss.get()).max(least).min(LARGEST_QUANTUM_PACKETS)
    }

    /// Returns `gain` times the bandwidth-delay product, rounded up to whole packets.
    fn bdp_packets(&self, bandwidth: Rate, gain: f64) -> u64 {
        match self.min_rtt.get() {
            Some(min_rtt) => bandwidth.bytes_in(min_rtt).mul_f64(gain).get().div_ceil(self.mss.get()),
            None => INITIAL_PACKETS,
        }
    }

    /// Adds the packets that sending and receiving host buffer, and rounds up to an even number because of
    /// delayed acknowledgments. The probing phase has two packets more, so that it raises small products, too.
    fn with_budget(&self, packets: u64) -> Bytes {
        let budget = packets + OFFLOAD_QUANTA * self.quantum_packets();
        let probing = matches!(self.mode, Mode::ProbeBandwidth(cycle) if cycle.is_probing());
        self.mss * (budget.next_multiple_of(2) + if probing { 2 } else { 0 })
    }

    /// Returns the data in flight that `gain` times the largest delivery rate requires.
    pub(super) fn inflight(&self, gain: f64) -> Bytes {
        self.with_budget(self.bdp_packets(self.max_bandwidth(), gain))
    }

    /// Returns the largest window.
    pub(super) fn target_window(&self) -> Bytes {
        let packets = self.bdp_packets(self.bandwidth(), self.mode.window_gain());
        self.with_budget(packets + self.aggregated_packets())
    }

    /// Returns the packets by which the window grows because of bursts of acknowledgments.
    fn aggregated_packets(&self) -> u64 {
        if !self.config.aggregation || !self.full_pipe.reached {
            return 0;
        }
        let most = self.bandwidth().bytes_in(LONGEST_BURST).get() / self.mss.get();
        self.aggregation.extra().get().div_ceil(self.mss.get()).min(most)
    }
}
