//! The sending endpoint of a connection.

mod ack;
mod by_time;
mod follower;
mod send_limit;
mod transmit;

pub use follower::{Follower, ObservedAck, ObservedSegment};
pub use send_limit::SendLimit;

use alloc::boxed::Box;

use airpath_model::{
    Bytes, CongestionEvent, CongestionSignal, Control, Controller, Measurement, Phase, Probe, Rate,
    RttEstimate, Steered, Timestamp,
};

use crate::config::{ConfigError, EcnMode, LossDetection, SenderConfig};
use crate::delivery_rate::DeliveryRate;
use crate::ledger::Ledger;
use crate::pacer::Pacer;
use crate::proportional_rate_reduction::ProportionalRateReduction;
use crate::retransmission_timer::RetransmissionTimer;
use by_time::ByTime;

/// A sender: transmits a stream of payload as its controller, the pacer and the receiver allow, and repairs
/// losses.
///
/// Loss detection and transmission follow RFC 6675 with limited transmit (RFC 3042), or RFC 6582 without
/// SACK; proportional rate reduction (RFC 6937) if configured; timer RFC 6298; ECN RFC 3168. If an
/// acknowledgment reveals a loss, the controller receives the congestion event before the acknowledgment.
///
/// Departures:
/// - No handshake and no Nagle delay: a short last segment is sent at once.
/// - `NextSeg` of RFC 6675 omits rule 3, and rule 4 if the last segment was already retransmitted.
/// - Lost retransmissions, which RFC 6675 leaves to the timer, are detected by the order of transmission if
///   configured. This follows the idea of RFC 8985, which is implemented completely if configured.
/// - A window below one segment allows one segment if nothing is in flight.
#[derive(Debug)]
pub struct Sender<C: Controller + ?Sized = dyn Controller> {
    config: SenderConfig,
    controller: Box<C>,
    ledger: Ledger,
    timer: RetransmissionTimer,
    rate: DeliveryRate,
    pacer: Pacer,
    /// The end of the data offered by the application; `u64::MAX` if unlimited.
    offered: u64,
    finished: bool,
    /// The newest timestamp from the receiver.
    receiver_time: Option<Timestamp>,
    /// The right edge of the receive window.
    right_edge: u64,
    state: State,
    /// The number of consecutive duplicate acknowledgments.
    duplicates: u32,
    /// Without SACK: the bytes that have left the network according to duplicate acknowledgments.
    duplicate_bytes: u64,
    reduction: Option<ProportionalRateReduction>,
    /// Whether the next retransmission ignores the window: the first of a recovery, and without SACK the one
    /// after a partial acknowledgment.
    retransmit_first: bool,
    /// Whether this recovery has sent its rescue retransmission.
    rescued: bool,
    /// Without SACK: whether this recovery has seen a partial acknowledgment (RFC 6582, section 3.2, "impatient").
    partial_seen: bool,
    /// Without SACK: `recover` of RFC 6582 plus one byte. Duplicate acknowledgments up to this offset are
    /// caused by unnecessary retransmissions.
    recover: Option<u64>,
    /// The state of loss detection by time, if configured.
    by_time: Option<Box<ByTime>>,
    doubtful_timeout: Option<DoubtfulTimeout>,
    consecutive_timeouts: u32,
    /// The highest offset sent at the last reduction. Echoes up to this offset request the same reduction;
    /// the segment that carries CWR begins here.
    reduced_until: Option<u64>,
    send_cwr: bool,
    /// The latest count of marked segments received from the receiver.
    marked: u16,
    round: u64,
    /// The round ends when a packet sent after this many delivered bytes is acknowledged.
    round_ends_at: u64,
    largest_flight: Bytes,
    /// The highest offset sent when the window last limited the sender.
    limited_until: Option<u64>,
    /// The release time of the packet that the pacer delays; `NEVER` if there is none.
    held_until: Timestamp,
    counters: Counters,
}

/// The state of loss recovery; `until` is the end of the current episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// Fast recovery.
    Recovery {
        until: u64,
    },
    /// After a timeout.
    Loss {
        until: u64,
    },
}

