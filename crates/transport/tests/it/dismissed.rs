//! Congestion signals that the controller dismisses as channel errors.

use airpath_model::CongestionSignal::{EcnCe, Loss, Timeout};
use airpath_transport::{EcnMode, Recovery, SenderConfig};

use crate::controller::Rule;
use crate::script::{MSS, Script, at, config};

#[test]
fn the_first_timeout_does_not_back_off() {
    let mut script = Script::new(config(Recovery::Prr), Rule::Dismiss, 4);
    assert_eq!(script.send(), [0, 1, 2, 3]);
    let mut expiries = Vec::new();
    for _ in 0..5 {
        expiries.push(script.sender.next_timer());
        assert_eq!(script.expire(), [0, 1, 2, 3], "the whole window again");
    }
    assert_eq!(expiries, [1, 2, 4, 8, 16].map(|seconds| at(1000 * seconds)));
}

#[test]
fn after_an_acknowledgment_the_next_timeout_counts_as_first() {
    let mut script = Script::new(config(Recovery::Prr), Rule::Dismiss, 1);
    script.send();
    script.expire();
    script.echo = Some(at(1000));
    assert_eq!(script.at(1100).ack(1, &[]), [1]);
    let timeout = script.sender.retransmission_timeout();
    script.expire();
    assert_eq!(script.sender.retransmission_timeout(), timeout);
    script.expire();
    assert_eq!(script.sender.retransmission_timeout(), timeout * 2);
}

#[test]
fn a_dismissed_loss_keeps_the_window_full() {
    for recovery in [Recovery::Prr, Recovery::Sack] {
        let mut script = Script::new(config(recovery), Rule::Dismiss, 10);
        script.send();
        script.at(100);
        let mut again = 0;
        for right in 2..=10 {
            again += script.ack(0, &[(1, right)]).iter().filter(|&&segment| segment == 0).count();
        }
        assert!(script.sender.in_recovery());
        assert_eq!(again, 1, "the lost one, once");
        assert_eq!(script.in_flight(), 10, "{recovery:?}");
        script.at(200).ack(12, &[]); // limited transmit had sent two
        assert!(!script.sender.in_recovery());
        assert_eq!(script.controller.signals(), [Loss]);
    }
}

#[test]
fn a_dismissed_loss_sets_no_cwr() {
    let marked = SenderConfig { ecn: EcnMode::Classic, ..config(Recovery::Sack) };
    let mut script = Script::new(marked, Rule::Dismiss, 10);
    script.send();
    script.at(100).give(0, &[(1, 10)]);
    assert!(script.segments().iter().all(|segment| !segment.cwr));
    // The echo that ends the recovery requests a reduction that has not happened yet.
    script.ece = true;
    script.at(200).give(10 * MSS, &[]);
    assert_eq!(script.controller.signals(), [Loss, EcnCe]);
    script.ece = false;
    assert!(script.sender.control().window.get() < 10 * MSS);
    let delivered = script.sender.delivered().get();
    script.at(300).give(delivered + 8 * MSS, &[]);
    assert_eq!(script.segments().iter().filter(|segment| segment.cwr).count(), 1);
}

#[test]
fn segments_marked_by_a_dismissed_timeout_are_sent_within_the_window() {
    let mut script = Script::new(config(Recovery::Sack), Rule::Dismiss, 6);
    script.send();
    script.at(100).ack(0, &[(4, 6)]);
    assert_eq!(script.expire(), [0, 1, 2, 3, 6, 7]);
    assert_eq!(script.controller.signals(), [Timeout]);
}
