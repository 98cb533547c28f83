//! A network driven step by step, as by an emulator.

use crate::common::*;
use airpath_model::{Ecn, PathHeader, Probe as _, Rate, Timestamp, XcpHeader};
use airpath_sim::network::{
    Direction, ExternalNetwork, ExternalPacket, FlowState, FlowSummary, LimitedTimes,
};
use airpath_sim::plan::*;
use airpath_sim::{Outcome, Simulation};
use proptest::prelude::*;

/// Returns one link of each kind in sequence, forward and reverse: one that only delays, one that loses, one
/// that retransmits, one that marks.
fn links() -> Vec<LinkPlan> {
    let plain = LinkPlan { record: false, queue: packets(20), ..link("plain", mbps(20), 1.0) };
    let lossy = LinkPlan { loss: 0.1, queue: packets(15), ..link("lossy", mbps(9), 3.0) };
    let arq = ArqPlan::named("selective-repeat").with("retries", 2).with("delay", MILLISECOND);
    let repeating = LinkPlan {
        loss: 0.2,
        arq: Some(arq),
        jitter_ns: Some(Draw::Exponential { mean: 1e6 }),
        ..link("repeating", mbps(12), 2.0)
    };
    let management = ManagementPlan::named("codel")
        .with("target", MILLISECOND)
        .with("interval", 10 * MILLISECOND)
        .with("packet", 100)
        .with("ecn", true);
    let queue = QueuePlan::Managed { limit_bytes: None, limit_packets: Some(30), management };
    let marking = LinkPlan { queue, ..link("marking", mbps(5), 4.0) };
    let there = [plain, lossy, repeating, marking];
    let back = there.clone().map(|link| LinkPlan { name: format!("{}-back", link.name), ..link });
    there.into_iter().chain(back).collect()
}

fn silent(name: &str, path: &[usize], reverse_path: &[usize]) -> FlowPlan {
    let traffic = TrafficPlan::Bulk;
    let mut made = datagrams(name, traffic);
    made.path = path.to_vec();
    made.reverse_path = reverse_path.to_vec();
    made.measured_at = path[0];
    made
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Each injected packet is delivered or lost exactly once, or is still inside; time never decreases.
    #[test]
    fn injected_packets_are_delivered_lost_or_inside(
        steps in prop::collection::vec((0_u64..3_000_000, 0_u32..2, any::<bool>(), 40_u32..1500, any::<bool>()), 1..800),
        seed in any::<u64>(),
    ) {
        let flows = vec![silent("long", &[0, 1, 2, 3], &[7, 6, 5, 4]), silent("short", &[1, 3], &[7])];
        let mut network = ExternalNetwork::new(&plan(2, links(), flows), &[], seed).unwrap();
        let mut now = Timestamp::ZERO;
        let mut inside = std::collections::BTreeMap::new();
        let (mut delivered, mut lost) = (0_u64, 0);
        for (handle, &(later, flow, forward, size, often)) in (0..).zip(&steps) {
            // Some packets arrive at the next event if it is earlier, others at the chosen times.
            let asked = now + airpath_model::Duration::from_nanos(later);
            let at = if often { asked } else { network.next_event().min(asked).max(now) };
            let mut last = now;
            network.advance(at, &mut |delivery| {
                assert!(last <= delivery.at && delivery.at <= at, "time decreased or passed the target");
                last = delivery.at;
                let mut sent: ExternalPacket = inside.remove(&delivery.packet.handle).expect("a packet inside");
                sent.ecn = delivery.packet.ecn; // may have been marked
                assert_eq!(sent, delivery.packet);
                delivered += 1;
            });
            for packet in network.lost() {
                let sent = inside.remove(&packet.handle).expect("a packet inside");
                assert_eq!((sent.flow, sent.direction), (packet.flow, packet.direction));
                lost += 1;
            }
            prop_assert_eq!(network.packets_inside(), inside.len() as u64);
            now = at;
            let direction = if forward { Direction::Forward } else { Direction::Back };
            let packet = ExternalPacket { flow, direction, size, ecn: Ecn::Ect0, path: PathHeader::None, handle };
            network.inject(now, packet);
            inside.insert(handle, packet);
        }
        network.advance(network.end(), &mut |delivery| {
            inside.remove(&delivery.packet.handle).expect("a packet inside");
            delivered += 1;
        });
        for packet in network.lost() {
            inside.remove(&packet.handle).expect("a packet inside");
            lost += 1;
        }
        prop_assert_eq!(network.next_event(), Timestamp::NEVER);
        let outcome = network.finish(&[FlowSummary::begun(Timestamp::ZERO); 2]);
        prop_assert_eq!(outcome.counts.packets_sent, steps.len() as u64);
        prop_assert_eq!(outcome.counts.packets_received, delivered);
        prop_assert_eq!(outcome.counts.packets_inside, inside.len() as u64);
        prop_assert_eq!(table(&outcome, "drops").integers("link").len(), lost);
        prop_assert_eq!(delivered + lost as u64 + inside.len() as u64, steps.len() as u64);
    }
}

