//! The computations of XCP once per control interval.

use alloc::boxed::Box;

use airpath_model::{Backlog, Bytes, CapacitySource, ControlInterval, Duration, Timestamp, XcpForm};

use super::flows::XcpFlows;
use super::persistent_queue::PersistentQueue;
use super::{NegativeShare, XcpConfig, XcpFeedback};
use crate::interval_meter::IntervalMeter;
use crate::{ConfigError, QueueSample};

/// Length of the first control interval, and d if no flow reports its RTT (ns-2.35 `xcp/xcpq.h`).
const INITIAL_INTERVAL: Duration = Duration::from_millis(50);

/// The computations of XCP's router, without the packets. It is notified of the traffic through the queue,
/// packet by packet or in [samples](QueueSample). Once an interval of d, the mean round-trip time over flows,
/// it returns the feedback to be written on the packets of the next interval.
///
/// F = α S − β Q / d, with S and Q from [`CapacitySource::spare`] (C − y and the persistent queue, if the
/// source estimates the capacity), and with Υ of a source that probes as selected by
/// [`UpsilonOn`](super::UpsilonOn). F and the shuffled traffic h = max(0, γ y − |F|) are distributed,
/// positive feedback by X = RTT/window and negative feedback by size, as long as residues last.
#[derive(Debug)]
pub struct XcpControl {
    config: XcpConfig,
    source: Box<dyn CapacitySource>,
    buffer: Bytes,
    meter: IntervalMeter,
    flows: XcpFlows,
    persistent_queue: PersistentQueue,
    /// End of the current control interval.
    control_due: Timestamp,
    control_interval: Duration,
    /// d of the last finished interval; the next fields are F (byte/s) and y (byte/s).
    mean_rtt: Duration,
    aggregate: f64,
    input_rate: f64,
}

impl XcpControl {
    /// Creates a router without measurements at the start of the run, over a queue of `buffer` bytes. Fails
    /// if a parameter is outside the range stated in [`XcpConfig`].
    pub fn new(
        config: XcpConfig,
        source: Box<dyn CapacitySource>,
        buffer: Bytes,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let control_interval = INITIAL_INTERVAL.clamp(config.min_interval, config.max_interval);
        Ok(Self {
            config,
            source,
            buffer,
            meter: IntervalMeter::new(),
            flows: XcpFlows::default(),
            persistent_queue: PersistentQueue::new(INITIAL_INTERVAL),
            control_due: Timestamp::ZERO + control_interval,
            control_interval,
            mean_rtt: INITIAL_INTERVAL,
            aggregate: 0.0,
            input_rate: 0.0,
        })
    }

    /// Processes the arrival of a packet of `size` at the queue, before it may be dropped. `backlog` is the
    /// queue before the packet.
    pub(crate) fn on_arrival(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        self.source.on_arrival(now, size, backlog);
        self.meter.on_arrival(now, size, backlog);
        self.persistent_queue.on_arrival(now, backlog);
    }

    /// Processes the departure of a packet of `size` from the queue. `backlog` is the queue behind the
    /// packet.
    pub(crate) fn on_departure(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        self.source.on_departure(now, size, backlog);
        self.meter.on_departure(now, size, backlog);
        self.persistent_queue.on_departure(now, size, backlog);
    }

    /// Processes the traffic since the last sample, for a router that does not observe each departure.
    pub fn on_sample(&mut self, now: Timestamp, sample: &QueueSample) {
        sample.tell(now, &mut *self.source);
        self.meter.on_sample(now, sample);
        self.persistent_queue.on_sample(sample);
    }

    /// Returns the flows of the current interval, which must be notified of arriving data packets.
    pub const fn flows(&mut self) -> &mut XcpFlows {
        &mut self.flows
    }

    /// Processes the timer requested by [`XcpControl::next_timer`]. Returns the new feedback if a control
    /// interval ended.
    pub fn on_timer(&mut self, now: Timestamp, backlog: Backlog) -> Option<XcpFeedback> {
        // The source goes first, because the protocol then requests its measurements up to now.
        if self.source.next_timer() <= now {
            self.source.on_timer(now, backlog);
        }
        if self.persistent_queue.due() <= now {
            let capacity = self.source.capacity(now);
            self.persistent_queue.on_timer(now, backlog, self.mean_rtt, capacity);
        }
        (self.control_due <= now).then(|| self.end_interval(now, backlog))
    }

    /// Returns the time at which [`XcpControl::on_timer`] is due.
    pub fn next_timer(&self) -> Timestamp {
        self.control_due.min(self.persistent_queue.due()).min(self.source.next_timer())
    }

