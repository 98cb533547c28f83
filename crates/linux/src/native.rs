//! The controllers of the BPF programs, called in this process: the same C code, compiled for the host
//! instead of the kernel.
//!
//! For tests, which compare the integer arithmetic of these controllers with the floating-point arithmetic of
//! the Rust crates.

#![allow(
    unsafe_code,
    reason = "calls into C; each call hands over memory that this module owns, of the size that C names"
)]

/// The congestion controller to run.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The XCP sender.
    Xcp = 1,
    /// The VCP sender with loss differentiation.
    Vcp = 2,
    /// CUBIC of 2008 with EBE's window ceiling.
    CubicEbe = 3,
    /// Westwood+.
    Westwood = 4,
    /// SARBE.
    Sarbe = 5,
}

/// Round-trip times in microseconds; zero if there is none.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrip {
    /// The latest sample.
    pub latest: u32,
    /// The smoothed round-trip time.
    pub smoothed: u32,
    /// The smallest round-trip time.
    pub minimum: u32,
    /// The sample of this acknowledgment.
    pub sample: u32,
}

/// An acknowledgment: `struct ack_event`. Times in microseconds, amounts in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckEvent {
    /// Arrival time.
    pub now: u64,
    /// Newly acknowledged bytes, cumulatively or selectively.
    pub acked: u32,
    /// Bytes by which the cumulative acknowledgment advanced.
    pub advance: u32,
    /// Largest payload of a packet.
    pub mss: u32,
    /// The receiver's timestamp, in ticks of its clock.
    pub receiver_stamp: u32,
    /// Round-trip times.
    pub rtt: RoundTrip,
    /// XCP's feedback, byte/s.
    pub change: i32,
    /// Kind of feedback. 0: none, 1: a VCP load code, 2: XCP feedback.
    pub feedback: u8,
    /// VCP's load code. 0: low, 1: high, 2: overload.
    pub load: u8,
    /// Whether `receiver_stamp` is valid.
    pub has_stamp: bool,
    /// Whether this is a duplicate acknowledgment: it advances nothing.
    pub duplicate: bool,
    /// Whether the window limited the flight.
    pub window_limited: bool,
    /// Whether a loss is being repaired.
    pub in_recovery: bool,
    /// Whether the acknowledgment echoes an ECN mark.
    pub marked: bool,
    /// Padding.
    pub unused: [u8; 1],
}

/// A congestion signal: `struct congestion_event`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CongestionEvent {
    /// Time of the signal, microseconds.
    pub now: u64,
    /// Bytes sent and not cumulatively acknowledged.
    pub flight_size: u32,
    /// Largest payload of a packet.
    pub mss: u32,
    /// Round-trip times.
    pub rtt: RoundTrip,
    /// Consecutive expiries of the retransmission timer since the last new acknowledgment.
    pub consecutive: u32,
    /// Kind of signal. 0: loss, 1: mark, 2: timeout.
    pub signal: u8,
    /// Padding.
    pub unused: [u8; 3],
}

impl RoundTrip {
    fn to_words(self) -> [u32; 4] {
        [self.latest, self.smoothed, self.minimum, self.sample]
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        Self {
            latest: word(bytes, 0),
            smoothed: word(bytes, 4),
            minimum: word(bytes, 8),
            sample: word(bytes, 12),
        }
    }
}

impl AckEvent {
    /// Returns the event in the memory layout of the C struct.
    pub(crate) fn to_bytes(self) -> [u8; 56] {
        let mut bytes = [0; 56];
        bytes[..8].copy_from_slice(&self.now.to_ne_bytes());
        put(&mut bytes, 8, &[self.acked, self.advance, self.mss, self.receiver_stamp]);
        put(&mut bytes, 24, &self.rtt.to_words());
        bytes[40..44].copy_from_slice(&self.change.to_ne_bytes());
        let flags = [self.has_stamp, self.duplicate, self.window_limited, self.in_recovery, self.marked];
        bytes[44..46].copy_from_slice(&[self.feedback, self.load]);
        bytes[46..51].copy_from_slice(&flags.map(u8::from));
        bytes
    }

    /// Reads the event from the memory layout of the C struct; `bytes` contains at least 56 bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self {
            now: long(bytes, 0),
            acked: word(bytes, 8),
            advance: word(bytes, 12),
            mss: word(bytes, 16),
            receiver_stamp: word(bytes, 20),
            rtt: RoundTrip::of_bytes(&bytes[24..]),
            change: word(bytes, 40) as i32, // the same bits
            feedback: bytes[44],
            load: bytes[45],
            has_stamp: bytes[46] != 0,
            duplicate: bytes[47] != 0,
            window_limited: bytes[48] != 0,
            in_recovery: bytes[49] != 0,
            marked: bytes[50] != 0,
            unused: [0; 1],
        }
    }
}

impl CongestionEvent {
    /// Returns the event in the memory layout of the C struct.
    pub(crate) fn to_bytes(self) -> [u8; 40] {
        let mut bytes = [0; 40];
        bytes[..8].copy_from_slice(&self.now.to_ne_bytes());
        put(&mut bytes, 8, &[self.flight_size, self.mss]);
        put(&mut bytes, 16, &self.rtt.to_words());
        put(&mut bytes, 32, &[self.consecutive]);
        bytes[36] = self.signal;
        bytes
    }

