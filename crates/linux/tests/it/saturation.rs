//! VCP over synthetic paths with the code "low". Channel errors are ignored at any loss rate. If the window
//! doubled without more deliveries, VCP reacts to losses as Reno until it receives a code above "low".

use airpath_linux::native::{AckEvent, CongestionEvent, Kind, NativeController, RoundTrip};
use airpath_linux::replay::KernelController;

use crate::support::can_control;
use crate::support::replay::{Told, difference, native_windows, reference_windows};

const MSS: u32 = 1448;
const START: u32 = 10 * MSS;
/// Round-trip time of the path, microseconds.
const RTT: u32 = 100_000;
const LOW: u8 = 0;
const HIGH: u8 = 1;

/// A connection over a path that delivers `delivers(n)` of `n` segments sent in a round trip.
struct Connection {
    controller: NativeController,
    told: Vec<Told>,
    now: u64,
    delivers: fn(u32) -> u32,
}

impl Connection {
    fn new(delivers: fn(u32) -> u32) -> Self {
        let controller = NativeController::new(Kind::Vcp, START, MSS);
        Self { controller, told: Vec::new(), now: 1_000_000, delivers }
    }

    fn segments(&self) -> u32 {
        (self.controller.window() / u64::from(MSS)) as u32
    }

    /// Runs a round trip: an acknowledgment with the code `load` for each segment that arrives, and a loss if
    /// any does not.
    fn round(&mut self, load: u8) {
        let sent = self.segments();
        let arrive = (self.delivers)(sent);
        let rtt = RoundTrip { latest: RTT, smoothed: RTT, minimum: RTT, sample: RTT };
        for _ in 0..arrive {
            self.now += u64::from(RTT / arrive);
            let ack =
                AckEvent { now: self.now, acked: MSS, advance: MSS, mss: MSS, rtt, ..AckEvent::default() };
            let ack = AckEvent { feedback: 1, load, window_limited: true, ..ack };
            self.controller.on_ack(&ack);
            self.told.push(Told::Ack(ack));
        }
        if arrive < sent {
            let loss = CongestionEvent {
                now: self.now,
                flight_size: sent * MSS,
                mss: MSS,
                rtt,
                ..Default::default()
            };
            self.controller.on_congestion(&loss);
            self.told.push(Told::Congestion(loss));
        }
    }

    /// Returns the difference of the windows from those of VCP with loss differentiation in the simulator.
    fn departure(&self) -> f64 {
        let native = native_windows(NativeController::new(Kind::Vcp, START, MSS), &self.told);
        difference(&native, &reference_windows(Kind::Vcp, MSS, START / MSS, &self.told))
    }
}

/// Checks that the kernel computes the same windows for the same events, bit by bit.
fn check_kernel(connection: &Connection) {
    if !can_control("saturation") {
        return;
    }
    let expected = native_windows(NativeController::new(Kind::Vcp, START, MSS), &connection.told);
    let mut kernel = KernelController::new(Kind::Vcp, START, MSS).unwrap();
    for (event, expected) in connection.told.iter().zip(expected) {
        match event {
            Told::Ack(event) => kernel.on_ack(event).unwrap(),
            Told::Congestion(event) => kernel.on_congestion(event).unwrap(),
            Told::Spurious => kernel.on_spurious().unwrap(),
        }
        assert_eq!(kernel.window(), expected, "{event:?}");
    }
}

#[test]
fn channel_errors_at_any_rate_are_dismissed() {
    let shares: [fn(u32) -> u32; 3] =
        [|sent| sent - sent.div_ceil(100), |sent| sent - sent.div_ceil(5), |sent| sent / 2];
    for delivers in shares {
        let mut connection = Connection::new(delivers);
        for _ in 0..1000 {
            if connection.segments() >= 1000 {
                break;
            }
            connection.round(LOW);
        }
        assert!(connection.segments() >= 1000, "{}", connection.segments());
        assert!(connection.departure() < 1e-9, "{}", connection.departure());
    }
}

#[test]
fn a_full_path_with_code_low_falls_back_to_reno_until_a_router_sets_codes() {
    const FITS: u32 = 60;
    let mut connection = Connection::new(|sent| sent.min(FITS));
    let mut largest = 0;
    let mut rounds = 0;
    while connection.departure() < 1e-9 {
        connection.round(LOW);
        rounds += 1;
        largest = largest.max(connection.segments());
        assert!(rounds < 1000, "{largest} segments, and it goes on");
    }
    // Twice the capacity, plus a quarter for the last growth that counted.
    assert!((2 * FITS - 20..=5 * FITS / 2).contains(&largest), "{largest}");
    // Half of the flight, as in Reno; then one segment more each round trip, until the next loss.
    assert!(connection.segments().abs_diff(largest / 2) <= 1, "{} of {largest}", connection.segments());
    let mut windows = Vec::new();
    for _ in 0..200 {
        connection.round(LOW);
        windows.push(connection.segments());
    }
    assert!(windows.iter().all(|&window| (FITS / 2 - 1..=FITS + 1).contains(&window)), "{windows:?}");
    assert!(windows.windows(2).all(|pair| pair[1] <= pair[0] + 2), "{windows:?}");

    // Feedback from a router: additive increase by the square of 100/200 of a segment. Afterwards "low"
    // counts again, and losses with it do not.
    connection.delivers = |sent| sent - 1;
    let before = connection.controller.window();
    connection.round(HIGH);
    let grown = connection.controller.window() - before;
    assert!(grown.abs_diff(u64::from(MSS / 4)) < u64::from(MSS) / 20, "{grown} bytes");
    let before = connection.segments();
    for _ in 0..50 {
        connection.round(LOW);
    }
    assert!(connection.segments() > 3 * before, "{} from {before}", connection.segments());
    check_kernel(&connection);
}
