//! The kernel's report on every flow, once an interval.

use airpath_model::{Bytes, Duration, Phase, Rate, Timestamp};
use airpath_network::FlowState;

use super::receiving::Receivers;
use super::report::{Report, SourceSummary};
use super::sending::Source;
use crate::tcp_info::TcpInfo;

/// Returns the time at which the interval that ends at `end` is sampled: a little earlier, so that its row
/// contains the values.
pub(crate) fn instant(end: Timestamp, interval: Duration) -> Timestamp {
    let early = Duration::from_millis(2).min(Duration::from_nanos(interval.as_nanos() / 10));
    Timestamp::from_nanos(end.as_nanos() - early.as_nanos())
}

/// Reports the state of every flow's connection.
pub(super) fn sample(sources: &[Source], now: Timestamp, flows: usize, reports: &dyn Fn(Report)) {
    let mut states = vec![FlowState::unknown(false); flows];
    let mut limits = vec![None; flows];
    let mut senders = vec![0; flows];
    for source in sources {
        let (of_source, limited) = source.sample(now);
        senders[source.flow()] += 1;
        limits[source.flow()] = limited.filter(|_| senders[source.flow()] == 1);
        let state = &mut states[source.flow()];
        // Several simultaneous connections of one flow have no common window to report.
        *state = match (state.active, of_source.active) {
            (_, false) => *state,
            (false, true) => of_source,
            (true, true) => FlowState::unknown(true),
        };
    }
    for (flow, (state, limited)) in (0..).zip(states.into_iter().zip(limits)) {
        reports(Report::Interval { flow, state, limited });
    }
}

/// Reports the totals of every flow's sources so far; `ended` contains those of connections that have ended.
pub(super) fn count_so_far(sources: &[Source], mut ended: SourceSummary, reports: &dyn Fn(Report)) {
    for source in sources {
        source.count(&mut ended);
    }
    for (flow, summary) in (0..).zip(ended.flows) {
        reports(Report::Counted { flow, summary });
    }
}

/// Reports the bytes that receivers read.
pub(super) fn count(receivers: &mut Receivers, flows: usize, reports: &dyn Fn(Report)) {
    for flow in 0..flows {
        let bytes = receivers.take_goodput(flow);
        if bytes > 0 {
            reports(Report::Goodput { flow: flow as u32, bytes });
        }
    }
}

/// Returns the state of a connection for the tables, under a congestion control of the kernel.
pub(crate) fn state(info: &TcpInfo, congestion_control: &str) -> FlowState {
    let bytes = |segments: u32| Bytes::new(u64::from(segments) * u64::from(info.segment_bytes));
    let srtt = Duration::from_micros(u64::from(info.smoothed_rtt_us));
    // BBR's windows do not follow the slow-start threshold.
    let follows_threshold = congestion_control != "bbr";
    let phase = match (follows_threshold, info.in_slow_start()) {
        (false, _) => Phase::Steady,
        (true, true) => Phase::SlowStart,
        (true, false) => Phase::CongestionAvoidance,
    };
    FlowState {
        active: true,
        cwnd: Some(bytes(info.congestion_window)),
        ssthresh: info.slow_start_threshold.map(bytes),
        in_flight: Some(Bytes::new(info.in_flight_bytes())),
        srtt: (!srtt.is_zero()).then_some(srtt),
        // All ones mean "no limit".
        pacing_rate: info
            .pacing_rate
            .filter(|&rate| rate != u64::MAX)
            .map(|bytes| Rate::from_bps(bytes.saturating_mul(8))),
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
        assert_eq!(told.cwnd, Some(Bytes::new(28_960)));
        assert_eq!(told.ssthresh, Some(Bytes::new(14_480)));
        assert_eq!(told.in_flight, Some(Bytes::new(8 * 1448)));
        assert_eq!(told.srtt, Some(Duration::from_millis(40)));
        assert_eq!(told.pacing_rate, Some(Rate::from_bps(8_000_000)));
        assert_eq!(told.phase, Phase::CongestionAvoidance);
        assert_eq!(state(&info, "bbr").phase, Phase::Steady);
    }

    #[test]
    fn unknown_quantities_have_no_value() {
        let told = state(&TcpInfo { pacing_rate: Some(u64::MAX), ..TcpInfo::default() }, "reno");
        assert_eq!((told.ssthresh, told.srtt, told.pacing_rate), (None, None, None));
        assert_eq!(told.phase, Phase::SlowStart);
    }

    #[test]
    fn samples_come_just_before_the_end_of_an_interval() {
        let second = Timestamp::from_secs_f64(1.0);
        assert_eq!(instant(second, Duration::from_millis(100)).as_nanos(), 998_000_000);
        assert_eq!(instant(second, Duration::from_millis(5)).as_nanos(), 999_500_000);
    }
}
