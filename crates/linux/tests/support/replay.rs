//! Events for a controller of the BPF programs and its Rust counterpart.

use airpath_control::{
    Cubic, CubicConfig, CubicEbe, LossDifferentiation, LossDifferentiationConfig, MinimumRtt, NewReno,
    ProbingGrowth, StandardSlowStart, Vcp, VcpConfig, Westwood, WestwoodConfig, WestwoodReduction, Windowed,
    Xcp,
};
use airpath_estimate::{AckRate, AckRateConfig, EbeCeiling, EbeCeilingConfig, FilterConfig, SamplerConfig};
use airpath_linux::native::{self, Kind, NativeController};
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Controller, Duration, LoadCode, NullProbe,
    PathHeader, RttEstimate, Timestamp, XcpHeader,
};
use proptest::prelude::*;

/// An event of a controller.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Told {
    Ack(native::AckEvent),
    Congestion(native::CongestionEvent),
    Spurious,
}

/// Returns the Rust controller with the parameters of the BPF program.
fn reference(kind: Kind, mss: u32, segments: u32) -> Box<dyn Controller> {
    let mss = Bytes::new(mss.into());
    let window = mss * u64::from(segments);
    match kind {
        Kind::Xcp => Box::new(Xcp::new(airpath_control::XcpConfig::default(), window, mss).unwrap()),
        Kind::Vcp => {
            let vcp = Box::new(Vcp::new(VcpConfig::default(), window, mss).unwrap());
            let config = LossDifferentiationConfig::default();
            Box::new(LossDifferentiation::new(config, vcp).unwrap())
        }
        Kind::CubicEbe => {
            let cubic = Cubic::new(CubicConfig::LINUX2008).unwrap();
            let ceiling = EbeCeiling::new(EbeCeilingConfig::default()).unwrap();
            windowed(CubicEbe::new(cubic, ceiling, ProbingGrowth::Acknowledged), window, mss)
        }
        Kind::Westwood => {
            let config = WestwoodConfig {
                reduction: WestwoodReduction::AfterRecovery,
                guard: false,
                ..WestwoodConfig::default()
            };
            let estimator = AckRate::new(AckRateConfig::WestwoodPlus { ticks_per_second: 1000 }).unwrap();
            windowed(Westwood::new(estimator, config), window, mss)
        }
        Kind::Sarbe => {
            let config = WestwoodConfig { minimum_rtt: MinimumRtt::OfFlow, ..WestwoodConfig::default() };
            let resolution = Duration::from_millis(1);
            let estimator = AckRate::new(AckRateConfig::Filtered {
                sampler: SamplerConfig::ReceiverClock { resolution },
                filter: FilterConfig::Stability { beta: 0.8, window: 8 },
            });
            windowed(Westwood::new(estimator.unwrap(), config), window, mss)
        }
    }
}

fn windowed<W: airpath_control::WindowRule + 'static>(
    rule: W,
    window: Bytes,
    mss: Bytes,
) -> Box<dyn Controller> {
    let slow_start = StandardSlowStart::new(u64::MAX).unwrap();
    Box::new(Windowed::new(rule, slow_start, window, mss).unwrap())
}

fn at(micros: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_micros(micros)
}

fn round_trip(rtt: &native::RoundTrip, longer: u64) -> RttEstimate {
    let micros = |value: u32| Duration::from_nanos(u64::from(value) * 1000 + longer);
    RttEstimate {
        latest: micros(rtt.latest),
        smoothed: micros(rtt.smoothed),
        minimum: micros(rtt.minimum),
        ..RttEstimate::default()
    }
}

fn ack_event(event: &native::AckEvent, longer: u64) -> AckEvent {
    let mut ack = AckEvent::at(at(event.now));
    ack.acked = Bytes::new(event.acked.into());
    ack.advance = Bytes::new(event.advance.into());
    ack.duplicate = event.duplicate;
    ack.mss = Bytes::new(event.mss.into());
    ack.rtt = round_trip(&event.rtt, longer);
    ack.rtt_sample = (event.rtt.sample > 0).then(|| Duration::from_micros(event.rtt.sample.into()));
    ack.window_limited = event.window_limited;
    ack.in_recovery = event.in_recovery;
    ack.congestion_experienced = event.marked;
    ack.receiver_time = event.has_stamp.then(|| at(u64::from(event.receiver_stamp) * 1000));
    ack.path = match event.feedback {
        1 => PathHeader::Load([LoadCode::Low, LoadCode::High, LoadCode::Overload][usize::from(event.load)]),
        2 => PathHeader::Xcp(XcpHeader {
            rtt: ack.rtt.smoothed,
            inter_packet: Duration::ZERO,
            delta_throughput: event.change.into(),
        }),
        _ => PathHeader::None,
    };
    ack
}

