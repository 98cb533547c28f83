//! Loss recovery without SACK: RFC 6582.

use airpath_model::CongestionSignal;
use airpath_transport::Recovery;

use crate::controller::Rule;
use crate::script::{Script, at, config};

const HALVE: Rule = Rule::Aimd { grow: false };

/// Ten in flight, 0 and 4 are lost. By RFC 6582, with segments as the unit: ssthresh is 5; after d duplicates
/// cwnd = 5 + d; after a partial acknowledgment of a segments cwnd - a + 1.
#[test]
fn each_partial_acknowledgment_retransmits_one_hole() {
    let mut script = Script::new(config(Recovery::Newreno), HALVE, 10);
    script.send();
    script.at(100);
    assert_eq!(script.ack(0, &[]), [10], "limited transmit");
    assert_eq!(script.ack(0, &[]), [11], "limited transmit");
    assert_eq!(script.ack(0, &[]), [0], "the third duplicate");
    assert!(script.sender.in_recovery());
    assert_eq!(script.sender.control().window.get(), 5_000);
    // Duplicates caused by 5 to 9, 10 and 11: the fourth to the tenth. cwnd exceeds the outstanding 12 from
    // the eighth on.
    let sent: Vec<u64> = (4..=10).flat_map(|_| script.ack(0, &[])).collect();
    assert_eq!(sent, [12, 13, 14]);
    // Partial: cwnd = 15 - 4 + 1 = 12, the outstanding segments 4 to 14 are 11: the hole, and one new
    // segment.
    assert_eq!(script.at(200).ack(4, &[]), [4, 15]);
    assert!(script.sender.in_recovery());
    let first = script.sender.next_timer();
    assert_eq!(first, at(200) + script.sender.retransmission_timeout());
    // A full acknowledgment ends the recovery with no more outstanding than the window.
    script.at(300).ack(12, &[]);
    assert!(!script.sender.in_recovery());
    assert_eq!(script.in_flight(), 5);
    assert_eq!(script.sender.next_timer(), at(300) + script.sender.retransmission_timeout());
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss]);
}

#[test]
fn only_the_first_partial_and_the_full_acknowledgment_restart_the_timer() {
    let mut script = Script::new(config(Recovery::Newreno), HALVE, 20);
    script.send();
    script.at(100);
    for _ in 0..17 {
        script.ack(0, &[]);
    }
    let before = script.sender.next_timer();
    assert_eq!(script.at(200).ack(4, &[])[0], 4);
    let after_first = script.sender.next_timer();
    assert_ne!(after_first, before);
    assert_eq!(after_first, at(200) + script.sender.retransmission_timeout());
    assert_eq!(script.at(300).ack(8, &[])[0], 8);
    assert_eq!(script.sender.next_timer(), after_first);
    script.at(350).ack(22, &[]);
    assert!(!script.sender.in_recovery());
    assert_eq!(script.sender.next_timer(), at(350) + script.sender.retransmission_timeout());
}

/// The first partial acknowledgment of *each* recovery (RFC 6582, section 3.2, step 3).
#[test]
fn the_first_partial_acknowledgment_of_the_next_recovery_restarts_the_timer_as_well() {
    let mut script = Script::new(config(Recovery::Newreno), Rule::Fixed, 10);
    script.send();
    let mut first = 0;
    for ms in [100, 1100] {
        for _ in 0..3 {
            script.at(ms).ack(first, &[]);
        }
        assert!(script.sender.in_recovery());
        let partial = first + 4;
        assert_eq!(script.at(ms + 100).ack(partial, &[])[0], partial);
        assert!(script.sender.in_recovery());
        assert_eq!(script.sender.next_timer(), at(ms + 100) + script.sender.retransmission_timeout());
        first += 13; // more than limited transmit had sent
        script.at(ms + 200).ack(first, &[]);
        assert!(!script.sender.in_recovery());
    }
}