    /// Reads the event from the memory layout of the C struct; `bytes` contains at least 40 bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self {
            now: long(bytes, 0),
            flight_size: word(bytes, 8),
            mss: word(bytes, 12),
            rtt: RoundTrip::of_bytes(&bytes[16..]),
            consecutive: word(bytes, 32),
            signal: bytes[36],
            unused: [0; 3],
        }
    }
}

fn put(bytes: &mut [u8], at: usize, words: &[u32]) {
    for (place, word) in bytes[at..].chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
}

/// Returns the 32-bit word at offset `at`.
pub(crate) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Returns the 64-bit word at offset `at`.
pub(crate) fn long(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(value)
}

unsafe extern "C" {
    fn airpath_state_size() -> u64;
    fn airpath_start(state: *mut u64, kind: i32, window: u32, mss: u32);
    fn airpath_on_ack(state: *mut u64, kind: i32, event: *const AckEvent);
    fn airpath_on_congestion(state: *mut u64, kind: i32, event: *const CongestionEvent);
    fn airpath_on_spurious(state: *mut u64, kind: i32);
    fn airpath_window(state: *const u64, kind: i32) -> u64;
    fn airpath_spacing(state: *const u64) -> u32;
    fn airpath_filter_size() -> u64;
    fn airpath_filter_start(filter: *mut u64, profile: u64);
    fn airpath_filter_register(filter: *mut u64, w_max: f64, rtt_max: f64);
    fn airpath_filter_step(filter: *mut u64, measured: f64, window: f64, rtt: f64, result: *mut f64);
    fn airpath_cube_root(value: f64) -> f64;
}

/// A controller of the BPF programs.
#[derive(Clone, Debug)]
pub struct NativeController {
    kind: Kind,
    /// `struct state`, as 64-bit words for alignment.
    state: Vec<u64>,
}

impl NativeController {
    /// Creates a controller with an initial window of `window` bytes.
    pub fn new(kind: Kind, window: u32, mss: u32) -> Self {
        // SAFETY: the function takes no arguments and returns a constant.
        let bytes = unsafe { airpath_state_size() };
        let mut state = vec![0; bytes.div_ceil(8) as usize];
        // SAFETY: `state` has the size that the C code requires.
        unsafe { airpath_start(state.as_mut_ptr(), kind as i32, window, mss) };
        Self { kind, state }
    }

    /// Processes an acknowledgment.
    pub fn on_ack(&mut self, event: &AckEvent) {
        // SAFETY: as in `new`.
        unsafe { airpath_on_ack(self.state.as_mut_ptr(), self.kind as i32, event) };
    }

    /// Processes a congestion signal.
    pub fn on_congestion(&mut self, event: &CongestionEvent) {
        // SAFETY: as in `new`.
        unsafe { airpath_on_congestion(self.state.as_mut_ptr(), self.kind as i32, event) };
    }

    /// Undoes the last congestion signal, which was spurious.
    pub fn on_spurious(&mut self) {
        // SAFETY: as in `new`.
        unsafe { airpath_on_spurious(self.state.as_mut_ptr(), self.kind as i32) };
    }

    /// Returns the congestion window in bytes of payload.
    pub fn window(&self) -> u64 {
        // SAFETY: as in `new`.
        unsafe { airpath_window(self.state.as_ptr(), self.kind as i32) }
    }

    /// Returns the time between two packets of a small window, in microseconds; `None` if packets are not
    /// paced.
    pub fn spacing(&self) -> Option<u32> {
        // SAFETY: as in `new`; the state is read as VCP's only for VCP.
        let spacing =
            if self.kind == Kind::Vcp { unsafe { airpath_spacing(self.state.as_ptr()) } } else { 0 };
        (spacing > 0).then_some(spacing)
    }
}

/// EBE's filter of the window ceiling, without a controller.
#[derive(Clone, Debug)]
pub struct NativeFilter {
    /// `struct ebe_filter`.
    state: Vec<u64>,
}

impl NativeFilter {
    /// Creates a filter before any loss, with the profile `recommended` if set, otherwise with the paper's.
    pub fn new(recommended: bool) -> Self {
        // SAFETY: the function takes no arguments and returns a constant.
        let bytes = unsafe { airpath_filter_size() };
        let mut state = vec![0; bytes.div_ceil(8) as usize];
        // SAFETY: `state` has the size that the C code requires.
        unsafe { airpath_filter_start(state.as_mut_ptr(), recommended.into()) };
        Self { state }
    }

    /// Registers a loss at the window `w_max` in segments and the round-trip time `rtt_max` in seconds.
    pub fn register(&mut self, w_max: f64, rtt_max: f64) {
        // SAFETY: as in `new`.
        unsafe { airpath_filter_register(self.state.as_mut_ptr(), w_max, rtt_max) };
    }

    /// Runs one cycle with the measured ceiling (`None`: the filter's own last output) and the window in
    /// segments, and the mean round-trip time in seconds. Returns x1, x2, P11, P12 and P22.
    pub fn step(&mut self, measured: Option<f64>, window: f64, rtt: f64) -> [f64; 5] {
        let mut result = [0.0; 5];
        let measured = measured.unwrap_or(-1.0);
        // SAFETY: as in `new`; `result` has room for the five values that the C code writes.
        unsafe { airpath_filter_step(self.state.as_mut_ptr(), measured, window, rtt, result.as_mut_ptr()) };
        result
    }
}

/// Returns the cube root as the BPF programs compute it, for values up to 2^22.
pub fn cube_root(value: f64) -> f64 {
    // SAFETY: the call passes no pointers.
    unsafe { airpath_cube_root(value) }
}