/// Datagrams injected at the instants at which the simulator sends them have the same results.
#[test]
fn a_simulation_and_a_network_driven_by_hand_agree() {
    let traffic = TrafficPlan::ConstantBitRate {
        bps: 8_000_000,
        packet_bytes: 1000,
        on_ns: None,
        off_ns: None,
        start_off: false,
    };
    let mut source = datagrams("source", traffic);
    source.path = vec![0, 1, 2, 3];
    let mut plan = plan(3, links(), vec![source]);
    plan.record.measure_from_ns = SECOND;
    plan.record.packets = true;
    let simulated = run(&plan, 7);

    let mut network = ExternalNetwork::new(&plan, &[], 7).unwrap();
    let counted = |sent_packets| FlowSummary { sent_packets, ..FlowSummary::begun(Timestamp::ZERO) };
    let mut sent = 0;
    for handle in 0..3_001 {
        // One per millisecond.
        let now = Timestamp::from_nanos(u64::from(handle) * MILLISECOND);
        network.advance(now, &mut |_| {});
        network.set_flow_state(0, FlowState::unknown(true));
        let (direction, path) = (Direction::Forward, PathHeader::None);
        network
            .inject(now, ExternalPacket { flow: 0, direction, size: 1000, ecn: Ecn::NotEct, path, handle });
        sent += 1;
        network.set_flow_summary(0, counted(sent));
    }
    let driven = network.finish(&[counted(sent)]);
    for name in ["links", "drops", "delay_histogram"] {
        assert_eq!(text(&simulated, name), text(&driven, name), "{name}");
    }
    for column in ["sent_s", "received_s", "queueing_s", "bytes"] {
        let [one, other] =
            [&simulated, &driven].map(|outcome| table(outcome, "packets").column(column).cloned());
        assert_eq!(one, other, "{column}");
    }
    assert!(table(&driven, "packets").integers("sequence").iter().all(|&sequence| sequence == -1));
    let flows = |outcome: &Outcome| {
        let flows = table(outcome, "flows");
        let of = |name| flows.integers(name)[0];
        ["sent_packets", "delivered_packets", "lost_packets", "arrived_bytes", "departed_bytes"].map(of)
    };
    assert_eq!(flows(&simulated), flows(&driven));
    let series = |outcome: &Outcome| {
        let series = outcome.flow_series.table();
        ["sent_bytes", "departed_bytes", "lost_packets"].map(|name| series.integers(name).to_vec())
    };
    assert_eq!(series(&simulated), series(&driven));
}

