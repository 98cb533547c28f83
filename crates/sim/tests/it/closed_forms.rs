//! Compares the engine with closed forms.

use std::sync::Arc;

use crate::common::*;
use airpath_sim::plan::*;
use airpath_sim::{Input, RunControl, Simulation};
use airpath_trace::Trace;

/// Returns the goodput in bit/s over the measured interval.
fn goodput(outcome: &airpath_sim::Outcome, span_s: f64) -> f64 {
    table(outcome, "flows").integers("goodput_bytes").iter().map(|&bytes| bytes as f64 * 8.0 / span_s).sum()
}

#[test]
fn a_fixed_window_gives_window_over_rtt_up_to_the_capacity() {
    // RTT without queue: propagation, one transmission of 1500 bytes at 10 Mbit/s = 1.2 ms.
    let rtt_s: f64 = 0.100 + 0.0012;
    for packets in [1_u64, 2, 5, 20, 50, 80, 84, 85, 100, 200] {
        let mut plan = plan(
            110,
            round_trip_links(link("bottleneck", mbps(10), 50.0), 50.0),
            vec![flow("fixed", fixed(1460 * packets))],
        );
        plan.record.measure_from_ns = 10 * SECOND;
        let measured = goodput(&run(&plan, 1), 100.0);
        let capacity = 10e6 * 1460.0 / 1500.0;
        let expected = (packets as f64 * 1460.0 * 8.0 / rtt_s).min(capacity);
        assert!((measured / expected - 1.0).abs() < 1e-3, "{packets} packets: {measured} against {expected}");
    }
}

#[test]
fn poisson_arrivals_of_equal_packets_wait_as_in_an_m_d_1_queue() {
    for load in [0.5, 0.8, 0.9] {
        let traffic = TrafficPlan::PoissonDatagrams {
            bps: (load * 1e7) as u64,
            packet_bytes: Draw::Constant { value: 1000.0 },
        };
        let measured = mean_wait_s(traffic, 4_000);
        let service = 8000.0 / 1e7;
        // Pollaczek-Khinchine with constant service.
        let expected = load * service / (2.0 * (1.0 - load));
        assert!((measured / expected - 1.0).abs() < 0.03, "load {load}: {measured} against {expected}");
    }
}

#[test]
fn poisson_arrivals_of_exponential_packets_wait_as_in_an_m_m_1_queue() {
    for load in [0.5, 0.8] {
        let traffic = TrafficPlan::PoissonDatagrams {
            bps: (load * 1e7) as u64,
            packet_bytes: Draw::Exponential { mean: 10_000.0 },
        };
        let measured = mean_wait_s(traffic, 20_000);
        let service = 80_000.0 / 1e7;
        let expected = load * service / (1.0 - load);
        assert!((measured / expected - 1.0).abs() < 0.03, "load {load}: {measured} against {expected}");
    }
}

#[test]
fn little_s_law_holds_between_the_queue_and_the_waits() {
    let traffic =
        TrafficPlan::PoissonDatagrams { bps: 8_000_000, packet_bytes: Draw::Exponential { mean: 800.0 } };
    let plan = plan(500, vec![link("bottleneck", mbps(10), 0.0)], vec![datagrams("udp", traffic)]);
    let outcome = run(&plan, 3);
    let waits = table(&outcome, "flows").reals("queueing_mean_s")[0];
    let (links, flows) = (table(&outcome, "links"), table(&outcome, "flows"));
    let arrivals_per_s = flows.integers("sent_packets")[0] as f64 / 500.0;
    let queue = links.reals("queue_mean_packets")[0];
    assert!(
        (queue / (arrivals_per_s * waits) - 1.0).abs() < 1e-3,
        "{queue} against {}",
        arrivals_per_s * waits
    );
}

#[test]
fn the_retransmission_timer_backs_off_by_doubling() {
    // A link that works only in the first second: later packets are never acknowledged.
    let dead =
        RatePlan::Steps(StepsConfig { steps: vec![(0, 10_000_000), (SECOND, 0)], repeat_after_ns: None });
    let plan =
        plan(40, round_trip_links(link("bottleneck", dead, 50.0), 50.0), vec![flow("fixed", fixed(1460))]);
    let outcome = run(&plan, 1);
    let events = table(&outcome, "flow_events");
    let times: Vec<f64> = events
        .integers("event")
        .iter()
        .zip(events.reals("time_s"))
        .filter(|(event, _)| **event == 1)
        .map(|(_, time)| *time)
        .collect();
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.len() >= 5, "{times:?}");
    // RTO = SRTT + max(4 RTTVAR, 200 ms); the RTT is constant, 101.2 ms.
    for (doubling, gap) in gaps.iter().enumerate() {
        let expected = 0.3012 * f64::from(2_u32 << doubling);
        assert!((gap - expected).abs() < 1e-6, "gap {doubling}: {gap} against {expected}");
    }
}

/// A recorded link either repeats or ends: 10 packets or 10 kbit in each tenth of a second.
#[test]
fn traces_repeat_or_end() {
    let opportunities = Trace::Opportunities {
        instants_ns: (1..=10).map(|at| at * 10_000_000).collect(),
        opportunity_bytes: 1500,
    };
    let rates = Trace::Rates { points: vec![(0, 200_000), (50_000_000, 0)], end_ns: 100_000_000 };
    let inputs = [opportunities, rates].map(|trace| Arc::new(Input::from(&trace)));
    let received = |rate: RatePlan, packet_bytes: u64| {
        // One packet per millisecond.
        let bps = 8000 * packet_bytes;
        let traffic =
            TrafficPlan::ConstantBitRate { bps, packet_bytes, on_ns: None, off_ns: None, start_off: false };
        let path = vec![LinkPlan { queue: packets(5), ..link("recorded", rate, 1.0) }];
        let plan = plan(2, path, vec![datagrams("udp", traffic)]);
        let outcome = Simulation::new(&plan, &inputs, 1)
            .expect("a plan")
            .run(&RunControl::default())
            .expect("not cancelled");
        table(&outcome, "flows").integers("delivered_packets")[0]
    };
    // The packet of the last opportunity is still in flight when the run ends.
    assert_eq!(received(RatePlan::Opportunities(OpportunitiesConfig { trace: 0, once: false }), 1500), 199);
    assert_eq!(received(RatePlan::Opportunities(OpportunitiesConfig { trace: 0, once: true }), 1500), 10);
    assert_eq!(received(RatePlan::RateLog(RateLogConfig { trace: 1, once: false }), 125), 200);
    assert_eq!(received(RatePlan::RateLog(RateLogConfig { trace: 1, once: true }), 125), 10);
}

/// Returns the mean time in the queue of a 10 Mbit/s link.
fn mean_wait_s(traffic: TrafficPlan, seconds: u64) -> f64 {
    let mut plan = plan(seconds, vec![link("bottleneck", mbps(10), 5.0)], vec![datagrams("udp", traffic)]);
    plan.record.interval_ns = SECOND;
    table(&run(&plan, 1), "flows").reals("queueing_mean_s")[0]
}
