//! Burst losses in the engine: computed shares, different clocks, rejected plans.

use crate::common::*;
use airpath_sim::Simulation;
use airpath_sim::plan::*;

fn fading(snr: f64, beta: f64) -> BurstPlan {
    let fading = BurstPlan::named("fading").with("snr", snr).with("beta", beta);
    fading.with("code_rate", 0.93).with("ack_code_rate", 0.5)
}

fn gilbert(mean_loss: f64, mean_burst: f64) -> BurstPlan {
    BurstPlan::named("gilbert").with("mean_loss", mean_loss).with("mean_burst", mean_burst)
}

/// Returns a stream of packets of `bytes` at 5 Mbit/s over a link of 10 Mbit/s.
fn stream(bursts: BurstPlan, bytes: u64, seconds: u64) -> Plan {
    let mut radio = link("radio", mbps(10), 10.0);
    radio.bursts = Some(bursts);
    let traffic = TrafficPlan::ConstantBitRate {
        bps: 5_000_000,
        packet_bytes: bytes,
        on_ns: None,
        off_ns: None,
        start_off: false,
    };
    plan(seconds, vec![radio], vec![datagrams("stream", traffic)])
}

/// Returns the numbers of packets (corrupted, sent).
fn damaged(plan: &Plan) -> (f64, f64) {
    let outcome = run(plan, 3);
    let links = table(&outcome, "links");
    let count = |name| links.integers(name)[0] as f64;
    (count("dropped_packets_corruption"), count("departed_packets"))
}

/// The exact losses of the reference vectors (1x1; 1040 bytes at 20 dB, rate 0.93; 40 bytes at 10 dB, rate
/// 0.5): a packet does not start in the state after the previous one, so the spread is binomial.
#[test]
fn losses_of_coded_packets_match_the_formula() {
    for (chain, bytes, exact) in
        [(fading(20.0, 0.875), 1040, 0.235_81), (fading(10.0, 0.916_67), 40, 0.049_74)]
    {
        let (damaged, sent) = damaged(&stream(chain, bytes, 30));
        assert!(sent > 15_000.0, "{sent}");
        let error = (sent * exact * (1.0 - exact)).sqrt();
        assert!((damaged - sent * exact).abs() < 3.0 * error, "{damaged} of {sent}, exact {exact}");
    }
}

/// A higher-order modulation loses more, as predicted without a run.
#[test]
fn losses_depend_on_the_modulation() {
    let mut shares = Vec::new();
    for modulation in ["bpsk", "qpsk", "8psk"] {
        let chain = fading(22.0, 0.875).with("modulation", modulation);
        let bursts = serde_json::to_string(&chain).unwrap();
        let exact = airpath_sim::packet_loss(&bursts, 1040).unwrap();
        let (damaged, sent) = damaged(&stream(chain, 1040, 30));
        let error = (sent * exact * (1.0 - exact)).sqrt();
        assert!(
            (damaged - sent * exact).abs() < 3.0 * error,
            "{modulation}: {damaged} of {sent}, exact {exact}"
        );
        let independent = airpath_sim::independent_packet_loss(&bursts, 1040).unwrap().unwrap();
        // If losses are rare, bursts increase them.
        assert!(exact > 0.1 || independent < exact, "{independent}, {exact}");
        shares.push(exact);
    }
    assert!(shares.windows(2).all(|pair| pair[1] > 2.0 * pair[0]), "{shares:?}");
}

/// 1040 bytes at 0.93 are five codewords of 208 and 16 bytes, 40 bytes at 0.5 one of 40 and 40.
#[test]
fn parity_takes_time_if_configured() {
    for (bytes, on_link) in [(1040, 1120), (40, 80)] {
        for (parity_takes_time, taken) in [(false, bytes), (true, on_link)] {
            let chain = fading(20.0, 0.875).with("parity_takes_time", parity_takes_time);
            let mut flood = stream(chain, bytes, 10);
            flood.links[0].rate = mbps(2);
            let (_, sent) = damaged(&flood);
            // From one packet on, the link is busy for 10 s.
            let expected = 2e7 / (8 * taken) as f64;
            assert!(
                (sent - expected).abs() < 2.0,
                "{bytes}, {parity_takes_time}: {sent}, expected {expected}"
            );
        }
    }
}

/// The same chain loses the same share under either clock, but in runs of packets or in intervals of time.
#[test]
fn the_positions_of_losses_depend_on_the_clock() {
    let chain = gilbert(0.05, 20.0);
    // A packet is sent every 2.4 ms; a step of 2.4 ms gives bursts of 48 ms, in both cases 20 packets.
    for chain in [chain.clone(), chain.with("clock", "time").with("step", 2_400_000)] {
        let (damaged, sent) = damaged(&stream(chain.clone(), 1500, 600));
        // Variance of the share of a chain with correlation c = 1 - 1/20 - 1/380 between packets.
        let correlation: f64 = 1.0 - 1.0 / 20.0 - 1.0 / 380.0;
        let error = (sent * 0.05 * 0.95 * (1.0 + correlation) / (1.0 - correlation)).sqrt();
        assert!((damaged - sent * 0.05).abs() < 3.0 * error, "{chain:?}: {damaged} of {sent}");
    }
}

#[test]
fn every_bit_is_simulated_if_configured() {
    let chain = fading(20.0, 0.875);
    let counts = [false, true]
        .map(|step_by_step| damaged(&stream(chain.clone().with("step_by_step", step_by_step), 1040, 2)));
    assert!((counts[0].0 - counts[1].0).abs() > 0.0, "the same draws: {counts:?}");
    let error = (counts[1].1 * 0.2358 * 0.7642).sqrt();
    assert!((counts[1].0 - 0.235_81 * counts[1].1).abs() < 3.0 * error, "{counts:?}");
}

#[test]
fn invalid_plans_are_rejected() {
    let refused =
        |bursts: BurstPlan| Simulation::new(&stream(bursts, 1500, 1), &[], 1).unwrap_err().to_string();
    let certain = BurstPlan::named("gilbert-elliott").with("gamma", 0.9).with("beta", 1.0);
    assert_eq!(refused(certain), "link radio: loss.beta: found 1; accepted: from 0 to below 1");
    assert_eq!(
        refused(fading(-25.0, 0.5)),
        "link radio: loss.bad_snr_drop: found 10; accepted: at most \"snr\" plus 30"
    );
    let short = gilbert(0.1, 2.0).with("clock", "time").with("step", 1);
    assert!(refused(short).contains("at least 1 us"));
    assert_eq!(
        refused(fading(20.0, 0.5).with("code_rate", 1.5)),
        "link radio: loss.code_rate: found 1.5; accepted: a code rate from 1/255 to 1"
    );
    assert_eq!(
        refused(gilbert(0.1, 2.0).with("code_rate", 0.5)),
        "link radio: loss.code_rate: unknown key; accepted: clock, mean_burst, mean_loss, step"
    );
    let mut both = stream(gilbert(0.1, 2.0), 1500, 1);
    both.links[0].loss = 0.1;
    assert!(Simulation::new(&both, &[], 1).unwrap_err().to_string().contains("not both"));
}