/// A router writes into the header of an injected packet, and the reports of the endpoints are in the tables.
#[test]
fn routers_respond_and_the_endpoints_are_recorded() {
    let protocol = xcp_protocol([50 * MILLISECOND, 500 * MILLISECOND]);
    let queue = QueuePlan::Router {
        limit_bytes: Some(100_000),
        limit_packets: None,
        protocol,
        source: SourcePlan::named("configured").with("capacity", 10_000_000),
    };
    let router = LinkPlan { queue, ..link("router", mbps(10), 5.0) };
    let mut plan = plan(1, round_trip_links(router, 5.0), vec![silent("flow", &[0], &[1])]);
    plan.record.flow_limits = true;
    let mut network = ExternalNetwork::new(&plan, &[], 1).unwrap();
    let header = XcpHeader {
        rtt: airpath_model::Duration::from_millis(20),
        inter_packet: airpath_model::Duration::from_millis(1),
        delta_throughput: 1e9,
    };
    let mut answers = Vec::new();
    for handle in 0..500 {
        let now = Timestamp::from_nanos(u64::from(handle) * 2 * MILLISECOND);
        network.advance(now, &mut |delivery| match delivery.packet.path {
            PathHeader::Xcp(answer) => answers.push(answer.delta_throughput),
            other => panic!("not XCP's header: {other:?}"),
        });
        let (direction, path) = (Direction::Forward, PathHeader::Xcp(header));
        network
            .inject(now, ExternalPacket { flow: 0, direction, size: 1000, ecn: Ecn::NotEct, path, handle });
        network.set_flow_state(
            0,
            FlowState {
                cwnd: Some(airpath_model::Bytes::new(u64::from(handle))),
                ..FlowState::unknown(true)
            },
        );
        network.on_goodput(0, 960);
        // A third of the time has no data, and a third waits for the receiver.
        let total = airpath_model::Duration::from_millis(3 * u64::from(handle));
        network.set_limited_times(
            0,
            LimitedTimes {
                total,
                busy: total.mul_f64(2.0 / 3.0),
                receive_window: total.mul_f64(1.0 / 3.0),
                ..LimitedTimes::NONE
            },
        );
    }
    network.probe(0).record(Timestamp::ZERO, airpath_model::Measurement::SpuriousTimeout);
    network.on_completion(0, 0, Timestamp::ZERO, network.end(), airpath_model::Bytes::new(480_000));
    network.advance(network.end(), &mut |_| {});
    let capacity = Rate::from_bps(10_000_000).as_bps_f64() / 8.0;
    assert!(answers.iter().all(|answer| *answer < capacity), "no more than the link has");
    assert!(answers.iter().any(|answer| *answer > 0.0), "half of the link is free");

    let outcome = network.finish(&[FlowSummary { timeouts: 3, ..FlowSummary::begun(Timestamp::ZERO) }]);
    let (flows, series) = (table(&outcome, "flows"), outcome.flow_series.table());
    let limits = table(&outcome, "flow_limits");
    assert_eq!(limits.reals("time_s").len(), 10);
    for limit in ["application", "receive_window", "congestion_window"] {
        assert!(limits.reals(limit).iter().all(|share| (share - 1.0 / 3.0).abs() < 1e-6), "{limit}");
    }
    assert_eq!(flows.integers("timeouts"), [3]);
    assert_eq!(flows.integers("goodput_bytes"), [480_000]);
    assert_eq!(series.integers("flow").len(), 10);
    let last = series.reals("cwnd_bytes")[1];
    assert!((last - 99.0).abs() < 1e-9, "{last} was not the last value before 200 ms");
    assert_eq!(table(&outcome, "completions").integers("bytes"), [480_000]);
    assert_eq!(table(&outcome, "flow_events").integers("event"), [3]);
}

/// Probing steps and thresholds are shares of the buffer: one of 50 packets of 1040 bytes equals one of 52
/// kB.
#[test]
fn a_limit_in_packets_is_a_buffer_of_arriving_packets() {
    let xcp_b = |limit_bytes, limit_packets| {
        let protocol = xcp_protocol([MILLISECOND, SECOND]);
        let source = SourcePlan::named("xcp-b")
            .with("kappa", 0.0)
            .with("chi", 0.2)
            .with("late_reaction", 2)
            .with("signal", "minimum");
        let queue = QueuePlan::Router { limit_bytes, limit_packets, protocol, source };
        let links = round_trip_links(LinkPlan { queue, ..link("bottleneck", mbps(10), 20.0) }, 20.0);
        let controller = ControllerPlan::Declared(ComponentPlan::named("xcp"));
        let mut sender = flow("flow", controller);
        sender.transport = Some(TransportPlan { mss_bytes: 1000, ..transport() });
        plan(20, links, vec![sender])
    };
    let (packets, bytes) = (run(&xcp_b(None, Some(50)), 1), run(&xcp_b(Some(52_000), None), 1));
    for column in ["arrived_bytes", "departed_bytes", "queue_max_bytes"] {
        let of = |outcome| table(outcome, "link_series").integers(column);
        assert!(of(&packets) == of(&bytes), "{column}");
    }
    // A share of an unlimited buffer is undefined.
    let problem = Simulation::new(&xcp_b(None, None), &[], 1).unwrap_err().to_string();
    assert!(
        problem.contains("link bottleneck: queue.limit: ") && problem.contains("accepted: a limit"),
        "{problem}"
    );
}

