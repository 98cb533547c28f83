//! Links with external queues.

use crate::common::*;
use airpath_model::{Duration, Ecn, LoadCode, PathHeader, Timestamp};
use airpath_sim::Outcome;
use airpath_sim::network::{Direction, ExternalNetwork, ExternalPacket, FlowSummary};
use airpath_sim::plan::*;
use proptest::prelude::*;

/// Returns a plan with one flow over a lossy link, after a link that only delays.
fn two_links() -> Plan {
    let first = LinkPlan { record: false, ..link("first", RatePlan::Unlimited, 1.0) };
    let second = LinkPlan { loss: 0.1, ..link("second", mbps(9), 3.0) };
    let flow = FlowPlan {
        path: vec![0, 1],
        measured_at: 1,
        ..datagrams(
            "flow",
            TrafficPlan::ConstantBitRate {
                bps: 1,
                packet_bytes: 1000,
                on_ns: None,
                off_ns: None,
                start_off: false,
            },
        )
    };
    let mut plan = plan(2, vec![first, second], vec![flow]);
    plan.record.packets = true;
    plan
}

fn packet(handle: u32, size: u32) -> ExternalPacket {
    let (direction, path) = (Direction::Forward, PathHeader::None);
    ExternalPacket { flow: 0, direction, size, ecn: Ecn::Ect0, path, handle }
}

/// Advances the network to `until`; the external queue returns each packet immediately.
fn pass_through(network: &mut ExternalNetwork, until: Timestamp) {
    loop {
        let next = network.next_event().min(until);
        network.advance(next, &mut |_| {});
        while let Some(handle) = network.next_out(1) {
            network.come_back(next, 1, handle, Ecn::Ect0, PathHeader::None);
        }
        if next == until {
            return;
        }
    }
}

/// Sends packets of these sizes with these pauses in nanoseconds; `advance` advances the network.
fn sent(
    mut network: ExternalNetwork,
    sizes: &[(u64, u32)],
    advance: impl Fn(&mut ExternalNetwork, Timestamp),
) -> Outcome {
    let mut now = Timestamp::ZERO;
    for (handle, &(later, size)) in (0..).zip(sizes) {
        now += Duration::from_nanos(later);
        advance(&mut network, now);
        network.inject(now, packet(handle, size));
    }
    let end = network.end();
    advance(&mut network, end);
    network.finish(&[FlowSummary::begun(Timestamp::ZERO)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    /// An external queue without delay leaves the link unchanged: transmitter, losses, delays and records.
    #[test]
    fn packets_returned_at_once_find_the_same_link(
        sizes in prop::collection::vec((0_u64..2_000_000, 40_u32..1500), 1..600),
        seed in any::<u64>(),
    ) {
        let plan = two_links();
        let outside = ExternalNetwork::with_outside(&plan, &[], seed, &[1]).unwrap();
        let ours = ExternalNetwork::new(&plan, &[], seed).unwrap();
        let outside = sent(outside, &sizes, pass_through);
        let ours = sent(ours, &sizes, |network, until| network.advance(until, &mut |_| {}));
        for name in ["drops", "delay_histogram", "packets", "flows"] {
            prop_assert_eq!(text(&ours, name), text(&outside, name), "{}", name);
        }
        // Only the longest queue may differ, by the packet that left and returned at the same instant.
        for column in ["offered_bytes", "queue_mean_bytes"] {
            let [one, other] = [&ours, &outside].map(|of| table(of, "link_series").reals(column).to_vec());
            prop_assert_eq!(one, other, "{}", column);
        }
        prop_assert_eq!(ours.counts.packets_inside, outside.counts.packets_inside);
    }
}

#[test]
fn the_external_queue_decides_when_and_which_packets_return() {
    let plan = two_links();
    let mut network = ExternalNetwork::with_outside(&plan, &[], 3, &[1]).unwrap();
    let at = |ms| Timestamp::ZERO + Duration::from_millis(ms);
    network.inject(at(0), packet(10, 1000));
    network.inject(at(0), packet(11, 500));
    network.inject(at(0), packet(12, 250));
    assert_eq!(network.next_out(1), None, "on their way to the link");
    network.advance(at(1), &mut |_| {});
    assert_eq!([(); 4].map(|()| network.next_out(1)), [Some(10), Some(11), Some(12), None]);
    assert_eq!(network.outside(1).bytes.get(), 1750);
    network.advance(at(40), &mut |delivery| panic!("{delivery:?} was not returned"));
    network.lose_outside(at(40), 1, 12);
    network.come_back(at(40), 1, 99, Ecn::Ce, PathHeader::None);
    network.come_back(at(40), 1, 10, Ecn::NotEct, PathHeader::Load(LoadCode::High));
    assert_eq!(network.outside(1).packets, 1);
    let lost: Vec<u32> = network.lost().map(|lost| lost.handle).collect();
    assert_eq!(lost, [12]);
    let mut arrived = Vec::new();
    network.advance(at(100), &mut |delivery| arrived.push(delivery));
    // 8000 bits at 9 Mbit/s, plus 3 ms.
    let [first] = &arrived[..] else { panic!("{arrived:?}") };
    assert_eq!(first.at.as_nanos(), at(43).as_nanos() + 888_889);
    assert_eq!(
        (first.packet.handle, first.packet.ecn, first.packet.path),
        (10, Ecn::NotEct, PathHeader::Load(LoadCode::High))
    );
    let observed = [("load_factor".to_owned(), 0.5)];
    network.observe_outside(1, at(100), &observed);
    network.observe_outside(1, at(2100), &observed);
    network.advance(network.end(), &mut |_| {});
    let outcome = network.finish(&[FlowSummary::begun(Timestamp::ZERO)]);
    assert_eq!(outcome.counts.packets_inside, 1, "one packet was never returned");
    assert_eq!(table(&outcome, "links").integers("dropped_packets_overflow")[..], [1]);
    assert_eq!(table(&outcome, "link_observations").reals("time_s")[..], [0.1], "nothing after the end");
    assert_eq!(outcome.quantities, ["load_factor"]);
}

fn text(outcome: &Outcome, name: &str) -> String {
    format!("{:?}", table(outcome, name))
}
