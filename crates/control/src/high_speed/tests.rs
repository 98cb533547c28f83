//! The formulas of RFC 3649 compared with its own tables.

use airpath_model::{CongestionSignal, NullProbe, Timestamp};

use super::*;

/// RFC 3649, appendix B: w, a(w) and b(w), up to `High_Window`. Its last two rows, above it, continue with b
/// below 0.1.
const TABLE: [(f64, f64, f64); 15] = [
    (38.0, 1.0, 0.50),
    (118.0, 2.0, 0.44),
    (221.0, 3.0, 0.41),
    (347.0, 4.0, 0.38),
    (495.0, 5.0, 0.37),
    (1058.0, 8.0, 0.33),
    (2076.0, 12.0, 0.29),
    (5036.0, 20.0, 0.25),
    (9991.0, 29.0, 0.21),
    (21_013.0, 42.0, 0.17),
    (30_975.0, 50.0, 0.15),
    (42_707.0, 57.0, 0.13),
    (61_799.0, 65.0, 0.12),
    (71_617.0, 68.0, 0.11),
    (79_517.0, 70.0, 0.10),
];

fn rule() -> HighSpeed {
    HighSpeed::new(HighSpeedConfig::default()).unwrap()
}

#[test]
fn a_and_b_match_appendix_b() {
    for (w, a, b) in TABLE {
        // Two decimals, rounded or truncated.
        assert!((rule().decrease(w) - b).abs() < 0.0075, "b({w}) = {}", rule().decrease(w));
        // The table was computed with p(w) rounded to 0.078 / w^1.2, up to 3 % off the line between the two
        // points. Taking the rounding into account, a(w) has just reached the whole number.
        let rounded = if w > 38.0 { 0.078 / libm::pow(w, 1.2) / rule().loss_rate(w) } else { 1.0 };
        let found = rule().increase(w) * rounded;
        assert!((found / a - 1.0).abs() < 0.005, "a({w}) = {found}, not {a}");
        assert!((rounded - 1.0).abs() < 0.032);
    }
}

/// RFC 3649, section 5, table 3: from `W = 0.12 / p^0.835`, again rounded; the line is exact at its ends.
#[test]
fn the_loss_rate_matches_the_response_function() {
    let rule = rule();
    for (w, p) in [(38.0, 1e-3), (83_000.0, 1e-7)] {
        assert!((rule.loss_rate(w) / p - 1.0).abs() < 1e-9);
    }
    for (p, w) in [(1e-3, 38.0), (1e-4, 263.0), (1e-5, 1795.0), (1e-6, 12_279.0), (1e-7, 83_981.0)] {
        // 1.2 % of W at 10^-7 is 1.4 % of p.
        assert!((rule.loss_rate(w) / p - 1.0).abs() < 0.015, "p({w}) = {}", rule.loss_rate(w));
    }
}

#[test]
fn a_window_of_acknowledged_segments_adds_a_of_w_and_a_signal_removes_b_of_w() {
    let mut rule = rule();
    let window = Bytes::new(100_000);
    let mut event = AckEvent::at(Timestamp::ZERO);
    (event.mss, event.acked) = (Bytes::new(1000), Bytes::new(100_000));
    // a(100) = 1.820257560760271, b(100) = 0.449664049826472.
    assert_eq!(rule.congestion_avoidance(window, &event), Bytes::new(101_820));
    let config = HighSpeedConfig { counting: Counting::Acknowledgments, ..HighSpeedConfig::default() };
    let mut slower = HighSpeed::new(config).unwrap();
    // One segment of the hundred.
    assert_eq!(slower.congestion_avoidance(window, &event), Bytes::new(100_018));
    let mut event = CongestionEvent::at(Timestamp::ZERO, CongestionSignal::Loss);
    event.mss = Bytes::new(1000);
    assert_eq!(rule.reduce(window, &event, &mut NullProbe), Bytes::new(55_034));
    assert_eq!(rule.reduce(Bytes::new(38_000), &event, &mut NullProbe), Bytes::new(19_000));
    // Beyond High_Window, b does not fall below High_Decrease.
    assert_eq!(rule.reduce(Bytes::new(1_000_000_000), &event, &mut NullProbe), Bytes::new(900_000_000));
}

#[test]
fn impossible_parameters_are_rejected() {
    let usual = HighSpeedConfig::default();
    for config in [
        HighSpeedConfig { low_window: 0.0, ..usual },
        HighSpeedConfig { high_window: 38.0, ..usual },
        HighSpeedConfig { high_p: 0.0, ..usual },
        HighSpeedConfig { low_p: 1e-7, ..usual },
        HighSpeedConfig { low_p: 1.0, ..usual },
        HighSpeedConfig { high_decrease: 0.6, ..usual },
        HighSpeedConfig { high_decrease: f64::NAN, ..usual },
    ] {
        assert!(HighSpeed::new(config).is_err(), "{config:?}");
    }
}
