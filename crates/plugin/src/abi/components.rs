//! `airpath_components.h` in Rust.

use core::ffi::{c_char, c_void};

use super::{Ack, Congestion, Host, OnEnd, OnEvent, OnObserve, Parameter, Value};

/// The facts of a connection that are known before the first acknowledgment.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub size: u32,
    pub reserved: u32,
    pub values: *const Value,
}

/// The answer of an ACK-rate estimator.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    pub size: u32,
    pub flags: u32,
    pub sample: f64,
    pub bandwidth: f64,
    pub minimum_rtt: u64,
    pub error: *const c_char,
    pub needs: u32,
    pub reserved: u32,
}

/// The table of an ACK-rate estimator.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Estimator {
    pub size: u32,
    pub abi: u32,
    pub title: *const c_char,
    pub description: *const c_char,
    pub parameters: *const Parameter,
    pub parameter_count: u32,
    pub reserved: u32,
    pub create:
        Option<unsafe extern "C" fn(settings: *const Settings, estimate: *mut Estimate) -> *mut c_void>,
    pub copy: Option<unsafe extern "C" fn(instance: *const c_void) -> *mut c_void>,
    pub destroy: OnEnd,
    pub on_ack: OnEvent<Ack, Estimate>,
    pub on_congestion: OnEvent<Congestion, Estimate>,
}

/// The facts of a link that are known before its first packet.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub size: u32,
    pub reserved: u32,
    pub buffer: u64,
    pub limit_bytes: u64,
    pub limit_packets: u64,
    pub seed: u64,
    pub values: *const Value,
    pub host: *const Host,
}

/// An instant at a link, and the backlog of its queue then.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub size: u32,
    pub reserved: u32,
    pub now: u64,
    pub packet: u64,
    pub bytes: u64,
    pub packets: u64,
}

/// The answer of a capacity source.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    pub size: u32,
    pub flags: u32,
    pub capacity: f64,
    pub probing: f64,
    pub next_timer: u64,
    pub error: *const c_char,
    pub spare: f64,
    pub queue: f64,
}

/// What a router measured over a control interval.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub size: u32,
    pub reserved: u32,
    pub now: u64,
    pub length: u64,
    pub input_rate: f64,
    pub probing: f64,
    pub mean_rtt: u64,
    pub queue: f64,
    pub shortest_queue: f64,
    pub mean_queue: f64,
    pub last_queue: f64,
    pub buffer: f64,
}

/// The table of a capacity source.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub size: u32,
    pub abi: u32,
    pub title: *const c_char,
    pub description: *const c_char,
    pub parameters: *const Parameter,
    pub parameter_count: u32,
    pub reserved: u32,
    pub quantities: *const c_char,
    pub create: Option<unsafe extern "C" fn(link: *const Link, capacity: *mut Capacity) -> *mut c_void>,
    pub destroy: OnEnd,
    pub on_arrival: OnEvent<Waiting, Capacity>,
    pub on_departure: OnEvent<Waiting, Capacity>,
    pub on_timer: OnEvent<Waiting, Capacity>,
    pub spare: OnEvent<Interval, Capacity>,
    pub observe: OnObserve<Capacity>,
}

/// A packet that arrives at a queue.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub size: u32,
    pub flags: u32,
    pub now: u64,
    pub id: u64,
    pub bytes: u64,
    pub flow: u64,
    pub waiting_bytes: u64,
    pub waiting_packets: u64,
}

/// The answer of a queue discipline.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    pub size: u32,
    pub reserved: u32,
    pub packet: u64,
    pub next_timer: u64,
    pub error: *const c_char,
}

/// The table of a queue discipline.
#[allow(missing_docs, reason = "the header documents the fields")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    pub size: u32,
    pub abi: u32,
    pub title: *const c_char,
    pub description: *const c_char,
    pub parameters: *const Parameter,
    pub parameter_count: u32,
    pub reserved: u32,
    pub quantities: *const c_char,
    pub create: Option<unsafe extern "C" fn(link: *const Link, decision: *mut Decision) -> *mut c_void>,
    pub destroy: OnEnd,
    pub enqueue: OnEvent<Packet, Decision>,
    pub dequeue: OnEvent<Waiting, Decision>,
    pub on_timer: OnEvent<Waiting, Decision>,
    pub observe: OnObserve<Decision>,
}
