//! The tail loss probe (RFC 8985, section 7).

use airpath_model::{Bytes, CongestionSignal, Duration};
use airpath_transport::{LossDetection, Recovery, SenderConfig};

use crate::controller::Rule;
use crate::script::{MSS, Script, at, config};

const HALVE: Rule = Rule::Aimd { grow: false };

/// Returns a sender of finite data with a round trip of 100 ms, measured once: segment 0 was acknowledged at
/// 100 ms. The timeout is 300 ms.
fn measured(window: u64) -> Script {
    measured_of(config(Recovery::Sack), window)
}

fn measured_of(config: SenderConfig, window: u64) -> Script {
    let config = SenderConfig { loss_detection: LossDetection::Rack, ..config };
    let mut script = Script::idle(config, HALVE, window);
    script.offer(1);
    assert_eq!(script.send(), [0]);
    assert_eq!(script.sender.next_timer(), at(1000), "no round trip was measured: a second, as the timeout");
    script.at(100).ack(1, &[]);
    assert_eq!(script.sender.retransmission_timeout(), Duration::from_millis(300));
    script
}

impl Script {
    fn offer(&mut self, segments: u64) {
        self.sender.offer(Bytes::new(segments * MSS));
    }

    fn probes_at(&mut self, ms: u64, segments: &[u64]) {
        assert_eq!(self.sender.next_timer(), at(ms));
        assert_eq!(self.expire(), segments);
        assert_eq!(self.sender.counters().timeouts, 0);
    }
}

#[test]
fn a_lost_tail_is_detected_by_the_response_to_a_probe() {
    let mut script = measured(10);
    script.offer(3);
    assert_eq!(script.send(), [1, 2, 3]);
    script.probes_at(300, &[3]);
    assert_eq!(script.sender.next_timer(), at(600), "the timeout starts again");
    assert_eq!(script.at(400).ack(1, &[(3, 4)]), [1, 2], "sent before the probe, and late");
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss]);
    script.at(500).ack(4, &[]);
    assert_eq!(script.sender.counters().timeouts, 0);
    assert_eq!(script.sender.counters().retransmitted_packets, 3);
    // Later acknowledgments carry no more information about that probe.
    script.offer(2);
    script.send();
    script.at(600).ack(6, &[]);
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss]);
}

#[test]
fn the_first_flight_is_probed_as_well() {
    let config = SenderConfig { loss_detection: LossDetection::Rack, ..config(Recovery::Sack) };
    let mut script = Script::idle(config, HALVE, 10);
    script.offer(3);
    script.send();
    script.probes_at(1000, &[2]);
}

#[test]
fn each_new_segment_and_acknowledgment_postpones_the_probe() {
    let mut script = measured(10);
    script.offer(2);
    script.send();
    script.at(150).offer(1);
    assert_eq!(script.send(), [3]);
    // Two round trips of 100 ms would end at 350; the retransmission timer, which new data does not restart,
    // expires at 400.
    assert_eq!(script.sender.next_timer(), at(350));
    script.at(200).ack(2, &[]);
    assert_eq!(script.sender.next_timer(), at(400));
    script.at(210).ack(2, &[]);
    assert_eq!(script.sender.next_timer(), at(400), "this acknowledgment has no new information");
}

#[test]
fn the_probe_is_sent_no_later_than_the_timeout() {
    let mut script = measured(10);
    script.offer(1);
    script.send();
    script.at(250).offer(1);
    script.send();
    script.probes_at(400, &[2]);
    assert_eq!(script.sender.next_timer(), at(700));
}

#[test]
fn the_acknowledgment_of_a_single_segment_may_be_delayed() {
    let mut script = measured(10);
    script.offer(1);
    script.send();
    // 200 ms more, which is beyond the timeout.
    script.probes_at(400, &[1]);

    let mut script = measured(10);
    // A timeout of 100 + 4 x 200 ms.
    script.offer(1);
    script.at(200).send();
    script.at(1100).ack(2, &[]);
    let timeout = script.sender.retransmission_timeout();
    assert!(timeout > script.sender.rtt().smoothed * 2 + Duration::from_millis(200), "{timeout:?}");
    script.offer(1);
    script.send();
    assert_eq!(
        script.sender.next_timer(),
        at(1100) + script.sender.rtt().smoothed * 2 + Duration::from_millis(200)
    );
}

