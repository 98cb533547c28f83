//! `airpath_controller.h` and `airpath_components.h` in Rust. The headers document every field; a test compares them with
//! this module.

mod components;

use core::ffi::{c_char, c_int, c_void};

use airpath_model::Phase;

pub use components::{
    Capacity, Decision, Estimate, Estimator, Interval, Link, Packet, Queue, Settings, Source, Waiting,
};

/// The major version of the interface. Libraries of another major version are refused.
pub const MAJOR: u32 = 1;
/// The version of the interface: the major and the minor version, 16 bits each.
pub const ABI: u32 = MAJOR << 16 | 1;
/// A time that does not come, and a threshold without a bound.
pub const NEVER: u64 = u64::MAX;

/// Kinds of parameters.
#[allow(missing_docs, reason = "the header documents them")]
pub mod kind {
    pub const BOOL: u32 = 0;
    pub const INTEGER: u32 = 1;
    pub const NUMBER: u32 = 2;
    pub const CHOICE: u32 = 3;
    pub const TIME: u32 = 4;
    pub const RATE: u32 = 5;
    pub const SIZE: u32 = 6;
}

/// Flags of parameters, answers and events; numbers of quantities, ways of pacing and signals.
#[allow(missing_docs, reason = "the header documents them")]
pub mod code {
    pub const ABOVE_LEAST: u32 = 1 << 0;
    pub const BELOW_MOST: u32 = 1 << 1;

    pub const BANDWIDTH_SAMPLE: u32 = u32::MAX - 1;
    pub const BANDWIDTH: u32 = u32::MAX;

    pub const PACING_FROM_WINDOW: u32 = 0;
    pub const PACING_OFF: u32 = 1;
    pub const PACING_AT_RATE: u32 = 2;

    pub const CONTROL_DISMISSED: u32 = 1 << 0;

    pub const NEEDS_PACING: u32 = 1 << 0;
    pub const NEEDS_RATE_SAMPLES: u32 = 1 << 1;
    pub const NEEDS_ECN: u32 = 1 << 2;
    pub const NEEDS_ACCURATE_ECN: u32 = 1 << 3;
    pub const NEEDS_RECEIVER_TIME: u32 = 1 << 4;
    pub const NEEDS_WINDOW_IN_RECOVERY: u32 = 1 << 5;
    pub const NEEDS_RTT: u32 = 1 << 6;
    pub const NEEDS_SENDING_TIMES: u32 = 1 << 7;

    pub const ACK_DUPLICATE: u32 = 1 << 0;
    pub const ACK_WINDOW_LIMITED: u32 = 1 << 1;
    pub const ACK_IN_RECOVERY: u32 = 1 << 2;
    pub const ACK_CONGESTION_EXPERIENCED: u32 = 1 << 3;
    pub const ACK_HIDDEN_DUPLICATE: u32 = 1 << 4;
    pub const ACK_RTT_SAMPLE: u32 = 1 << 5;
    pub const ACK_LATEST_SENT: u32 = 1 << 6;
    pub const ACK_RATE_SAMPLE: u32 = 1 << 7;
    pub const ACK_APP_LIMITED: u32 = 1 << 8;
    pub const ACK_RECEIVER_TIME: u32 = 1 << 9;

    pub const LOSS: u32 = 0;
    pub const MARK: u32 = 1;
    pub const TIMEOUT: u32 = 2;

    pub const SENT_RETRANSMISSION: u32 = 1 << 0;
    pub const SENT_APP_LIMITED: u32 = 1 << 1;

    pub const ESTIMATE_SAMPLE: u32 = 1 << 0;
    pub const ESTIMATE_BANDWIDTH: u32 = 1 << 1;
    pub const ESTIMATE_MINIMUM_RTT: u32 = 1 << 2;

    pub const CAPACITY_KNOWN: u32 = 1 << 0;

    pub const PACKET_FITS: u32 = 1 << 0;
    pub const PACKET_DATA: u32 = 1 << 1;
    pub const PACKET_ECN_CAPABLE: u32 = 1 << 2;
    pub const PACKET_ECT1: u32 = 1 << 3;
    pub const PACKET_MARKED: u32 = 1 << 4;

    pub const DROP_OVERFLOW: u32 = 0;
    pub const DROP_EARLY: u32 = 1;
}

