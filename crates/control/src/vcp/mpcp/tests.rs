use airpath_model::{Duration, NullProbe, Timestamp};

use super::*;

const MSS: Bytes = Bytes::new(1000);

fn mpcp(digits: u8) -> Mpcp {
    Mpcp::new(MpcpConfig { digits, ..MpcpConfig::default() }, MSS * 16, MSS).unwrap()
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() <= 1e-12, "{left} is not {right}");
}

fn multiplicative(load: f64) -> f64 {
    let Region::Multiplicative(gain) = region(load) else { panic!("{load} does not multiply") };
    gain
}

fn decrease(load: f64) -> f64 {
    let Region::Decrease(factor) = region(load) else { panic!("{load} does not decrease") };
    factor
}

/// Acknowledges `packets`, the newest of which had number `digit` of two and carried `level`, over 200 ms.
fn acknowledge(controller: &mut Mpcp, packets: u64, digit: u8, level: u16) -> u64 {
    let mut event = AckEvent::at(Timestamp::ZERO);
    event.mss = MSS;
    event.acked = MSS * packets;
    event.rtt.minimum = Duration::from_millis(200);
    event.rtt.smoothed = event.rtt.minimum;
    event.path = PathHeader::Word(LoadWord { level, digits: 2, digit });
    controller.on_ack(&event, &mut NullProbe);
    controller.control().window.get()
}

#[test]
fn multiplicative_increase_falls_with_the_load() {
    close(multiplicative(0.0), 0.25);
    close(multiplicative(0.5), 0.25);
    close(multiplicative(0.625), 0.15);
    // At the boundary it equals VCP's ξ.
    close(multiplicative(0.8 - 1e-14), 0.0625);
    assert_eq!(region(0.8), Region::Additive);
    assert_eq!(region(1.0 - f64::EPSILON), Region::Additive);
}

#[test]
fn multiplicative_decrease_falls_linearly() {
    close(decrease(1.0), 0.875);
    close(decrease(1.1), 0.6875);
    close(decrease(1.2), 0.5);
    close(decrease(7.0), 0.5);
}

#[test]
fn packets_are_numbered_in_groups() {
    for (digits, expected) in [(1, [0, 0, 0, 0]), (2, [0, 1, 0, 1]), (3, [0, 1, 2, 0])] {
        let mut controller = mpcp(digits);
        let sent = [(); 4].map(|()| controller.on_sent(&SendEvent::at(Timestamp::ZERO, MSS), &mut NullProbe));
        let expected = expected.map(|digit| PathHeader::Word(LoadWord { level: 0, digits, digit }));
        assert_eq!(sent, expected);
    }
}

#[test]
fn a_load_counts_once_its_group_is_acknowledged() {
    let mut controller = mpcp(2);
    assert_eq!(acknowledge(&mut controller, 1, 0, 0), 16_000, "half a word");
    // Level 0 means growth by a quarter each t_ρ: a quarter of a packet for each packet.
    assert_eq!(acknowledge(&mut controller, 1, 1, 15), 16_250);
    // The old word applies until the next one is complete: level 15 halves.
    assert_eq!(acknowledge(&mut controller, 1, 0, 15), 16_500);
    assert_eq!(acknowledge(&mut controller, 1, 1, 0), 8_250);
}

#[test]
fn a_lost_packet_loses_its_load_word() {
    let mut controller = mpcp(2);
    acknowledge(&mut controller, 1, 0, 15);
    // Number 1 is lost; number 0 of the next group follows.
    assert_eq!(acknowledge(&mut controller, 1, 0, 15), 16_000);
    assert_eq!(acknowledge(&mut controller, 1, 0, 15), 16_000);
    assert_eq!(acknowledge(&mut controller, 1, 1, 15), 8_000);
}

