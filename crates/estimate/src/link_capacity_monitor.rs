//! EBE's link-capacity monitor: the capacity of the link from the arrivals and the change of the queue.

/// The rule of the monitor (docs/reference/sources/ebe.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum Monitor {
    /// C = y + S (EBE-J, section III-B). Cannot estimate more than y while the queue is empty.
    #[default]
    Plain,
    /// C = (y + S)/(1 − `p_idle`), kept if the server is idle more than 95 % of the time. Not in the papers.
    IdleCorrected,
    /// Plain, but C = max(C, y + S) if the queue was empty at some time of the interval: an empty queue may
    /// not lower the estimate. Not in the papers.
    Hold,
}

/// The monitor, with the bounds of its estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkCapacityMonitor {
    monitor: Monitor,
    minimum: f64,
    maximum: f64,
}

/// Input of the monitor at the end of an estimation interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MonitorInput {
    /// y: arrivals, packets/s.
    pub arrival_rate: f64,
    /// x1 a posteriori of the previous interval, packets.
    pub previous_queue: f64,
    /// x1 a posteriori, packets.
    pub queue: f64,
    /// τ: length, seconds, greater than zero.
    pub length: f64,
    /// `p_idle` of the predictor, in [0, 1].
    pub idle: f64,
    /// Whether the queue was empty at some time of the interval.
    pub emptied: bool,
    /// C of the previous interval, packets/s.
    pub previous_capacity: f64,
}

impl LinkCapacityMonitor {
    /// Creates a monitor whose estimates stay in [`minimum`, `maximum`], packets/s, 0 < minimum ≤ maximum.
    pub const fn new(monitor: Monitor, minimum: f64, maximum: f64) -> Self {
        Self { monitor, minimum, maximum }
    }

    /// Returns C, packets/s.
    ///
    /// S = −(x1 − previous x1)/τ: the queue drains if there is spare bandwidth. EBE-C (section III-B) sets S
    /// to Δq, without division by time and with the opposite sign; corrected here.
    pub fn capacity(&self, interval: &MonitorInput) -> f64 {
        let spare = (interval.previous_queue - interval.queue) / interval.length;
        let carried = interval.arrival_rate + spare;
        let previous = interval.previous_capacity;
        let capacity = match self.monitor {
            Monitor::IdleCorrected => {
                let busy = 1.0 - interval.idle;
                if busy < 0.05 { previous } else { carried / busy }
            }
            Monitor::Hold if interval.emptied => carried.max(previous),
            Monitor::Plain | Monitor::Hold => carried,
        };
        capacity.max(self.minimum).min(self.maximum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAINING: MonitorInput = MonitorInput {
        arrival_rate: 100.0,
        previous_queue: 30.0,
        queue: 10.0,
        length: 0.2,
        idle: 0.5,
        emptied: true,
        previous_capacity: 300.0,
    };

    fn capacity(monitor: Monitor, interval: MonitorInput) -> f64 {
        LinkCapacityMonitor::new(monitor, 5.0, 1e9).capacity(&interval)
    }

    #[test]
    fn a_draining_queue_raises_the_measurement_above_the_arrival_rate() {
        assert!((capacity(Monitor::Plain, DRAINING) - 200.0).abs() < 1e-9);
        assert!((capacity(Monitor::IdleCorrected, DRAINING) - 400.0).abs() < 1e-9);
    }

    #[test]
    fn hold_prevents_a_decrease_only_when_the_queue_was_empty() {
        assert!((capacity(Monitor::Hold, DRAINING) - 300.0).abs() < 1e-9);
        assert!((capacity(Monitor::Hold, MonitorInput { emptied: false, ..DRAINING }) - 200.0).abs() < 1e-9);
        let low = MonitorInput { previous_capacity: 150.0, ..DRAINING };
        assert!((capacity(Monitor::Hold, low) - 200.0).abs() < 1e-9);
    }

    #[test]
    fn an_idle_server_yields_no_measurement() {
        assert!(
            (capacity(Monitor::IdleCorrected, MonitorInput { idle: 0.96, ..DRAINING }) - 300.0).abs() < 1e-9
        );
    }

    #[test]
    fn a_growing_queue_cannot_push_the_estimate_below_its_bound() {
        assert!((capacity(Monitor::Plain, MonitorInput { queue: 1e6, ..DRAINING }) - 5.0).abs() < 1e-9);
    }

    /// The correction applies up to 95 % idle time.
    #[test]
    fn a_rarely_busy_server_still_yields_its_rate_while_busy() {
        let hardly = MonitorInput { idle: 0.94, ..DRAINING };
        assert!((capacity(Monitor::IdleCorrected, hardly) - 200.0 / 0.06).abs() < 1e-6);
    }
}
