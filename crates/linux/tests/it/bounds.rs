//! Upper bounds of windows: 2^31 bytes for any sequence of events, and 2^20 packets for VCP with feedback
//! from routers.

use airpath_linux::native::{AckEvent, CongestionEvent, Kind, NativeController, RoundTrip};
use proptest::prelude::*;

const KINDS: [Kind; 5] = [Kind::Xcp, Kind::Vcp, Kind::CubicEbe, Kind::Westwood, Kind::Sarbe];
/// Largest payloads of packets: the smallest of TCP, those of 576 bytes, Ethernet, jumbo frames, the loopback.
const SEGMENTS: [u32; 5] = [88, 536, 1448, 8948, 65_483];
/// 2^31 bytes.
const LARGEST: u64 = 1 << 31;

/// The bound of a controller, bytes.
fn largest(kind: Kind, mss: u32) -> u64 {
    if kind == Kind::Vcp { LARGEST.min(u64::from(mss) << 20) } else { LARGEST }
}

/// Returns the acknowledgment of a whole window after a round trip of half a second, with the largest
/// feedback that routers can give.
fn generous(kind: Kind, now: u64, window: u64, mss: u32) -> AckEvent {
    const RTT: u32 = 500_000;
    let acked = u32::try_from(window).unwrap();
    AckEvent {
        now,
        acked,
        advance: acked,
        mss,
        receiver_stamp: (now / 1000) as u32,
        rtt: RoundTrip { latest: RTT, smoothed: RTT, minimum: RTT, sample: RTT },
        change: (1 << 30) - 1,
        feedback: match kind {
            Kind::Xcp => 2,
            Kind::Vcp => 1,
            _ => 0,
        },
        load: 0,
        has_stamp: true,
        window_limited: true,
        ..AckEvent::default()
    }
}

/// With generous feedback, each window grows to exactly its bound and never exceeds it.
#[test]
fn the_most_favourable_path_takes_windows_to_their_bound() {
    for (kind, mss) in KINDS.into_iter().flat_map(|kind| SEGMENTS.map(|mss| (kind, mss))) {
        let mut controller = NativeController::new(kind, 10 * mss, mss);
        let (mut last, mut same, mut now) = (0, 0, 1_000_000);
        while same < 50 {
            controller.on_ack(&generous(kind, now, controller.window(), mss));
            same = if controller.window() == last { same + 1 } else { 0 };
            last = controller.window();
            assert!(last <= largest(kind, mss), "{kind:?}, segments of {mss}: {last}");
            now += 500_000;
            assert!(now < 10_000_000_000, "{kind:?}, segments of {mss}: it still grows, from {last}");
        }
        assert_eq!(last, largest(kind, mss), "{kind:?}, segments of {mss}");
    }
}

fn any_round_trip() -> impl Strategy<Value = RoundTrip> {
    let time = prop_oneof![Just(0), 1..1_000_000_u32, Just(u32::MAX), any::<u32>()];
    [time.clone(), time.clone(), time.clone(), time]
        .prop_map(|[latest, smoothed, minimum, sample]| RoundTrip { latest, smoothed, minimum, sample })
}

fn amount() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), 1..100_000_u32, Just(u32::MAX), any::<u32>()]
}

#[derive(Clone, Debug)]
enum Call {
    Ack(AckEvent),
    Congestion(CongestionEvent),
    Spurious,
}

/// Generates arbitrary event fields, at times that never decrease.
fn anything(mss: u32) -> impl Strategy<Value = (u64, Call)> {
    let flags = any::<[bool; 5]>();
    let ack = (amount(), amount(), any::<u32>(), any_round_trip(), any::<(i32, u8, u8)>(), flags).prop_map(
        move |(acked, advance, receiver_stamp, rtt, (change, feedback, load), flags)| {
            let [has_stamp, duplicate, window_limited, in_recovery, marked] = flags;
            let (feedback, load) = (feedback % 4, load % 5);
            Call::Ack(AckEvent {
                now: 0,
                acked,
                advance,
                mss,
                receiver_stamp,
                rtt,
                change,
                feedback,
                load,
                has_stamp,
                duplicate,
                window_limited,
                in_recovery,
                marked,
                unused: [0; 1],
            })
        },
    );
    let congestion = (amount(), any_round_trip(), 0..4_u32, 0..3_u8).prop_map(
        move |(flight_size, rtt, consecutive, signal)| {
            Call::Congestion(CongestionEvent {
                flight_size,
                mss,
                rtt,
                consecutive,
                signal,
                ..CongestionEvent::default()
            })
        },
    );
    let wait = prop_oneof![0..1_000_000_u64, Just(3_600_000_000)];
    (wait, prop_oneof![20 => ack, 2 => congestion, 1 => Just(Call::Spurious)])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Arbitrary values in all fields never move a window beyond its bound.
    #[test]
    fn inconsistent_events_keep_windows_within_their_bound(
        kind in proptest::sample::select(KINDS.to_vec()),
        (mss, told) in proptest::sample::select(SEGMENTS.to_vec())
            .prop_flat_map(|mss| (Just(mss), proptest::collection::vec(anything(mss), 1..200))),
    ) {
        let mut controller = NativeController::new(kind, 10 * mss, mss);
        let mut now = 1_000_000;
        for (wait, told) in told {
            now += wait;
            match told {
                Call::Ack(event) => controller.on_ack(&AckEvent { now, ..event }),
                Call::Congestion(event) => controller.on_congestion(&CongestionEvent { now, ..event }),
                Call::Spurious => controller.on_spurious(),
            }
            let window = controller.window();
            prop_assert!((1..=LARGEST).contains(&window), "{kind:?}: {window} after {told:?}");
        }
    }
}
