//! Loss recovery by RFC 5681 only.

use airpath_model::CongestionSignal;
use airpath_transport::Recovery;

use crate::controller::Rule;
use crate::script::{Script, config};

const HALVE: Rule = Rule::Aimd { grow: false };

/// Twenty in flight, 0 and 4 are lost, like a test of RFC 6582 with ten: here the second hole waits for the
/// timer.
#[test]
fn an_acknowledgment_of_new_data_ends_recovery_and_a_second_hole_waits_for_the_timer() {
    let mut script = Script::new(config(Recovery::Reno), HALVE, 20);
    script.send();
    script.at(100);
    let sent: Vec<u64> = (0..18).flat_map(|_| script.ack(0, &[])).collect();
    assert_eq!(sent[..3], [20, 21, 0], "limited transmit, then the third duplicate");
    assert!(script.sender.in_recovery());
    let retransmitted = script.sender.counters().retransmitted_packets;
    script.at(200).ack(4, &[]);
    assert!(!script.sender.in_recovery());
    assert_eq!(script.sender.control().window.get(), 10_000, "the inflation is gone");
    // The rest of the window causes duplicates: they start no second recovery.
    for _ in 0..6 {
        script.ack(4, &[]);
    }
    assert!(!script.sender.in_recovery());
    assert_eq!(script.sender.counters().retransmitted_packets, retransmitted);
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss]);
    let expiry = script.sender.next_timer();
    assert!(expiry.is_scheduled());
    assert_eq!(script.expire(), [4]);
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss, CongestionSignal::Timeout]);
}
