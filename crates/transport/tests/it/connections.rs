//! Complete connections over a lossy path.

use airpath_model::{Bytes, CongestionSignal, Duration, Pacing, Rate, Timestamp};
use airpath_transport::{ReceiverConfig, Recovery, SenderConfig};
use proptest::prelude::*;

use crate::controller::Rule;
use crate::path::{Conditions, Connection};

const MSS: u64 = 1000;

fn conditions() -> impl Strategy<Value = Conditions> {
    (1_u64..200, 10_u64..2_000, 1_usize..60, 0_u64..=300, 0_u64..=300, any::<u64>()).prop_map(
        |(delay_ms, spacing_us, queue, data_loss, ack_loss, seed)| Conditions {
            delay: Duration::from_millis(delay_ms),
            spacing: Duration::from_micros(spacing_us),
            queue,
            data_loss,
            ack_loss,
            seed,
        },
    )
}

fn recovery() -> impl Strategy<Value = Recovery> {
    prop_oneof![Just(Recovery::Prr), Just(Recovery::Sack), Just(Recovery::Newreno), Just(Recovery::Reno)]
}

fn ends() -> impl Strategy<Value = (SenderConfig, ReceiverConfig)> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let window = prop_oneof![Just(Bytes::MAX), (500_u64..20_000).prop_map(Bytes::new)];
    (recovery(), switches, 1_u32..=2, window).prop_map(
        |(recovery, switches, delayed_ack_segments, window)| {
            let (lost_retransmission_detection, timestamps, spurious_timeout_undo, pacing) = switches;
            let sender = SenderConfig {
                mss: Bytes::new(MSS),
                recovery,
                lost_retransmission_detection,
                timestamps,
                spurious_timeout_undo: spurious_timeout_undo && timestamps,
                pacing,
                receive_window: window,
                ..SenderConfig::default()
            };
            let receiver = ReceiverConfig {
                delayed_ack_segments,
                sack: recovery.uses_sack(),
                timestamps,
                receive_window: window,
                ..ReceiverConfig::default()
            };
            (sender, receiver)
        },
    )
}