/// The phases in the order of their numbers in the interface.
pub const PHASES: [Phase; 11] = [
    Phase::Steady,
    Phase::SlowStart,
    Phase::CongestionAvoidance,
    Phase::ConservativeSlowStart,
    Phase::Drain,
    Phase::ProbeDown,
    Phase::ProbeCruise,
    Phase::ProbeRefill,
    Phase::ProbeUp,
    Phase::ProbeRtt,
    Phase::Slowdown,
];

/// The value of a parameter.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Value {
    pub number: f64,
    pub integer: i64,
}

/// A parameter.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub size: u32,
    pub kind: u32,
    pub name: *const c_char,
    pub help: *const c_char,
    pub initial: Value,
    pub least: f64,
    pub most: f64,
    pub choices: *const c_char,
    pub flags: u32,
    pub reserved: u32,
}

/// The functions of the host for one instance.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Host {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub record: Option<unsafe extern "C" fn(context: *mut c_void, quantity: u32, value: f64)>,
    pub drop: Option<unsafe extern "C" fn(context: *mut c_void, packet: u64, reason: u32)>,
    pub mark: Option<unsafe extern "C" fn(context: *mut c_void, packet: u64)>,
}

/// The facts of a connection that are known before its first packet.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    pub size: u32,
    pub mss: u32,
    pub initial_window: u64,
    pub handshake_rtt: u64,
    pub seed: u64,
    pub values: *const Value,
    pub host: *const Host,
}

/// The answer of a controller.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Control {
    pub size: u32,
    pub flags: u32,
    pub window: u64,
    pub pacing_rate: u64,
    pub quantum: u64,
    pub ssthresh: u64,
    pub next_timer: u64,
    pub error: *const c_char,
    pub pacing: u32,
    pub phase: u32,
    pub needs: u32,
    pub reserved: u32,
    pub longest_report_interval: u64,
}

/// Round-trip times.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Rtt {
    pub latest: u64,
    pub smoothed: u64,
    pub variation: u64,
    pub minimum: u64,
}

/// An acknowledgment.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub size: u32,
    pub flags: u32,
    pub now: u64,
    pub mss: u32,
    pub reserved: u32,
    pub acked: u64,
    pub advance: u64,
    pub newly_lost: u64,
    pub in_flight_before: u64,
    pub in_flight: u64,
    pub in_flight_at_send: u64,
    pub latest_sent_at: u64,
    pub rtt_sample: u64,
    pub rtt: Rtt,
    pub rate_delivered: u64,
    pub rate_lost: u64,
    pub rate_interval: u64,
    pub rate_prior_delivered: u64,
    pub round: u64,
    pub marked: u64,
    pub receiver_time: u64,
}

/// A congestion signal.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    pub size: u32,
    pub flags: u32,
    pub now: u64,
    pub mss: u32,
    pub signal: u32,
    pub flight_size: u64,
    pub lost: u64,
    pub rtt: Rtt,
    pub consecutive: u32,
    pub reserved: u32,
}

/// A data packet that leaves.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub size: u32,
    pub flags: u32,
    pub now: u64,
    pub mss: u32,
    pub reserved: u32,
    pub payload: u64,
    pub in_flight: u64,
    pub rtt: Rtt,
}

/// A function that is called with an event, and writes an answer.
pub type OnEvent<E, A> =
    Option<unsafe extern "C" fn(instance: *mut c_void, event: *const E, answer: *mut A) -> c_int>;
/// A function that is called with the time.
pub type OnTime =
    Option<unsafe extern "C" fn(instance: *mut c_void, now: u64, control: *mut Control) -> c_int>;
/// A function that records quantities.
pub type OnObserve<A> = Option<unsafe extern "C" fn(instance: *mut c_void, answer: *mut A) -> c_int>;
/// A function that frees an instance.
pub type OnEnd = Option<unsafe extern "C" fn(instance: *mut c_void)>;

/// The table of a controller.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    pub size: u32,
    pub abi: u32,
    pub title: *const c_char,
    pub description: *const c_char,
    pub parameters: *const Parameter,
    pub parameter_count: u32,
    pub reserved: u32,
    pub quantities: *const c_char,
    pub create:
        Option<unsafe extern "C" fn(connection: *const Connection, control: *mut Control) -> *mut c_void>,
    pub destroy: OnEnd,
    pub on_ack: OnEvent<Ack, Control>,
    pub on_congestion: OnEvent<Congestion, Control>,
    pub on_sent: OnEvent<Sent, Control>,
    pub on_spurious: OnTime,
    pub on_timer: OnTime,
}

/// A function that a library exports: it returns the table of a component.
pub type Entry<T> = unsafe extern "C" fn(host_abi: u32) -> *const T;
