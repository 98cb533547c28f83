//! Sources that send over transport connections: long-lived flows and files.

use std::mem::offset_of;

use airpath_model::config::ConfigError;
use airpath_model::{Bytes, Duration, RandomStream, RttEstimate, Steered, Timestamp};
use airpath_network::{
    Body, Contents, Context, FlowState, FlowSummary, Packet, PacketPool, Recorder, prefetch,
};
use airpath_plan::workload::Files;
use airpath_plan::{Fault, PlannedController};
use airpath_transport::{Acknowledgment, Receiver, ReceiverConfig, Segment, SendLimit, Sender, SenderConfig};

use super::End;
use crate::observers::{Observed, PlannedEstimator};

/// The two endpoints of a flow's connections. One connection exists at a time.
#[derive(Debug)]
pub(crate) struct ConnectionSource {
    files: Files,
    sender_config: SenderConfig,
    receiver_config: ReceiverConfig,
    controller: PlannedController,
    observers: Vec<PlannedEstimator>,
    /// The stream from which the controllers' streams are derived.
    random: RandomStream,
    initial_window: Bytes,
    header: u32,
    ack_size: u32,
    sender: Sender,
    receiver: Receiver,
    connection: u32,
    /// The start of the current file, or of the connection of writes; `None` between files.
    began: Option<Timestamp>,
    size: Bytes,
    /// The time of the next file, or of the next write to the connection.
    next_file: Timestamp,
    stop: Timestamp,
    stopped: bool,
    earlier: Totals,
}

/// Counters of closed connections.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    sent_packets: u64,
    retransmitted_packets: u64,
    timeouts: u64,
    recoveries: u64,
    ecn_reductions: u64,
    spurious_timeouts: u64,
}

/// The configuration of a connection source.
#[derive(Debug)]
pub(crate) struct ConnectionSetup {
    pub(crate) files: Files,
    pub(crate) sender: SenderConfig,
    pub(crate) receiver: ReceiverConfig,
    pub(crate) controller: PlannedController,
    /// Estimators that run alongside the controller, with their numbers in the plan.
    pub(crate) observers: Vec<PlannedEstimator>,
    /// The random stream of the controllers.
    pub(crate) random: RandomStream,
    pub(crate) initial_window: Bytes,
    pub(crate) header: u32,
    pub(crate) ack_size: u32,
    pub(crate) start: Timestamp,
    pub(crate) stop: Timestamp,
}

impl ConnectionSource {
    /// Creates a source whose first connection begins at `setup.start`.
    ///
    /// # Errors
    /// Returns an error if the transport rejects the configuration or the controller's requirements.
    pub(crate) fn new(mut setup: ConnectionSetup) -> Result<Self, Fault> {
        let stream = setup.random.split();
        let sender = open(setup.sender, &setup.controller, &setup.observers, setup.initial_window, stream)?;
        let receiver = Receiver::new(setup.receiver);
        Ok(Self {
            files: setup.files,
            sender_config: setup.sender,
            receiver_config: setup.receiver,
            controller: setup.controller,
            observers: setup.observers,
            random: setup.random,
            initial_window: setup.initial_window,
            header: setup.header,
            ack_size: setup.ack_size,
            sender,
            receiver,
            connection: 0,
            began: None,
            size: Bytes::ZERO,
            next_file: if setup.start < setup.stop { setup.start } else { Timestamp::NEVER },
            stop: setup.stop,
            stopped: false,
            earlier: Totals::default(),
        })
    }

    /// Prefetches the state of an endpoint at which a packet arrives soon.
    pub(crate) fn prefetch(&self, end: End) {
        let (field, bytes) = match end {
            End::Sender => (offset_of!(Self, sender), size_of::<Sender>()),
            End::Receiver => (offset_of!(Self, receiver), size_of::<Receiver>()),
        };
        prefetch::field(&self.connection, offset_of!(Self, connection), field, bytes);
        prefetch::value(&self.connection);
    }

    /// Returns whether the source never opens a second connection.
    pub(crate) const fn opens_one_connection(&self) -> bool {
        matches!(self.files, Files::Endless | Files::One { .. } | Files::Writes { .. })
    }

