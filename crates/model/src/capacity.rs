//! The interface of estimators of a link's capacity, used by routers.

use core::fmt::Debug;

use crate::{Backlog, Bytes, Duration, Rate, Timestamp};

/// A router's estimator of the capacity of its outgoing link.
///
/// The queue reports every packet that passes it, and the source keeps its own timers; a router protocol
/// reads the estimate. Calls come in time order. Rates are in bytes per second, as in the equations of the
/// protocols.
pub trait CapacitySource: Debug + Send {
    /// Reports that a packet of `size` reaches the queue, before it may be dropped. `backlog` excludes the
    /// packet.
    fn on_arrival(&mut self, _now: Timestamp, _size: Bytes, _backlog: Backlog) {}

    /// Reports that a packet of `size` leaves the queue for the link. `backlog` excludes the packet.
    fn on_departure(&mut self, _now: Timestamp, _size: Bytes, _backlog: Backlog) {}

    /// Reports that the time returned by [`CapacitySource::next_timer`] has come. `backlog` is the current
    /// backlog.
    fn on_timer(&mut self, _now: Timestamp, _backlog: Backlog) {}

    /// Returns the time of the next call of [`CapacitySource::on_timer`]; [`Timestamp::NEVER`] for none.
    fn next_timer(&self) -> Timestamp {
        Timestamp::NEVER
    }

    /// Returns the estimated capacity in byte/s, finite and not negative, or `None` for a source without an
    /// estimate of the capacity, which implements [`CapacitySource::spare`] only.
    fn capacity(&mut self, now: Timestamp) -> Option<f64>;

    /// Returns the factor by which the protocol probes above the estimate: Υ of EBE's maintainer while it is
    /// active, else 1.
    fn probing(&self) -> f64 {
        1.0
    }

    /// Returns the spare bandwidth to distribute after a protocol's control interval. The default is Υ C − y,
    /// with the Υ of the interval.
    fn spare(&mut self, interval: &ControlInterval) -> Spare {
        let capacity = self.capacity(interval.now).unwrap_or(interval.input_rate);
        Spare { bandwidth: interval.probing * capacity - interval.input_rate, queue: interval.queue }
    }

    /// Reports quantities by name for the time series (`capacity_estimate`, `x1`, …), in the units stated on
    /// the page of the source.
    fn observe(&self, _report: &mut dyn FnMut(&'static str, f64)) {}
}

/// Measurements of a router protocol over one control interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlInterval {
    /// The end of the interval.
    pub now: Timestamp,
    /// The length of the interval.
    pub length: Duration,
    /// The arrival rate over the interval, byte/s.
    pub input_rate: f64,
    /// The factor of the capacity: [`CapacitySource::probing`], or 1 if the protocol multiplies another
    /// quantity instead.
    pub probing: f64,
    /// The mean round-trip time of the flows.
    pub mean_rtt: Duration,
    /// The queue that the protocol drains (XCP: the persistent queue), bytes.
    pub queue: f64,
    /// The shortest queue during the interval, bytes.
    pub shortest_queue: f64,
    /// The time average of the queue over the interval, bytes.
    pub mean_queue: f64,
    /// The queue at the end of the interval, bytes.
    pub last_queue: f64,
    /// The size of the buffer, bytes.
    pub buffer: f64,
}

/// The bandwidth that a protocol may distribute, and the queue that it must drain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spare {
    /// The spare bandwidth, byte/s; negative if the arrival rate exceeds the capacity.
    pub bandwidth: f64,
    /// The queue to drain, bytes.
    pub queue: f64,
}

/// The true rate of a link, for the `oracle` source: the bound that no estimator can exceed.
pub trait TrueRate: Debug + Send {
    /// Returns the rate of the link at `now`. Calls come in time order.
    fn rate(&mut self, now: Timestamp) -> Rate;
}