#[test]
fn groups_are_followed_through_acknowledgments_of_several_packets() {
    let word = |digits, digit, level| LoadWord { level, digits, digit };
    // Delayed acknowledgments that are aligned with groups of two, and some that are not.
    let mut group = Group::default();
    assert_eq!(group.on_word(word(2, 1, 7), 2), Some(7));
    assert_eq!(group.on_word(word(2, 1, 8), 2), Some(8));
    let mut group = Group::default();
    assert_eq!(group.on_word(word(2, 0, 7), 1), None);
    assert_eq!(group.on_word(word(2, 0, 8), 2), Some(7));
    assert_eq!(group.on_word(word(2, 0, 9), 2), Some(8));
    // Groups of four: numbers 0; 1 and 2; 3, 0 and 1; then 3 after a lost 2.
    let mut group = Group::default();
    assert_eq!(group.on_word(word(4, 0, 5), 1), None);
    assert_eq!(group.on_word(word(4, 2, 6), 2), None);
    assert_eq!(group.on_word(word(4, 1, 7), 3), Some(5));
    assert_eq!(group.on_word(word(4, 3, 8), 1), None);
    assert_eq!(group.on_word(word(4, 0, 9), 1), None);
}

#[test]
fn a_single_packet_may_carry_a_load_word() {
    let mut group = Group::default();
    for level in 0..4 {
        assert_eq!(group.on_word(LoadWord { level, digits: 1, digit: 0 }, 1), Some(level));
    }
}

#[test]
fn a_timeout_forgets_the_load() {
    let mut controller = mpcp(2);
    acknowledge(&mut controller, 1, 0, 0);
    acknowledge(&mut controller, 1, 1, 0);
    let mut timeout = CongestionEvent::at(Timestamp::ZERO, CongestionSignal::Timeout);
    timeout.mss = MSS;
    controller.on_congestion(&timeout, &mut NullProbe);
    assert_eq!(acknowledge(&mut controller, 1, 0, 0), 1_000);
    assert_eq!(acknowledge(&mut controller, 1, 1, 0), 1_250);
}

/// A group that began before a timeout is not completed after it; a loss keeps the known load.
#[test]
fn a_timeout_discards_half_a_load_word_and_a_loss_nothing() {
    let signal = |controller: &mut Mpcp, signal| {
        let mut event = CongestionEvent::at(Timestamp::ZERO, signal);
        event.mss = MSS;
        controller.on_congestion(&event, &mut NullProbe);
    };
    let mut controller = mpcp(2);
    acknowledge(&mut controller, 1, 0, 0);
    signal(&mut controller, CongestionSignal::Timeout);
    assert_eq!(acknowledge(&mut controller, 1, 1, 0), 1_000);
    let mut controller = mpcp(2);
    acknowledge(&mut controller, 1, 0, 0);
    assert_eq!(acknowledge(&mut controller, 1, 1, 0), 16_250);
    signal(&mut controller, CongestionSignal::Loss);
    assert_eq!(acknowledge(&mut controller, 1, 0, 0), 8_375, "half, and a quarter for the packet");
}

/// After a gap, only the newest word is known of the groups that one acknowledgment covers.
#[test]
fn an_incomplete_group_has_no_load() {
    let word = |digit, level| LoadWord { level, digits: 4, digit };
    let mut group = Group::default();
    assert_eq!(group.on_word(word(0, 7), 1), None);
    assert_eq!(group.on_word(word(3, 8), 1), None, "1 and 2 were lost");
    assert_eq!(group.on_word(word(0, 9), 5), None);
    assert_eq!(group.on_word(word(3, 5), 3), Some(9));
}

#[test]
fn load_words_of_another_size_are_ignored() {
    let mut controller = mpcp(3);
    assert_eq!(acknowledge(&mut controller, 2, 1, 0), 16_000);
    let mut event = AckEvent::at(Timestamp::ZERO);
    event.mss = MSS;
    event.acked = MSS;
    controller.on_ack(&event, &mut NullProbe);
    assert_eq!(controller.control().window, MSS * 16);
}

#[test]
fn invalid_parameters_are_rejected() {
    for digits in [0, 9] {
        assert!(Mpcp::new(MpcpConfig { digits, ..MpcpConfig::default() }, MSS, MSS).is_err());
    }
}