#[test]
fn the_probe_prefers_new_data_and_may_exceed_the_window() {
    let mut script = measured(3);
    script.offer(9);
    assert_eq!(script.send(), [1, 2, 3]);
    script.probes_at(300, &[4]);
    assert_eq!(script.in_flight(), 4);
    assert_eq!(script.at(400).ack(1, &[(4, 5)]), [1, 2], "the window is one and a half");

    // The probe was new data: its arrival proves nothing, and another probe is allowed.
    let mut script = measured(3);
    script.offer(9);
    script.send();
    script.probes_at(300, &[4]);
    assert_eq!(script.at(400).ack(4, &[]), [5, 6]);
    assert_eq!(script.at(500).ack(6, &[]), [7, 8]);
    assert!(script.controller.signals().is_empty());
    assert_eq!(script.expire(), [9]);
    assert_eq!(script.now, at(500) + script.sender.rtt().smoothed * 2);
}

#[test]
fn the_probe_respects_the_receive_window() {
    let small = SenderConfig { receive_window: Bytes::new(2 * MSS), ..config(Recovery::Sack) };
    let mut script = measured_of(small, 10);
    script.offer(9);
    assert_eq!(script.send(), [1, 2]);
    script.probes_at(300, &[2]); // the last again, not one more
}

#[test]
fn one_probe_is_outstanding_at_a_time_and_the_timeout_follows() {
    let mut script = measured(10);
    script.offer(3);
    script.send();
    script.probes_at(300, &[3]);
    assert_eq!(script.expire(), [1], "the timeout");
    assert_eq!(script.now, at(600));
    assert_eq!(script.sender.counters().timeouts, 1);
    assert!(script.sender.next_timer() >= at(1200), "backed off, and no probe while losses are repaired");
    script.at(700).ack(4, &[]);
    script.offer(1);
    assert_eq!(script.send(), [4]);
    script.at(800).ack(5, &[]);
    assert_eq!(
        script.controller.signals(),
        [CongestionSignal::Timeout],
        "of which the probe's loss is a part"
    );
}

/// Segments 1 to 3 are sent at 100 ms, the last is retransmitted as a probe at 300 ms, and all are
/// acknowledged at 400 ms.
fn probed() -> Script {
    let mut script = measured(10);
    script.offer(3);
    script.send();
    script.probes_at(300, &[3]);
    script.at(400).ack(4, &[]);
    assert!(script.controller.signals().is_empty(), "the original or the probe");
    script.offer(2);
    assert_eq!(script.send(), [4, 5]);
    script
}

#[test]
fn a_loss_repaired_by_the_probe_reduces_the_window() {
    let mut script = probed();
    assert!(
        script.sender.next_timer() >= at(700),
        "the probe may still be in flight, so there is no second one"
    );
    script.at(500).ack(6, &[]);
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss]);
    let signals = &script.controller.desk().signals;
    assert_eq!(signals[0].flight_size.get(), 3 * MSS, "what was outstanding then");
    assert_eq!(signals[0].lost.get(), MSS);
    assert_eq!(script.sender.counters().recoveries, 0, "there is nothing to repair");
}

#[test]
fn delivery_of_original_and_probe_does_not_reduce_the_window() {
    let mut script = probed();
    script.at(410).repeated = true;
    script.ack(4, &[]);
    script.at(500).ack(6, &[]);
    assert!(script.controller.signals().is_empty());
    script.offer(3);
    script.send();
    assert_eq!(script.expire(), [8], "and there may be another one");

    // The same if that acknowledgment also covers new data.
    let mut script = probed();
    script.at(500).repeated = true;
    script.ack(6, &[]);
    assert!(script.controller.signals().is_empty());

    // A receiver that does not report the duplicate segment sends a bare duplicate.
    let mut script = probed();
    script.at(410).ack(4, &[]);
    script.at(500).ack(6, &[]);
    assert!(script.controller.signals().is_empty());

    // An acknowledgment with SACK blocks is not such a duplicate.
    let mut script = probed();
    script.at(500).ack(4, &[(5, 6)]);
    script.at(501).ack(6, &[]);
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss]);
}

#[test]
fn no_probe_is_sent_with_sacked_data_or_before_a_round_trip_time_sample() {
    let mut script = measured(10);
    script.offer(3);
    script.send();
    script.at(200).ack(1, &[(3, 4)]);
    let rack = script.sender.next_timer();
    assert_eq!(rack, at(225), "RACK's: a quarter of the round trip");
    assert_eq!(script.expire(), [1, 2]);

    // Both copies of a lone segment are acknowledged, which yields no sample: the timeout is next.
    let mut script = measured(10);
    script.offer(1);
    script.send();
    script.probes_at(400, &[1]);
    script.at(450).ack(2, &[]);
    script.at(460).repeated = true;
    script.ack(2, &[]);
    script.offer(2);
    assert_eq!(script.send(), [2, 3]);
    script.probes_at(660, &[]);
    assert_eq!(script.sender.next_timer(), at(960));
    assert_eq!(script.expire(), [2]);
    assert_eq!(script.sender.counters().timeouts, 1);
}