/// A timeout that timestamps may still prove spurious.
#[derive(Clone, Copy, Debug)]
struct DoubtfulTimeout {
    /// The earliest time of its retransmission.
    at: Timestamp,
    /// The state that it interrupted.
    interrupted: State,
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent, retransmissions included.
    pub sent_packets: u64,
    /// Retransmissions.
    pub retransmitted_packets: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Fast recoveries entered.
    pub recoveries: u64,
    /// Window reductions caused by ECN echoes.
    pub ecn_reductions: u64,
    /// Timeouts that were undone.
    pub spurious_timeouts: u64,
}

impl Sender {
    /// Creates the sending endpoint of a new connection with nothing to send.
    ///
    /// # Errors
    /// Returns an error if the configuration is invalid or does not meet the controller's requirements.
    pub fn new(config: SenderConfig, controller: Box<dyn Controller>) -> Result<Self, ConfigError> {
        Self::with(config, controller)
    }
}

impl<C: Controller + ?Sized> Sender<C> {
    fn with(config: SenderConfig, controller: Box<C>) -> Result<Self, ConfigError> {
        config.check(&controller.requirements())?;
        Ok(Self {
            controller,
            ledger: Ledger::default(),
            timer: RetransmissionTimer::new(&config),
            rate: DeliveryRate::default(),
            pacer: Pacer::new(config.pacing),
            offered: 0,
            finished: false,
            receiver_time: None,
            right_edge: config.receive_window.get(),
            state: State::Open,
            duplicates: 0,
            duplicate_bytes: 0,
            reduction: None,
            retransmit_first: false,
            rescued: false,
            partial_seen: false,
            recover: None,
            by_time: (config.loss_detection == LossDetection::Rack).then(Box::default),
            doubtful_timeout: None,
            consecutive_timeouts: 0,
            reduced_until: None,
            send_cwr: false,
            marked: 0,
            round: 0,
            round_ends_at: 0,
            largest_flight: Bytes::ZERO,
            limited_until: None,
            held_until: Timestamp::NEVER,
            counters: Counters::default(),
            config,
        })
    }

    /// Adds `payload` to the data offered by the application; [`Bytes::MAX`] for an unlimited flow.
    pub fn offer(&mut self, payload: Bytes) {
        self.offered = self.offered.saturating_add(payload.get());
    }

    /// Ends the stream: the application will offer no more data.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Stops sending new data; losses are still repaired.
    pub fn stop(&mut self) {
        self.offered = self.offered.min(self.ledger.next());
        self.finished = true;
    }

    /// Returns whether the application has finished and all data is cumulatively acknowledged.
    pub fn is_complete(&self) -> bool {
        self.finished && self.ledger.acknowledged() == self.offered
    }

    /// Returns when to call [`Sender::on_timer`] next: the earliest of the retransmission, pacing and
    /// controller timers.
    pub fn next_timer(&self) -> Timestamp {
        let timers = self.timer.deadline().min(self.held_until).min(self.controller.next_timer());
        match &self.by_time {
            Some(by_time) => timers.min(by_time.due()),
            None => timers,
        }
    }

    /// Processes expired timers. Call [`Sender::poll_transmit`] afterwards.
    pub fn on_timer(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        self.on_probe_due(now);
        if self.timer.deadline() <= now {
            self.on_timeout(now, probe);
        }
        self.on_late(now, probe);
        if self.controller.next_timer() <= now {
            self.controller.on_timer(now, probe);
        }
    }

    /// Returns the payload estimated to be in flight: RFC 6675's pipe, or without SACK the flight minus the
    /// bytes that have left the network according to duplicate acknowledgments.
    pub fn in_flight(&self) -> Bytes {
        self.ledger.pipe() - Bytes::new(self.duplicate_bytes)
    }

    /// Returns the controller's window and pacing.
    pub fn control(&self) -> Control {
        self.controller.control()
    }