fn foreign(flow: u32, direction: Direction, handle: u32) -> ExternalPacket {
    ExternalPacket { flow, direction, size: 1000, ecn: Ecn::NotEct, path: PathHeader::None, handle }
}

/// Returns links of 8 Mbit/s in both directions: a packet takes a millisecond plus the delay of the link.
fn slow_links() -> Vec<LinkPlan> {
    vec![link("there", mbps(8), 10.0), link("back", mbps(8), 20.0)]
}

/// An added flow is counted like a flow of the plan.
#[test]
fn added_flows_are_counted_like_planned_flows() {
    let flows = |count: usize| (0..count).map(|index| silent(&format!("f{index}"), &[0], &[1])).collect();
    let outcome = |planned: usize| {
        let mut network = ExternalNetwork::new(&plan(1, slow_links(), flows(planned)), &[], 1).unwrap();
        for flow in planned as u32..3 {
            assert_eq!(network.add_flow(0), flow);
        }
        for handle in 0..300 {
            let now = Timestamp::from_nanos(u64::from(handle) * 2 * MILLISECOND);
            network.advance(now, &mut |_| {});
            network.inject(now, foreign(handle % 3, Direction::Forward, handle));
        }
        network.advance(network.end(), &mut |_| {});
        network.finish(&[FlowSummary::begun(Timestamp::ZERO); 3])
    };
    let (planned, added) = (outcome(3), outcome(1));
    for name in ["flows", "delay_histogram", "links"] {
        assert_eq!(text(&planned, name), text(&added, name), "{name}");
    }
    let series = |outcome: &Outcome| format!("{:?}", outcome.flow_series.table());
    assert_eq!(series(&planned), series(&added));
    assert_eq!(table(&added, "flows").integers("delivered_packets"), [100, 100, 100]);
}

/// Packets on the reverse path are delivered, and count at links; only forward packets are data of the flow.
#[test]
fn only_forward_packets_are_data() {
    let mut network =
        ExternalNetwork::new(&plan(1, slow_links(), vec![silent("flow", &[0], &[1])]), &[], 1).unwrap();
    for handle in 0..5 {
        network.inject(Timestamp::ZERO, foreign(0, Direction::Back, handle));
    }
    network.inject(Timestamp::ZERO, foreign(0, Direction::Forward, 5));
    let mut delivered = Vec::new();
    network.advance(network.end(), &mut |delivery| delivered.push(delivery.packet.handle));
    assert_eq!(delivered, [5, 0, 1, 2, 3, 4]);
    let outcome = network.finish(&[FlowSummary::begun(Timestamp::ZERO)]);
    let flows = table(&outcome, "flows");
    assert_eq!(["delivered_packets", "departed_bytes"].map(|name| flows.integers(name)[0]), [1, 1000]);
    assert_eq!(outcome.flow_series.table().integers("sent_bytes").iter().sum::<i64>(), 1000);
    assert_eq!(table(&outcome, "links").integers("departed_packets"), [1, 5]);
}

