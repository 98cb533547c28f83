//! The door to estimators of a link's capacity, as routers use them.

use core::fmt::Debug;

use crate::{Backlog, Bytes, Duration, Rate, Timestamp};

/// What a router believes its outgoing link can carry.
///
/// A source is told of everything that passes the queue and keeps its own timers; a router protocol asks it. Calls
/// come in time order. Rates are byte per second, as the protocols' equations have them.
pub trait CapacitySource: Debug + Send {
    /// A packet of `size` reaches the queue, before it may be dropped; `backlog` is what waits before it.
    fn on_arrival(&mut self, _now: Timestamp, _size: Bytes, _backlog: Backlog) {}

    /// A packet of `size` leaves the queue for the link; `backlog` is what waits behind it.
    fn on_departure(&mut self, _now: Timestamp, _size: Bytes, _backlog: Backlog) {}

    /// The time asked for by [`CapacitySource::next_timer`] has come; `backlog` is what waits then.
    fn on_timer(&mut self, _now: Timestamp, _backlog: Backlog) {}

    /// When [`CapacitySource::on_timer`] is wanted; [`Timestamp::NEVER`] when not.
    fn next_timer(&self) -> Timestamp {
        Timestamp::NEVER
    }

    /// The estimate of the capacity in byte/s, finite and not negative; `None` for a source that never knows one
    /// (it answers [`CapacitySource::spare`] only).
    fn capacity(&mut self, now: Timestamp) -> Option<f64>;

    /// How far above its estimate the protocol shall probe: Υ of EBE's maintainer while it is on, else 1.
    fn probing(&self) -> f64 {
        1.0
    }

    /// What a protocol's control interval that just ended leaves to be given out. By default Υ C − y, with the Υ of the
    /// interval.
    fn spare(&mut self, interval: &ControlInterval) -> Spare {
        let capacity = self.capacity(interval.now).unwrap_or(interval.input_rate);
        Spare { bandwidth: interval.probing * capacity - interval.input_rate, queue: interval.queue }
    }

    /// Reports quantities by name for the time series (`capacity_estimate`, `x1`, …), in the units that the source's
    /// page states.
    fn observe(&self, _report: &mut dyn FnMut(&'static str, f64)) {}
}

/// What a router protocol measured over one control interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlInterval {
    /// When it ended.
    pub now: Timestamp,
    /// How long it was.
    pub length: Duration,
    /// Arrivals over the interval, byte/s.
    pub input_rate: f64,
    /// What the capacity is multiplied by: [`CapacitySource::probing`], or 1 where the protocol multiplies something else.
    pub probing: f64,
    /// The mean round-trip time of the flows.
    pub mean_rtt: Duration,
    /// The queue that the protocol wants drained (XCP: the persistent queue), bytes.
    pub queue: f64,
    /// The shortest queue seen during the interval, bytes.
    pub shortest_queue: f64,
    /// The mean queue over time during the interval, bytes.
    pub mean_queue: f64,
    /// The queue when the interval ended, bytes.
    pub last_queue: f64,
    /// Size of the buffer, bytes.
    pub buffer: f64,
}

/// What may be given out, and what must be taken back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spare {
    /// Spare bandwidth, byte/s; negative when more arrives than the link carries.
    pub bandwidth: f64,
    /// The queue to be drained, bytes.
    pub queue: f64,
}

/// The truth about a link, for the `oracle` source: the bound that no estimator can beat.
pub trait TrueRate: Debug + Send {
    /// The rate of the link at `now`; questions come in time order.
    fn rate(&mut self, now: Timestamp) -> Rate;
}