    /// Reports `feedback` (F, byte/s), `input_rate_bps` (bit/s), `persistent_queue_bytes`, `mean_rtt_s`,
    /// `control_interval_s` (seconds; the current interval), and the quantities of the source.
    pub fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("feedback", self.aggregate);
        report("input_rate_bps", self.input_rate * 8.0);
        report("persistent_queue_bytes", self.persistent_queue.bytes().as_f64());
        report("mean_rtt_s", self.mean_rtt.as_secs_f64());
        report("control_interval_s", self.control_interval.as_secs_f64());
        self.source.observe(report);
    }

    fn end_interval(&mut self, now: Timestamp, backlog: Backlog) -> XcpFeedback {
        let passed = self.meter.finish(now, backlog);
        let flows = core::mem::take(&mut self.flows);
        self.mean_rtt = flows.mean_rtt().unwrap_or(INITIAL_INTERVAL);
        self.input_rate = passed.input_rate;
        let (upsilon, upsilon_on) = (self.source.probing(), self.config.upsilon_on);
        let spare = self.source.spare(&ControlInterval {
            now,
            length: passed.length,
            input_rate: passed.input_rate,
            probing: upsilon_on.capacity_factor(upsilon),
            mean_rtt: self.mean_rtt,
            queue: self.persistent_queue.bytes().as_f64(),
            shortest_queue: passed.shortest_queue.as_f64(),
            mean_queue: passed.mean_queue,
            last_queue: passed.last_queue.as_f64(),
            buffer: self.buffer.as_f64(),
        });
        let aggregate = upsilon_on.aggregate(
            upsilon,
            self.config.alpha * spare.bandwidth,
            self.config.beta * spare.queue / self.mean_rtt.as_secs_f64(),
        );
        // Without arrivals the flows are unknown, and no feedback is given.
        self.aggregate = if passed.input.is_zero() || !aggregate.is_finite() { 0.0 } else { aggregate };
        let shuffled = self.config.gamma * passed.input_rate;
        let sharing = match self.config.negative_share {
            NegativeShare::All => passed.input,
            NegativeShare::Data => flows.bytes(),
        };
        self.control_interval = self.mean_rtt.clamp(self.config.min_interval, self.config.max_interval);
        self.control_due = now + self.control_interval;
        let feedback = XcpFeedback::new(self.aggregate, shuffled, flows.sum_x(), sharing.as_f64());
        match self.config.form {
            XcpForm::Rate => feedback,
            XcpForm::Window => feedback.without_residues(),
        }
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::XcpHeader;

    use super::*;

    #[derive(Debug)]
    struct Known;

    impl CapacitySource for Known {
        fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
            Some(100_000.0)
        }
    }

    /// Simulates one interval of 50 packets, 1 ms apart. Each packet departs within that time from a queue
    /// that drains.
    fn an_interval(sampled: bool) -> XcpFeedback {
        let mut control = XcpControl::new(XcpConfig::NS2, Box::new(Known), Bytes::new(50_000)).unwrap();
        let (size, longest) = (Bytes::new(1000), Duration::from_secs(1));
        let rtt = Duration::from_millis(40);
        let header = XcpHeader { rtt, inter_packet: rtt / 8, delta_throughput: 0.0 };
        let mut now = Timestamp::ZERO;
        for _ in 0..5 {
            let mut sample = QueueSample::default();
            for _ in 0..10 {
                if sampled {
                    sample.arrived += size;
                    sample.departed += size;
                    sample.departed_packets += 1;
                } else {
                    control.on_arrival(now, size, Backlog::default());
                    control.flows().on_arrival(&header, size, longest);
                    control.on_departure(now, size, Backlog::default());
                }
                now += Duration::from_millis(1);
            }
            if sampled {
                control.flows().on_arrivals(10.0 * 0.005, 10.0 * 0.005 * 0.04, size * 10);
                control.on_sample(now, &sample);
            }
        }
        control.on_timer(now, Backlog::default()).unwrap()
    }

    #[test]
    fn samples_count_like_their_packets() {
        let (packets, samples) = (an_interval(false), an_interval(true));
        assert!(packets.residue_negative > 0.0, "arrivals exceed the capacity: {packets:?}");
        for (packet, sample) in [
            (packets.residue_negative, samples.residue_negative),
            (packets.residue_positive, samples.residue_positive),
            (packets.per_byte, samples.per_byte),
            (packets.per_x, samples.per_x),
        ] {
            assert!((packet - sample).abs() <= 1e-9 * packet.abs(), "{packets:?}, {samples:?}");
        }
    }
}