/// A clock beyond the end causes no further events, and a late clock causes no earlier ones.
#[test]
fn a_network_ends_with_its_plan_and_time_never_decreases() {
    let mut network =
        ExternalNetwork::new(&plan(1, slow_links(), vec![silent("flow", &[0], &[1])]), &[], 1).unwrap();
    let at = |ms: u64| Timestamp::from_nanos(ms * MILLISECOND);
    let mut delivered = Vec::new();
    network.advance(at(500), &mut |_| {});
    network.inject(at(400), foreign(0, Direction::Forward, 0)); // as of 500 ms
    network.advance(at(600), &mut |delivery| delivered.push(delivery.at));
    assert_eq!(delivered, [at(511)]);
    network.advance(at(995), &mut |_| {});
    network.inject(at(995), foreign(0, Direction::Forward, 1)); // would arrive at 1006 ms
    assert_eq!(network.next_event(), network.end(), "the last interval");
    network.advance(at(2000), &mut |delivery| panic!("{delivery:?} is after the end"));
    assert_eq!(network.next_event(), Timestamp::NEVER);
    network.inject(at(2000), foreign(0, Direction::Forward, 2)); // as of the end
    network.advance(at(3000), &mut |delivery| panic!("{delivery:?} is after the end"));
    let outcome = network.finish(&[FlowSummary::begun(Timestamp::ZERO)]);
    assert_eq!(outcome.counts.packets_inside, 2);
}

/// A caller that stops before the end of the plan has counted only the events up to then.
#[test]
fn a_network_may_be_stopped_early() {
    let first = LinkPlan { record: false, ..link("first", mbps(8), 50.0) };
    let links = vec![first, link("second", mbps(8), 10.0), link("back", mbps(8), 20.0)];
    let mut network =
        ExternalNetwork::new(&plan(2, links, vec![silent("flow", &[0, 1], &[2])]), &[], 1).unwrap();
    for handle in 0..10 {
        network.inject(Timestamp::ZERO, foreign(0, Direction::Forward, handle));
    }
    // They reach the second link at 51, 52, … ms.
    let until = Timestamp::from_nanos(54 * MILLISECOND + MILLISECOND / 2);
    network.advance(until, &mut |_| {});
    let outcome = network.finish(&[FlowSummary::begun(Timestamp::ZERO)]);
    assert_eq!(outcome.counts.packet_hops, 10 + 4);
    assert_eq!(outcome.counts.packets_inside, 10);
}

/// Each packet that reaches a captured link is reported once, at its arrival time and unchanged, whether it
/// is dropped or delivered.
#[test]
fn captured_packets_are_returned_as_they_arrive() {
    let first = LinkPlan { queue: packets(1), ..link("first", mbps(8), 1.0) };
    let links = vec![first, link("second", mbps(80), 1.0), link("back", mbps(8), 1.0)];
    let mut plan = plan(1, links, vec![silent("flow", &[0, 1], &[2])]);
    plan.record.capture = vec![1, 0];
    let mut network = ExternalNetwork::new(&plan, &[], 1).unwrap();
    for handle in 0..3 {
        let packet = ExternalPacket {
            flow: 0,
            direction: Direction::Forward,
            size: 1000,
            ecn: Ecn::Ect0,
            path: PathHeader::None,
            handle,
        };
        network.inject(Timestamp::ZERO, packet);
    }
    network.advance(Timestamp::from_nanos(SECOND / 2), &mut |_| ());
    let seen: Vec<_> = network
        .captured()
        .map(|seen| (seen.at.as_nanos() / 1000, seen.link, seen.packet.handle, seen.packet.size))
        .collect();
    // One packet takes 1 ms, the next waits, the third finds the queue full.
    assert_eq!(
        seen,
        [(0, 0, 0, 1000), (0, 0, 1, 1000), (0, 0, 2, 1000), (2000, 1, 0, 1000), (3000, 1, 1, 1000)]
    );
    assert_eq!(network.captured().count(), 0);
    assert_eq!(network.finish(&[FlowSummary::begun(Timestamp::ZERO)]).capture, None);
}

#[test]
fn a_network_can_be_moved_to_a_thread() {
    fn is_send<T: Send>() {}
    is_send::<ExternalNetwork>();
}

fn text(outcome: &Outcome, name: &str) -> String {
    format!("{:?}", table(outcome, name))
}
