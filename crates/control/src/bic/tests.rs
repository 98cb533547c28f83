//! The counts of BIC in each of its regions, computed by hand from the definition.

use airpath_model::{NullProbe, Timestamp};

use super::*;

const MSS: u64 = 1000;

fn bic() -> Bic {
    Bic::new(BicConfig::default()).unwrap()
}

fn after(w_max: u64) -> Bic {
    Bic { w_max: Some(w_max), ..bic() }
}

fn signal(rule: &mut Bic, which: CongestionSignal, cwnd: u64) -> u64 {
    let mut event = CongestionEvent::at(Timestamp::ZERO, which);
    event.mss = Bytes::new(MSS);
    rule.reduce(Bytes::new(cwnd * MSS), &event, &mut NullProbe).get() / MSS
}

#[test]
fn up_to_the_low_window_bic_equals_reno() {
    for cwnd in [1, 2, 14] {
        assert_eq!(after(100).count(cwnd), cwnd);
    }
    assert_eq!(signal(&mut bic(), CongestionSignal::Loss, 14), 7);
    // 15 * 819 / 1024 = 11.997.
    assert_eq!(signal(&mut bic(), CongestionSignal::Loss, 15), 11);
}

#[test]
fn below_the_maximum_a_step_is_a_bounded_quarter_of_the_distance() {
    let rule = after(300);
    // (300 - 230) / 4 = 17 > 16; 232 leaves 17 as well, 233 leaves 16.
    assert_eq!((rule.count(230), rule.count(232), rule.count(233)), (230 / 16, 232 / 16, 233 / 16));
    // (300 - 240) / 4 = 15, (300 - 291) / 4 = 2.
    assert_eq!((rule.count(240), rule.count(291)), (240 / 15, 291 / 2));
    // (300 - 293) / 4 = 1: 20 round trips for 4 segments.
    assert_eq!((rule.count(293), rule.count(299)), (293 * 20 / 4, 299 * 20 / 4));
}

#[test]
fn above_the_maximum_growth_is_slow_at_first() {
    let rule = after(300);
    assert_eq!((rule.count(300), rule.count(303)), (300 * 20 / 4, 303 * 20 / 4));
    // Up to 16 (4 - 1) = 48 above.
    assert_eq!((rule.count(304), rule.count(347)), (304 * 3 / 4, 347 * 3 / 47));
    assert_eq!(rule.count(348), 348 / 16);
}

#[test]
fn without_a_loss_the_window_grows_by_at_least_a_twentieth() {
    assert_eq!(bic().count(1000), 20);
    // 1000 / 16 = 62 with one; 320 / 16 = 20, 160 / 16 = 10.
    assert_eq!((after(1).count(1000), bic().count(160)), (62, 10));
    let mut rule = after(300);
    signal(&mut rule, CongestionSignal::Timeout, 200);
    assert_eq!((rule.w_max, rule.count(200)), (None, 12));
}

#[test]
fn fast_convergence_reduces_more_below_the_last_maximum() {
    let mut rule = bic();
    signal(&mut rule, CongestionSignal::Loss, 100);
    assert_eq!(rule.w_max, Some(100));
    // 90 (1024 + 819) / 2048 = 80.99, then 90 again is above that.
    signal(&mut rule, CongestionSignal::EcnCe, 90);
    assert_eq!(rule.w_max, Some(80));
    signal(&mut rule, CongestionSignal::Loss, 90);
    assert_eq!(rule.w_max, Some(90));
    let mut rule = Bic::new(BicConfig { fast_convergence: false, ..BicConfig::default() }).unwrap();
    signal(&mut rule, CongestionSignal::Loss, 100);
    signal(&mut rule, CongestionSignal::Loss, 90);
    assert_eq!(rule.w_max, Some(90));
}

#[test]
fn growth_is_a_segment_for_each_count() {
    let mut rule = after(300);
    let mut event = AckEvent::at(Timestamp::ZERO);
    (event.mss, event.acked) = (Bytes::new(MSS), Bytes::new(8 * MSS));
    // 240 / 15 = 16.
    let window = rule.congestion_avoidance(Bytes::new(240 * MSS), &event);
    assert_eq!(window, Bytes::new(240 * MSS + MSS / 2));
}

#[test]
fn impossible_parameters_are_rejected() {
    let usual = BicConfig::default();
    for config in [
        BicConfig { beta: 0.0, ..usual },
        BicConfig { beta: 1.0, ..usual },
        BicConfig { max_increment: 0, ..usual },
        BicConfig { smooth_part: 0, ..usual },
    ] {
        assert!(Bic::new(config).is_err(), "{config:?}");
    }
}