    /// Starts and stops files that are due, and runs the sender's timers.
    pub(crate) fn wake_sender(&mut self, now: Timestamp, flow: u32, recorder: &mut Recorder) {
        if self.next_file <= now {
            self.begin_file(now);
        }
        if self.stop <= now && !self.stopped {
            self.stopped = true;
            self.next_file = Timestamp::NEVER;
            self.sender.stop();
        }
        if self.sender.next_timer() <= now {
            self.sender.on_timer(now, &mut recorder.probe(flow));
        }
    }

    /// Runs the receiver's timers.
    pub(crate) fn wake_receiver(&mut self, now: Timestamp) {
        if self.receiver.next_timer() <= now {
            self.receiver.on_timer(now);
        }
    }

    /// Returns the next segment that may be sent.
    #[inline]
    pub(crate) fn poll_data(
        &mut self,
        now: Timestamp,
        flow: u32,
        hop: u32,
        context: &mut Context,
    ) -> Option<Packet> {
        let segment = self.sender.poll_transmit(now, &mut context.recorder.probe(flow))?;
        let size = segment.payload + self.header;
        Some(context.pool.packet(Contents {
            flow,
            connection: self.connection,
            hop,
            size,
            enqueued_at: now,
            queueing: Duration::ZERO,
            body: Body::Segment { segment, sent_at: now },
        }))
    }

    /// Returns the next acknowledgment that may be sent.
    #[inline]
    pub(crate) fn poll_acknowledgment(
        &mut self,
        now: Timestamp,
        flow: u32,
        hop: u32,
        pool: &mut PacketPool,
    ) -> Option<Packet> {
        let acknowledgment = self.receiver.poll_ack(now)?;
        Some(pool.packet(Contents {
            flow,
            connection: self.connection,
            hop,
            size: self.ack_size,
            enqueued_at: now,
            queueing: Duration::ZERO,
            body: Body::Acknowledgment(acknowledgment),
        }))
    }

    /// Processes an arriving segment of a connection. Returns the payload bytes that it delivers to the
    /// application.
    pub(crate) fn on_segment(&mut self, now: Timestamp, connection: u32, segment: &Segment) -> u64 {
        if connection != self.connection {
            return 0; // a leftover of a closed connection
        }
        let before = self.receiver.delivered();
        self.receiver.on_segment(now, segment);
        (self.receiver.delivered() - before).get()
    }

    /// Processes an arriving acknowledgment.
    pub(crate) fn on_acknowledgment(
        &mut self,
        now: Timestamp,
        connection: u32,
        acknowledgment: &Acknowledgment,
        flow: u32,
        recorder: &mut Recorder,
    ) {
        if connection != self.connection {
            return;
        }
        self.sender.on_ack(now, acknowledgment, &mut recorder.probe(flow));
        if self.sender.is_complete()
            && let Some(began) = self.began.take()
        {
            // A file that was stopped before all of it was sent is not a completed transfer.
            if !self.files.is_endless() && self.receiver.delivered() == self.size {
                recorder.on_completion(flow, self.connection, began, now, self.size);
            }
            if !self.stopped
                && let Some(pause) = self.files.next_pause()
            {
                self.next_file = now + pause;
            }
        }
    }

    /// Returns the sender's next wake-up time.
    pub(crate) fn next_sender_event(&self) -> Timestamp {
        let stop = if self.stopped { Timestamp::NEVER } else { self.stop };
        self.sender.next_timer().min(self.next_file).min(stop)
    }

    /// Returns the receiver's next wake-up time.
    pub(crate) fn next_receiver_event(&self) -> Timestamp {
        self.receiver.next_timer()
    }

    /// Returns the controller if it is externally controlled.
    pub(crate) fn steered(&mut self) -> Option<&mut dyn Steered> {
        self.sender.steered()
    }

    /// Returns whether the source has sent all its data, and all of it has arrived.
    pub(crate) fn is_over(&self) -> bool {
        self.began.is_none() && !self.next_file.is_scheduled()
    }

    /// Returns the round-trip time estimates of the connection.
    pub(crate) fn rtt(&self) -> RttEstimate {
        self.sender.rtt()
    }

