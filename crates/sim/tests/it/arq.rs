//! Link-layer retransmission compared with closed forms: attempts, residual loss, delays, order.

use crate::common::*;
use airpath_sim::Outcome;
use airpath_sim::plan::*;

/// The transmission time of 1250 bytes at 10 Mbit/s.
const TRANSMISSION_MS: f64 = 1.0;
const DELAY_MS: f64 = 20.0;
const FEEDBACK_MS: f64 = 8.0;

fn arq(retries: u8, in_order: bool) -> ArqPlan {
    ArqPlan::named("selective-repeat")
        .with("retries", retries)
        .with("delay", 8 * MILLISECOND)
        .with("in_order", in_order)
}

/// Returns a stream of packets of one millisecond, `spacing_ms` apart, over a link that corrupts a share
/// `loss` of its attempts.
fn stream(loss: f64, arq: Option<ArqPlan>, spacing_ms: u64, seconds: u64) -> Plan {
    let mut radio = link("radio", mbps(10), DELAY_MS);
    (radio.loss, radio.arq) = (loss, arq);
    let traffic = TrafficPlan::ConstantBitRate {
        bps: 10_000_000 / spacing_ms,
        packet_bytes: 1250,
        on_ns: None,
        off_ns: None,
        start_off: false,
    };
    let mut plan = plan(seconds, vec![radio], vec![datagrams("stream", traffic)]);
    plan.record.packets = true;
    plan
}

fn link_count(outcome: &Outcome, name: &str) -> f64 {
    table(outcome, "links").integers(name)[0] as f64
}

/// Returns delays in milliseconds in the order of arrival.
fn delays_ms(outcome: &Outcome) -> Vec<f64> {
    let packets = table(outcome, "packets");
    let times = packets.reals("received_s").iter().zip(packets.reals("sent_s"));
    times.map(|(received, sent)| (received - sent) * 1000.0).collect()
}

/// A packet takes (1 - p^(n+1)) / (1 - p) attempts on average and is lost with p^(n+1).
#[test]
fn attempts_and_residual_losses_match_the_formula() {
    for (loss, retries) in [(0.3, 3), (0.1, 1), (0.5, 7), (0.05, 0)] {
        for in_order in [true, false] {
            // Retransmissions load the link to at most 2/2.5.
            let outcome = run(&stream(loss, Some(arq(retries, in_order)), 3, 300), 1);
            let packets = link_count(&outcome, "departed_packets");
            assert!(packets > 99_000.0, "{packets}");
            let residual = libm::pow(loss, f64::from(retries) + 1.0);
            let lost = link_count(&outcome, "dropped_packets_corruption");
            let error = (packets * residual * (1.0 - residual)).sqrt();
            assert!(
                (lost - packets * residual).abs() < 3.0 * error,
                "p {loss}, n {retries}: {lost} of {packets} lost, expected {residual}"
            );
            let mean = (1.0 - residual) / (1.0 - loss) - 1.0;
            // Retransmissions of one packet: k of them or more with probability p^k.
            let square: f64 =
                (1..=retries).map(|k| f64::from(2 * k - 1) * libm::pow(loss, f64::from(k))).sum();
            let error = (packets * (square - mean * mean)).sqrt();
            let repeats = link_count(&outcome, "retransmitted_packets");
            assert!(
                (repeats - packets * mean).abs() <= 3.0 * error,
                "p {loss}, n {retries}: {repeats} repeats of {packets}, expected {mean} each"
            );
            let bytes = table(&outcome, "links").integers("retransmitted_bytes")[0];
            assert_eq!(bytes, 1250 * table(&outcome, "links").integers("retransmitted_packets")[0]);
        }
    }
}

/// A packet alone on its link with k retransmissions arrives after T + D + k (T + feedback), with probability
/// p^k (1 - p).
#[test]
fn delays_are_those_of_a_truncated_geometric_number_of_attempts() {
    let (loss, retries) = (0.4, 4);
    // The longest repair takes 36 ms.
    let outcome = run(&stream(loss, Some(arq(retries, true)), 50, 1500), 2);
    let delays = delays_ms(&outcome);
    let mut counts = vec![0.0; usize::from(retries) + 1];
    for delay in &delays {
        let repeats = (delay - TRANSMISSION_MS - DELAY_MS) / (TRANSMISSION_MS + FEEDBACK_MS);
        assert!((repeats - repeats.round()).abs() < 1e-9, "{delay} ms");
        counts[repeats.round() as usize] += 1.0;
    }
    let arrived = delays.len() as f64;
    let residual = libm::pow(loss, f64::from(retries) + 1.0);
    let chi_square: f64 = counts
        .iter()
        .zip(0_u8..)
        .map(|(count, k)| {
            let k = f64::from(k);
            let expected = arrived * libm::pow(loss, k) * (1.0 - loss) / (1.0 - residual);
            (count - expected) * (count - expected) / expected
        })
        .sum();
    // 4 degrees of freedom: 18.47 is exceeded once in a thousand.
    assert!(chi_square < 18.47, "{chi_square}: {counts:?}");
}