fn congestion_event(event: &native::CongestionEvent, longer: u64) -> CongestionEvent {
    let signal = [CongestionSignal::Loss, CongestionSignal::EcnCe, CongestionSignal::Timeout];
    let mut congestion = CongestionEvent::at(at(event.now), signal[usize::from(event.signal)]);
    congestion.flight_size = Bytes::new(event.flight_size.into());
    congestion.mss = Bytes::new(event.mss.into());
    congestion.rtt = round_trip(&event.rtt, longer);
    congestion.consecutive = event.consecutive;
    congestion
}

/// Returns the Rust controller's window after each event.
pub(crate) fn reference_windows(kind: Kind, mss: u32, segments: u32, told: &[Told]) -> Vec<u64> {
    disturbed_windows(kind, mss, segments, told, 0)
}

/// Returns the same with round-trip times that are up to `noise` nanoseconds longer, each by a different
/// amount.
pub(crate) fn disturbed_windows(kind: Kind, mss: u32, segments: u32, told: &[Told], noise: u64) -> Vec<u64> {
    windows_of(&mut *reference(kind, mss, segments), told, noise)
}

/// Returns the windows of the simulator's Reno.
pub(crate) fn reno_windows(mss: u32, segments: u32, told: &[Told]) -> Vec<u64> {
    let mss = Bytes::new(mss.into());
    windows_of(&mut *windowed(NewReno::default(), mss * u64::from(segments), mss), told, 0)
}

fn windows_of(controller: &mut dyn Controller, told: &[Told], noise: u64) -> Vec<u64> {
    let mut windows = Vec::new();
    for (number, event) in told.iter().enumerate() {
        let longer = (number as u64 * 7919) % (noise + 1);
        match event {
            Told::Ack(event) => controller.on_ack(&ack_event(event, longer), &mut NullProbe),
            Told::Congestion(event) => {
                controller.on_congestion(&congestion_event(event, longer), &mut NullProbe);
            }
            Told::Spurious => controller.on_spurious(Timestamp::ZERO, &mut NullProbe),
        }
        windows.push(controller.control().window.get());
    }
    windows
}

/// Returns the C controller's window after each event.
pub(crate) fn native_windows(mut controller: NativeController, told: &[Told]) -> Vec<u64> {
    let mut windows = Vec::new();
    for event in told {
        match event {
            Told::Ack(event) => controller.on_ack(event),
            Told::Congestion(event) => controller.on_congestion(event),
            Told::Spurious => controller.on_spurious(),
        }
        windows.push(controller.window());
    }
    windows
}

/// Returns the largest difference of two lists of windows, relative to the second list. Windows are whole
/// bytes, so a difference of one byte is ignored.
pub(crate) fn difference(left: &[u64], right: &[u64]) -> f64 {
    assert_eq!(left.len(), right.len());
    let share = |(left, right): (&u64, &u64)| left.abs_diff(*right).saturating_sub(1) as f64 / *right as f64;
    left.iter().zip(right).map(share).fold(0.0, f64::max)
}

/// One step of a script, which becomes an event.
#[derive(Clone, Copy, Debug)]
struct Step {
    wait: u64,
    what: u8,
    segments: u32,
    rtt: u32,
    limited: bool,
    feedback: u8,
    load: u8,
    change: i32,
    stamped: bool,
}

/// Generates lists of events as they occur in connections: acknowledgments, duplicates, echoes of marks,
/// losses and their repair, timeouts, spurious signals.
pub(crate) fn script(kind: Kind) -> impl Strategy<Value = Vec<Told>> {
    let wait = prop_oneof![12 => 0..8_000u64, 3 => 8_000..80_000u64, 1 => 80_000..15_000_000u64];
    let change = prop_oneof![8 => -60_000..90_000i32, 1 => -8_000_000..8_000_000i32];
    let rtt = (20_000..40_000u32, 0..400_000u32, 0..4u8)
        .prop_map(|(base, queue, busy)| base + queue / 4 * u32::from(busy));
    let step = (wait, 0..200u8, 0..5u32, rtt, 0..10u8, 0..10u8, 0..3u8, change, 0..10u8).prop_map(
        |(wait, what, segments, rtt, limited, feedback, load, change, stamped)| Step {
            wait,
            what,
            segments,
            rtt,
            limited: limited > 0,
            feedback,
            load,
            change,
            stamped: stamped > 0,
        },
    );
    proptest::collection::vec(step, 20..400).prop_map(move |steps| events(kind, &steps))
}

