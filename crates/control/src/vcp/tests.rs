use airpath_model::{Duration, NullProbe, Timestamp};

use super::*;

const MSS: Bytes = Bytes::new(1000);

fn vcp(config: VcpConfig) -> Vcp {
    Vcp::new(config, MSS * 16, MSS).unwrap()
}

/// Simulates a round trip of 200 ms in which 16 packets are acknowledged with the header `path`.
fn round(controller: &mut dyn Controller, probe: &mut dyn Probe, millis: u64, path: PathHeader) -> u64 {
    let mut event = AckEvent::at(Timestamp::ZERO + Duration::from_millis(millis));
    event.mss = MSS;
    event.acked = MSS * 16;
    event.rtt.minimum = Duration::from_millis(200);
    event.rtt.smoothed = event.rtt.minimum;
    event.path = path;
    controller.on_ack(&event, probe);
    controller.control().window.get()
}

#[test]
fn the_code_selects_the_control_law() {
    for (code, window) in [(LoadCode::Low, 17_000), (LoadCode::High, 17_000), (LoadCode::Overload, 14_000)] {
        let mut controller = vcp(VcpConfig::default());
        assert_eq!(round(&mut controller, &mut NullProbe, 0, PathHeader::Load(code)), window, "{code:?}");
    }
    // ξ = 0.5 × 0.25, α = 2, β = 0.5.
    for (code, window) in [(LoadCode::Low, 18_000), (LoadCode::High, 18_000), (LoadCode::Overload, 8_000)] {
        let mut controller = vcp(VcpConfig {
            response: LoadResponseConfig { alpha: 2.0, ..LoadResponseConfig::default() },
            kappa: 0.5,
            beta: 0.5,
        });
        assert_eq!(round(&mut controller, &mut NullProbe, 0, PathHeader::Load(code)), window, "{code:?}");
    }
}

#[test]
fn an_acknowledgment_without_a_code_changes_nothing() {
    let mut controller = vcp(VcpConfig::default());
    assert_eq!(round(&mut controller, &mut NullProbe, 0, PathHeader::None), 16_000);
}

#[test]
fn packets_start_with_code_low_and_routers_are_required() {
    let mut controller = vcp(VcpConfig::default());
    let header = controller.on_sent(&SendEvent::at(Timestamp::ZERO, MSS), &mut NullProbe);
    assert_eq!(header, PathHeader::Load(LoadCode::Low));
    assert!(controller.requirements().path_feedback);
    assert!(controller.requirements().pacing);
    assert_eq!(controller.ssthresh(), None);
}

#[test]
fn changes_of_the_code_are_recorded() {
    struct Codes([u32; 3]);
    impl Probe for Codes {
        fn record(&mut self, _now: Timestamp, measurement: Measurement) {
            let Measurement::Named("load_code", value) = measurement else { panic!("{measurement:?}") };
            self.0[value as usize] += 1;
        }
    }
    let mut codes = Codes([0; 3]);
    let mut controller = vcp(VcpConfig::default());
    for code in [LoadCode::Low, LoadCode::Low, LoadCode::High, LoadCode::Overload, LoadCode::Overload] {
        round(&mut controller, &mut codes, 0, PathHeader::Load(code));
    }
    round(&mut controller, &mut codes, 0, PathHeader::Load(LoadCode::High));
    assert_eq!(codes.0, [1, 2, 1]);
}

#[test]
fn invalid_parameters_are_rejected() {
    let good = VcpConfig::default();
    let bad = [
        VcpConfig { kappa: 0.0, ..good },
        VcpConfig { kappa: 1.5, ..good },
        VcpConfig { kappa: f64::NAN, ..good },
        VcpConfig { beta: 0.0, ..good },
        VcpConfig { beta: 1.0, ..good },
        VcpConfig { response: LoadResponseConfig { alpha: 0.0, ..good.response }, ..good },
        VcpConfig {
            response: LoadResponseConfig { load_factor_interval: Duration::ZERO, ..good.response },
            ..good
        },
    ];
    for config in bad {
        assert!(Vcp::new(config, MSS * 16, MSS).is_err(), "{config:?}");
    }
}