/// After a timeout everything is retransmitted; segments that had already arrived cause full duplicate
/// acknowledgments.
#[test]
fn spurious_retransmissions_cause_no_fast_retransmit() {
    let mut script = Script::new(config(Recovery::Newreno), Rule::Fixed, 6);
    script.send();
    assert_eq!(script.expire(), [0, 1, 2, 3, 4, 5]);
    script.echo = Some(at(1000));
    assert_eq!(script.at(1100).ack(6, &[]), [6, 7, 8, 9, 10, 11]);
    // Segments 1 to 5 arrive a second time.
    let sent: Vec<u64> = (0..5).flat_map(|_| script.ack(6, &[])).collect();
    assert_eq!(sent, [12, 13], "limited transmit of two segments, no more");
    assert!(!script.sender.in_recovery());
    // Beyond the old flight duplicates count again.
    script.at(1200).ack(7, &[]);
    let sent: Vec<u64> = (0..3).flat_map(|_| script.ack(7, &[])).collect();
    assert!(sent.contains(&7));
    assert!(script.sender.in_recovery());
}

#[test]
fn old_acknowledgments_are_no_duplicates() {
    let mut script = Script::new(config(Recovery::Newreno), HALVE, 10);
    script.send();
    script.at(100).ack(3, &[]);
    for _ in 0..4 {
        script.ack(2, &[]);
    }
    assert!(!script.sender.in_recovery());
    assert_eq!(script.in_flight(), 10);
}

#[test]
fn duplicates_never_count_more_than_the_flight_size() {
    let mut script = Script::new(config(Recovery::Newreno), Rule::Fixed, 4);
    script.send();
    script.at(100);
    for _ in 0..3 {
        script.ack(0, &[]);
    }
    for _ in 0..50 {
        let before = script.in_flight();
        let sent = script.ack(0, &[]).len() as u64;
        assert!(script.in_flight() <= 4 && sent <= 4, "{before} and {sent}");
    }
    script.at(200).ack(2, &[]);
    assert!(script.in_flight() <= 4);
}

/// Limited transmit (RFC 3042) defines the allowance of two duplicates; new data ends it, and all outstanding
/// data counts again.
#[test]
fn an_acknowledgment_of_new_data_removes_the_window_inflation() {
    let mut script = Script::new(config(Recovery::Newreno), Rule::Fixed, 10);
    script.send();
    script.at(100);
    assert_eq!((script.ack(0, &[]), script.ack(0, &[])), (vec![10], vec![11]));
    assert!(script.ack(1, &[]).is_empty(), "eleven are outstanding, the window is ten");
    assert_eq!(script.in_flight(), 11);
    assert_eq!(script.ack(3, &[]), [12]);
}

/// Most duplicates are lost, so the flight seems larger than the window: the hole does not wait.
#[test]
fn a_partial_acknowledgment_retransmits_regardless_of_the_window() {
    let mut script = Script::new(config(Recovery::Newreno), HALVE, 20);
    script.send();
    script.at(100);
    for _ in 0..3 {
        script.ack(0, &[]);
    }
    assert_eq!(script.at(200).ack(4, &[]), [4]);
    assert!(script.in_flight() > 10);
}

/// One hole is repaired per round trip: the timer may fire while the acknowledgment of an earlier
/// retransmission is in flight. Its echo is old, but the other holes are real.
#[test]
fn a_timeout_in_recovery_is_not_considered_spurious() {
    let mut script = Script::new(config(Recovery::Newreno), HALVE, 10);
    script.send();
    script.at(100);
    for _ in 0..3 {
        script.ack(0, &[]);
    }
    script.expire();
    script.echo = Some(at(100));
    script.at(1101).ack(4, &[]);
    assert_eq!(script.sender.counters().spurious_timeouts, 0);
}

#[test]
fn duplicates_count_again_after_an_undone_timeout() {
    let mut script = Script::new(config(Recovery::Newreno), Rule::Fixed, 6);
    script.send();
    script.expire();
    script.echo = Some(at(0));
    script.at(1010).ack(6, &[]);
    assert_eq!(script.sender.counters().spurious_timeouts, 1);
    let sent: Vec<u64> = (0..3).flat_map(|_| script.ack(6, &[])).collect();
    assert!(sent.contains(&6) && script.sender.in_recovery());
}

#[test]
fn duplicates_after_a_timeout_open_no_window() {
    let mut script = Script::new(config(Recovery::Newreno), HALVE, 10);
    script.send();
    assert_eq!(script.expire(), [0]);
    for _ in 0..5 {
        assert!(script.ack(0, &[]).is_empty());
    }
    assert_eq!(script.in_flight(), 1);
}