/// Converts steps to events with consistent clocks and estimates.
fn events(kind: Kind, steps: &[Step]) -> Vec<Told> {
    let mss = 1448;
    let (mut now, mut recovering, mut timeouts, mut was_silent) = (1_000_000, 0_u32, 0, false);
    let mut rtt = native::RoundTrip::default();
    let mut told = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        now += step.wait;
        // The first event is an acknowledgment with feedback: without any, the kernel's controllers fall back
        // to Reno.
        let what = if number == 0 { 255 } else { step.what };
        let signal = match what {
            0..=3 => Some(0),
            4 => Some(2),
            5 if kind != Kind::Vcp => Some(1),
            6 => {
                told.push(Told::Spurious);
                recovering = 0;
                continue;
            }
            _ => None,
        };
        if let Some(signal) = signal {
            timeouts = if signal == 2 { timeouts + 1 } else { 0 };
            recovering = if signal == 0 { 6 } else { 0 };
            let flight_size = mss * (step.segments + 1) * 9;
            told.push(Told::Congestion(native::CongestionEvent {
                now,
                flight_size,
                mss,
                rtt,
                consecutive: timeouts,
                signal,
                ..native::CongestionEvent::default()
            }));
            continue;
        }
        let segments = if number == 0 { 1 } else { step.segments };
        rtt.sample = 0;
        if segments > 0 {
            rtt.sample = step.rtt;
            rtt.latest = step.rtt;
            rtt.smoothed = if rtt.smoothed == 0 { step.rtt } else { (7 * rtt.smoothed + step.rtt) / 8 };
            rtt.minimum = if rtt.minimum == 0 { step.rtt } else { rtt.minimum.min(step.rtt) };
        }
        // Some echoes are lost, but never two in a row; long silence is tested elsewhere.
        let silent = number > 0 && step.feedback == 0 && !was_silent;
        was_silent = silent;
        let feedback = match kind {
            Kind::Vcp if !silent => 1,
            Kind::Xcp if !silent => 2,
            _ => 0,
        };
        recovering = recovering.saturating_sub(1);
        // Duplicates acknowledge selectively, both in recoveries and after reordering.
        let selective =
            if recovering > 0 { step.segments.is_multiple_of(2) } else { step.wait.is_multiple_of(8) };
        let advance = if number > 0 && selective { 0 } else { segments * mss };
        if advance > 0 {
            timeouts = 0;
        }
        told.push(Told::Ack(native::AckEvent {
            now,
            acked: segments * mss,
            advance,
            mss,
            receiver_stamp: (now / 1000) as u32 + 77_000,
            rtt,
            change: step.change,
            feedback,
            load: step.load,
            has_stamp: step.stamped,
            duplicate: advance == 0,
            window_limited: step.limited,
            in_recovery: recovering > 0,
            marked: step.wait.is_multiple_of(11),
            unused: [0; 1],
        }));
    }
    told
}

/// Returns the first acknowledgment of a connection, with this round-trip time in microseconds.
pub(crate) fn first_ack(rtt: u32) -> Told {
    Told::Ack(native::AckEvent {
        now: 1_000_000,
        acked: 0,
        mss: 1448,
        rtt: native::RoundTrip { latest: rtt, smoothed: rtt, minimum: rtt, sample: rtt },
        feedback: 1,
        ..native::AckEvent::default()
    })
}

/// Returns the pacing of both VCP senders after these events, from a window of `segments`.
pub(crate) fn pacing(segments: u32, told: &[Told]) -> (Option<u32>, airpath_model::Pacing) {
    let mut native = NativeController::new(Kind::Vcp, 1448 * segments, 1448);
    let mut reference = reference(Kind::Vcp, 1448, segments);
    for event in told {
        if let Told::Ack(event) = event {
            native.on_ack(event);
            reference.on_ack(&ack_event(event, 0), &mut NullProbe);
        }
    }
    (native.spacing(), reference.control().pacing)
}