    /// Returns the controller if it is steered from outside. Call [`Sender::poll_transmit`] after steering
    /// it.
    pub fn steered(&mut self) -> Option<&mut dyn Steered> {
        self.controller.steered()
    }

    /// Returns the controller's slow-start threshold.
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.controller.ssthresh()
    }

    /// Returns the controller's phase.
    pub fn phase(&self) -> Phase {
        self.controller.phase()
    }

    /// Returns the round-trip time estimates.
    pub fn rtt(&self) -> RttEstimate {
        self.timer.rtt()
    }

    /// Returns the current retransmission timeout, back-off included.
    pub fn retransmission_timeout(&self) -> airpath_model::Duration {
        self.timer.timeout()
    }

    /// Returns the current pacing rate if packets are paced.
    pub fn pacing_rate(&self) -> Option<Rate> {
        let phase = || self.controller.phase();
        self.pacer.rate(&self.controller.control(), phase, self.timer.rtt().smoothed)
    }

    /// Returns whether the sender is in fast recovery.
    pub fn in_recovery(&self) -> bool {
        matches!(self.state, State::Recovery { .. })
    }

    /// Returns the payload known to have reached the receiver.
    pub fn delivered(&self) -> Bytes {
        Bytes::new(self.rate.delivered())
    }

    /// Returns the counters.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    fn uses_sack(&self) -> bool {
        self.config.recovery.uses_sack()
    }

    /// Processes a timeout by RFC 6298, rules 5.4 to 5.6: all outstanding data is lost.
    fn on_timeout(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        if self.ledger.is_empty() {
            self.timer.stop();
            return;
        }
        let flight_size = self.flight_size();
        let lost = self.ledger.mark_all_lost();
        if let Some(by_time) = &mut self.by_time {
            by_time.on_timeout();
        }
        self.rate.on_lost(lost);
        self.consecutive_timeouts += 1;
        self.counters.timeouts += 1;
        // Without SACK, the timer of a long recovery may fire while its retransmissions are still
        // acknowledged one per round trip (RFC 6582, section 3.2, "impatient"): the echoes are old, but the
        // holes are real.
        let may_be_false = self.state == State::Open || self.uses_sack();
        if self.consecutive_timeouts == 1 && self.config.spurious_timeout_undo && may_be_false {
            self.doubtful_timeout = Some(DoubtfulTimeout { at: now, interrupted: self.state });
        }
        self.state = State::Loss { until: self.ledger.next() };
        self.recover = Some(self.ledger.next());
        self.duplicates = 0;
        self.duplicate_bytes = 0;
        self.reduction = None;
        self.retransmit_first = false;
        self.signal(now, CongestionSignal::Timeout, flight_size, lost, probe);
        if self.consecutive_timeouts > 1 || !self.controller.dismissed_signal() {
            self.timer.back_off();
        }
        self.timer.restart(now);
    }

    /// Returns `FlightSize` of RFC 5681. Data sent beyond the window by limited transmit does not count (RFC
    /// 5681, section 3.2, step 2).
    fn flight_size(&self) -> Bytes {
        self.ledger.outstanding().min(self.controller.control().window)
    }

    /// Reports congestion to the controller, and schedules CWR for the receiver (RFC 3168, section 6.1.2:
    /// after any reduction) unless the controller dismissed the signal as a channel error.
    fn signal(
        &mut self,
        now: Timestamp,
        signal: CongestionSignal,
        flight_size: Bytes,
        lost: Bytes,
        probe: &mut dyn Probe,
    ) {
        let mut event = CongestionEvent::at(now, signal);
        event.flight_size = flight_size;
        event.lost = lost;
        event.mss = self.config.mss;
        event.rtt = self.timer.rtt();
        event.consecutive = if signal == CongestionSignal::Timeout { self.consecutive_timeouts } else { 0 };
        probe.record(now, Measurement::Congestion(signal));
        self.controller.on_congestion(&event, probe);
        if !self.controller.dismissed_signal() {
            self.reduced_until = Some(self.ledger.next());
            self.send_cwr = self.config.ecn == EcnMode::Classic;
        }
    }
}

#[cfg(test)]
mod tests;