/// One corrupted packet among others: without ordering only that packet is late; with ordering, those behind
/// it wait for it.
#[test]
fn packets_behind_a_corrupted_packet_wait_only_with_in_order_delivery() {
    // 4 ms apart and 10 % corrupted: repairs of 9 ms and more delay packets behind them.
    let [ordered, unordered] =
        [true, false].map(|in_order| run(&stream(0.1, Some(arq(3, in_order)), 4, 200), 9));
    let sequence = |outcome| table(outcome, "packets").integers("sequence").to_vec();
    assert!(sequence(&ordered).is_sorted());
    assert!(!sequence(&unordered).is_sorted());
    // The link samples equal values in both runs, so the same packets arrive.
    let mut sorted = sequence(&unordered);
    sorted.sort_unstable();
    assert_eq!(sequence(&ordered), sorted);
    // A packet is held until the last of its predecessors has arrived: the running maximum of the unordered
    // arrivals.
    let arrivals = |outcome| {
        let packets = table(outcome, "packets");
        let mut rows: Vec<_> = packets
            .integers("sequence")
            .iter()
            .copied()
            .zip(packets.reals("received_s").iter().copied())
            .collect();
        rows.sort_unstable_by_key(|&(sequence, _)| sequence);
        rows
    };
    let given_up = table(&unordered, "drops").integers("flow").len() as i64;
    let mut latest: f64 = 0.0;
    let mut exact = 0;
    for ((number, alone), (_, held)) in arrivals(&unordered).into_iter().zip(arrivals(&ordered)) {
        latest = latest.max(alone);
        // A discarded packet also ends the wait of those behind it, but has no arrival: rare enough to
        // ignore.
        assert!(held >= latest, "packet {number} arrived at {held}, before {latest}");
        exact += i64::from(held <= latest);
    }
    let packets = sequence(&ordered).len() as i64;
    assert!(packets - exact <= 10 * given_up, "{} of {packets} waited without need", packets - exact);
}

/// Without retries the link behaves as without ARQ, packet by packet.
#[test]
fn without_retries_nothing_changes() {
    let without = run(&stream(0.2, None, 2, 20), 3);
    for in_order in [true, false] {
        let with = run(&stream(0.2, Some(arq(0, in_order)), 2, 20), 3);
        assert_eq!(format!("{:?}", without.tables), format!("{:?}", with.tables));
    }
}

/// On a channel whose chain is clocked by packets, the next attempt starts in the state after the previous
/// one: with bursts of B packets on average, all retransmissions of a packet fail with (1 - 1/B)^n if nothing
/// is sent in between.
#[test]
fn repeats_within_an_error_burst_fail_together() {
    let (burst, retries) = (5.0_f64, 2_u8);
    let mut plan = stream(0.0, Some(arq(retries, true)), 50, 3000);
    plan.links[0].bursts = Some(BurstPlan::named("gilbert").with("mean_loss", 0.1).with("mean_burst", burst));
    let outcome = run(&plan, 4);
    let (packets, lost) =
        (link_count(&outcome, "departed_packets"), link_count(&outcome, "dropped_packets_corruption"));
    // Stationary over packets, not attempts: the state after a packet is that after its last attempt.
    let (leave, enter) = (1.0 / burst, 0.1 / (burst * 0.9));
    let fails = libm::pow(1.0 - leave, f64::from(retries));
    // From bad: still bad after this packet if all attempts fail. From good: corrupted first, then the
    // retransmissions fail.
    let (bad_to_bad, good_to_bad) = ((1.0 - leave) * fails, enter * fails);
    let residual = good_to_bad / (1.0 - bad_to_bad + good_to_bad);
    let correlation = bad_to_bad - good_to_bad;
    let error = (packets * residual * (1.0 - residual) * (1.0 + correlation) / (1.0 - correlation)).sqrt();
    assert!((lost - packets * residual).abs() < 3.0 * error, "{lost} of {packets}, expected {residual}");
}

/// Returns the goodput (bit/s) of a connection over 20 Mbit/s and 40 ms if 2 % of the packets are
/// retransmitted by the link and overtaken meanwhile.
fn over_a_radio_that_reorders(loss: f64, loss_detection: LossDetectionPlan) -> (f64, i64) {
    let mut radio = link("radio", mbps(20), 20.0);
    (radio.loss, radio.arq, radio.queue) = (loss, Some(arq(7, false)), packets(133));
    let transport = TransportPlan { loss_detection, mss_bytes: 1448, header_bytes: 52, ..transport() };
    let flow = FlowPlan { transport: Some(transport), ..flow("download", newreno()) };
    let outcome = run(&plan(60, round_trip_links(radio, 20.0), vec![flow]), 1);
    let flows = table(&outcome, "flows");
    (flows.integers("goodput_bytes")[0] as f64 * 8.0 / 60.0, flows.integers("timeouts")[0])
}

/// RFC 8985: loss detection by time tolerates reordering; three duplicates mistake each reordering for a
/// loss.
#[test]
fn reordered_packets_are_not_lost_to_time_based_loss_detection() {
    for loss in [0.005, 0.02] {
        let (by_threshold, _) = over_a_radio_that_reorders(loss, LossDetectionPlan::Threshold);
        let (by_time, timeouts) = over_a_radio_that_reorders(loss, LossDetectionPlan::Rack);
        assert!(by_threshold < 10e6, "{loss}: {by_threshold}");
        // 1448 of 1500 bytes are payload, and retransmissions take their share of the rate.
        let most = 20e6 * 1448.0 / 1500.0 * (1.0 - loss);
        assert!(by_time > 0.93 * most && by_time <= most, "{loss}: {by_time} of {most}");
        assert_eq!(timeouts, 0);
    }
    let (by_threshold, _) = over_a_radio_that_reorders(0.0, LossDetectionPlan::Threshold);
    let (by_time, _) = over_a_radio_that_reorders(0.0, LossDetectionPlan::Rack);
    assert!((by_time / by_threshold - 1.0).abs() < 0.01, "in order: {by_time} and {by_threshold}");
}