fn controller() -> impl Strategy<Value = (Rule, Bytes)> {
    let rule =
        prop_oneof![Just(Rule::Fixed), Just(Rule::Aimd { grow: false }), Just(Rule::Aimd { grow: true })];
    (rule, 300_u64..60_000).prop_map(|(rule, window)| (rule, Bytes::new(window)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// `Connection::run` checks each step.
    #[test]
    fn all_data_arrives_once_and_in_order(
        conditions in conditions(), ends in ends(), controller in controller(), payload in 1_u64..200_000,
    ) {
        let mut first = Connection::new(ends.0, ends.1, controller, conditions, payload);
        first.run();
        let mut second = Connection::new(ends.0, ends.1, controller, conditions, payload);
        second.run();
        prop_assert_eq!(&first.sent, &second.sent, "the same input gives the same output");
    }

    /// In any interval no more is sent than the quantum plus the data that the rate allows.
    #[test]
    fn pacing_is_enforced_under_loss(
        conditions in conditions(), ends in ends(), quantum in 1_u64..5_000, bps in 100_000_u64..50_000_000,
    ) {
        let mut connection = Connection::new(ends.0, ends.1, (Rule::Fixed, Bytes::new(50_000)), conditions, 60_000);
        let rate = Rate::from_bps(bps);
        connection.controller.desk().control.pacing = Pacing::At(rate);
        connection.controller.desk().control.quantum = Bytes::new(quantum);
        connection.run();
        for (index, &(begin, _)) in connection.sent.iter().enumerate() {
            let mut sum = 0;
            for &(end, segment) in &connection.sent[index..] {
                sum += u64::from(segment.payload);
                // One packet is always allowed, and release times are whole nanoseconds.
                let due = Bytes::new(sum) - Bytes::new(quantum).max(Bytes::new(u64::from(segment.payload)));
                prop_assert!(rate.time_for(due).as_nanos() <= end.since(begin).as_nanos() + 1);
            }
        }
    }
}

fn steady(recovery: Recovery, rule: Rule, window: u64, conditions: Conditions, payload: u64) -> Connection {
    let sender = SenderConfig { mss: Bytes::new(MSS), recovery, ..SenderConfig::default() };
    let receiver = ReceiverConfig { sack: recovery.uses_sack(), ..ReceiverConfig::default() };
    Connection::new(sender, receiver, (rule, Bytes::new(window)), conditions, payload)
}

const CLEAN: Conditions = Conditions {
    delay: Duration::from_millis(50),
    spacing: Duration::from_millis(1),
    queue: 1_000,
    data_loss: 0,
    ack_loss: 0,
    seed: 1,
};

/// A queue that overflows, without other losses: SACK repairs each overflow within its round trips, never by
/// the timer.
#[test]
fn queue_overflows_are_repaired_without_timeouts() {
    let overflow = Conditions { delay: Duration::from_millis(10), queue: 20, ..CLEAN };
    for recovery in [Recovery::Prr, Recovery::Sack] {
        let mut connection = steady(recovery, Rule::Aimd { grow: true }, 20_000, overflow, 5_000_000);
        connection.run();
        let counters = connection.sender.counters();
        assert_eq!(counters.timeouts, 0, "{recovery:?}");
        assert!(counters.recoveries > 3, "{recovery:?}: {counters:?}");
        let losses = connection.controller.signals().len() as u64;
        assert_eq!(losses, counters.recoveries);
    }
}

/// A fixed window over a clean path: one window per round trip.
#[test]
fn a_fixed_window_delivers_one_window_per_round_trip() {
    for recovery in [Recovery::Prr, Recovery::Sack, Recovery::Newreno, Recovery::Reno] {
        let mut connection = steady(recovery, Rule::Fixed, 20_000, CLEAN, 2_000_000);
        connection.run();
        assert_eq!(connection.sender.counters().sent_packets, 2_000);
        assert_eq!(connection.sender.counters().retransmitted_packets, 0);
        // 100 windows of 20 segments; a round trip is 100 ms, 1 ms on the wire, and up to another 1 ms for
        // the segment that the delayed acknowledgment waits for.
        let last = connection.sent.last().map_or(Timestamp::ZERO, |entry| entry.0).as_secs_f64();
        assert!((9.9..10.3).contains(&last), "{recovery:?} {last}");
    }
}

/// Regression: if SACK-only acknowledgments restart the timer, a flow may stall forever.
#[test]
fn heavy_loss_does_not_stall_a_flow() {
    let heavy = Conditions { data_loss: 300, ack_loss: 100, ..CLEAN };
    for recovery in [Recovery::Prr, Recovery::Sack, Recovery::Newreno, Recovery::Reno] {
        let mut connection = steady(recovery, Rule::Fixed, 20_000, heavy, 500_000);
        connection.run();
        assert!(connection.controller.signals().contains(&CongestionSignal::Loss));
    }
}

/// 100 000 segments in flight with a thousand holes: the cost of an acknowledgment must depend on its
/// contents, not on the window. Quadratic work (10^10 visits) would take minutes.
#[test]
fn a_recovery_over_a_large_window_takes_linear_time() {
    let huge = Conditions {
        delay: Duration::from_secs(10),
        spacing: Duration::from_micros(10),
        queue: usize::MAX,
        data_loss: 10,
        ack_loss: 0,
        seed: 7,
    };
    for recovery in [Recovery::Prr, Recovery::Sack] {
        let sender = SenderConfig { mss: Bytes::new(10), recovery, ..SenderConfig::default() };
        let window = Bytes::new(1_000_000);
        let mut connection =
            Connection::new(sender, ReceiverConfig::default(), (Rule::Fixed, window), huge, 1_000_000);
        connection.run();
        let counters = connection.sender.counters();
        assert!(counters.retransmitted_packets >= 900, "{counters:?}");
    }
}
