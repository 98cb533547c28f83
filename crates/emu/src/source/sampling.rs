//! What the kernel says of every flow, once an interval.

use airpath_model::{Duration, Phase, Timestamp};
use airpath_sim::network::FlowState;

use super::receiving::Receivers;
use super::report::Report;
use super::sending::Source;
use crate::tcp_info::TcpInfo;

/// When the interval that ends at `end` is sampled: a little before, so that its row finds the values.
pub(crate) fn instant(end: Timestamp, interval: Duration) -> Timestamp {
    let early = Duration::from_millis(2).min(Duration::from_nanos(interval.as_nanos() / 10));
    Timestamp::from_nanos(end.as_nanos() - early.as_nanos())
}

/// Tells of every flow.
pub(super) fn sample(
    sources: &[Source],
    receivers: &mut Receivers,
    now: Timestamp,
    flows: usize,
    reports: &dyn Fn(Report),
) {
    let mut states = vec![FlowState::unknown(false); flows];
    for source in sources {
        let of_source = source.state(now);
        let state = &mut states[source.flow()];
        // Several connections of one flow at the same time have no window that could be told.
        *state = match (state.active, of_source.active) {
            (_, false) => *state,
            (false, true) => of_source,
            (true, true) => FlowState::unknown(true),
        };
    }
    for (flow, state) in (0_u32..).zip(states) {
        let goodput_bytes = receivers.end_interval(flow as usize);
        reports(Report::Interval { flow, goodput_bytes, state });
    }
}

/// A connection as the tables have it, under a congestion control of the kernel.
pub(crate) fn state(info: &TcpInfo, congestion_control: &str) -> FlowState {
    let segment = f64::from(info.segment_bytes);
    // BBR's windows follow other rules than the slow-start threshold.
    let follows_threshold = congestion_control != "bbr";
    let phase = match (follows_threshold, info.in_slow_start()) {
        (false, _) => Phase::Steady,
        (true, true) => Phase::SlowStart,
        (true, false) => Phase::CongestionAvoidance,
    };
    FlowState {
        active: true,
        cwnd_bytes: f64::from(info.congestion_window) * segment,
        ssthresh_bytes: info.slow_start_threshold.map_or(f64::NAN, |segments| f64::from(segments) * segment),
        in_flight_bytes: info.in_flight_bytes() as f64,
        srtt_s: if info.smoothed_rtt_us > 0 { f64::from(info.smoothed_rtt_us) * 1e-6 } else { f64::NAN },
        // All ones stand for "no limit".
        pacing_rate_bps: info
            .pacing_rate
            .filter(|&rate| rate != u64::MAX)
            .map_or(f64::NAN, |rate| rate as f64 * 8.0),
        phase,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_become_bytes_and_microseconds_seconds() {
        let info = TcpInfo {
            segment_bytes: 1448,
            congestion_window: 20,
            slow_start_threshold: Some(10),
            unacknowledged: 12,
            selectively_acknowledged: 3,
            lost: 2,
            retransmitted: 1,
            smoothed_rtt_us: 40_000,
            pacing_rate: Some(1_000_000),
            ..TcpInfo::default()
        };
        let told = state(&info, "cubic");
        assert_eq!(told.cwnd_bytes.to_bits(), 28_960_f64.to_bits());
        assert_eq!(told.ssthresh_bytes.to_bits(), 14_480_f64.to_bits());
        assert_eq!(told.in_flight_bytes.to_bits(), (8.0 * 1448.0_f64).to_bits());
        assert!((told.srtt_s - 0.04).abs() < 1e-12);
        assert_eq!(told.pacing_rate_bps.to_bits(), 8e6_f64.to_bits());
        assert_eq!(told.phase, Phase::CongestionAvoidance);
        assert_eq!(state(&info, "bbr").phase, Phase::Steady);
    }

    #[test]
    fn what_is_not_known_is_not_a_number() {
        let told = state(&TcpInfo { pacing_rate: Some(u64::MAX), ..TcpInfo::default() }, "reno");
        assert!(told.ssthresh_bytes.is_nan() && told.srtt_s.is_nan() && told.pacing_rate_bps.is_nan());
        assert_eq!(told.phase, Phase::SlowStart);
    }

    #[test]
    fn samples_come_just_before_the_end_of_an_interval() {
        let second = Timestamp::from_secs_f64(1.0);
        assert_eq!(instant(second, Duration::from_millis(100)).as_nanos(), 998_000_000);
        assert_eq!(instant(second, Duration::from_millis(5)).as_nanos(), 999_500_000);
    }
}