    /// Returns the limit of the sender between two events; the limit is the application between two
    /// transfers. `None` before the first transfer and after the last.
    pub(crate) fn limit(&self) -> Option<SendLimit> {
        if self.began.is_some() {
            return Some(self.sender.limit());
        }
        let between_transfers = self.size > Bytes::ZERO && self.next_file.is_scheduled();
        between_transfers.then_some(SendLimit::Application)
    }

    /// Returns the state for the series.
    pub(crate) fn state(&self) -> FlowState {
        let srtt = self.sender.rtt().smoothed;
        FlowState {
            active: self.began.is_some(),
            cwnd: Some(self.sender.control().window),
            ssthresh: self.sender.ssthresh(),
            in_flight: Some(self.sender.in_flight()),
            srtt: (!srtt.is_zero()).then_some(srtt),
            pacing_rate: self.sender.pacing_rate(),
            phase: self.sender.phase(),
        }
    }

    /// Completes the summary.
    pub(crate) fn complete(&self, begun: FlowSummary) -> FlowSummary {
        let totals = self.totals();
        FlowSummary {
            sent_packets: totals.sent_packets,
            retransmitted_packets: totals.retransmitted_packets,
            timeouts: totals.timeouts,
            recoveries: totals.recoveries,
            ecn_reductions: totals.ecn_reductions,
            spurious_timeouts: totals.spurious_timeouts,
            srtt_s: seconds(self.sender.rtt().smoothed),
            min_rtt_s: seconds(self.sender.rtt().minimum),
            ..begun
        }
    }

    /// Opens a connection and offers its data; offers more data to the connection of writes.
    fn begin_file(&mut self, now: Timestamp) {
        if self.connection > 0 || self.sender.is_complete() && self.size > Bytes::ZERO {
            self.earlier = self.totals();
            let stream = self.random.split();
            self.sender =
                open(self.sender_config, &self.controller, &self.observers, self.initial_window, stream)
                    .expect("the same configuration made the first connection of this flow");
            self.receiver = Receiver::new(self.receiver_config);
            self.connection += 1;
        }
        self.size = self.files.next_size();
        self.began.get_or_insert(now);
        self.sender.offer(self.size);
        self.next_file = self.files.next_interval().map_or(Timestamp::NEVER, |interval| now + interval);
        if !self.files.is_endless() {
            self.sender.finish();
        }
    }

    fn totals(&self) -> Totals {
        let now = self.sender.counters();
        let Totals {
            sent_packets,
            retransmitted_packets,
            timeouts,
            recoveries,
            ecn_reductions,
            spurious_timeouts,
        } = self.earlier;
        Totals {
            sent_packets: sent_packets + now.sent_packets,
            retransmitted_packets: retransmitted_packets + now.retransmitted_packets,
            timeouts: timeouts + now.timeouts,
            recoveries: recoveries + now.recoveries,
            ecn_reductions: ecn_reductions + now.ecn_reductions,
            spurious_timeouts: spurious_timeouts + now.spurious_timeouts,
        }
    }
}

/// Creates the sender of a new connection.
fn open(
    config: SenderConfig,
    plan: &PlannedController,
    observers: &[PlannedEstimator],
    initial_window: Bytes,
    random: RandomStream,
) -> Result<Sender, Fault> {
    let of_controller = |error: ConfigError| match error.parameter {
        "initial_window" | "mss" => Fault::in_table("transport", error),
        _ => Fault::in_table("controller", error),
    };
    let mut controller = plan.build(initial_window, config.mss, random).map_err(of_controller)?;
    if !observers.is_empty() {
        let built = observers.iter().map(|(number, plan)| Ok((*number, plan.build(())?)));
        let observers: Result<Vec<_>, _> = built.collect::<Result<_, ConfigError>>();
        let observers = observers.map_err(|error| Fault::in_table("estimators", error))?;
        controller = Box::new(Observed { controller, observers });
    }
    Sender::new(config, controller)
        .map_err(|error| Fault::new(&format!("transport.{}", error.parameter()), error))
}

/// Converts to seconds; NaN for zero, which means "no sample yet".
fn seconds(span: Duration) -> f64 {
    if span.is_zero() { f64::NAN } else { span.as_secs_f64() }
}
