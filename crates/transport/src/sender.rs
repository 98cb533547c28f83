//! The sending end of a connection.

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

/// Sends a stream of payload as its controller, the pacer and the receiver allow, and repairs losses.
///
/// Loss detection and what may be sent: RFC 6675 with limited transmit (RFC 3042), or RFC 6582 without SACK;
/// proportional rate reduction (RFC 6937) where configured; timer RFC 6298; ECN RFC 3168. On one acknowledgment the
/// controller hears of a loss before it hears of the acknowledgment.
///
/// Departures: no handshake and no Nagle delay (a short last segment leaves at once); `NextSeg` of RFC 6675 leaves
/// out rule 3, and rule 4 where the last segment was already sent again; retransmissions that are lost again, which
/// RFC 6675 leaves to the timer, are found by the order of transmission when the configuration says so, in the
/// spirit of RFC 8985, which is there as a whole where configured; a window below one segment allows one segment when nothing is in flight.
#[derive(Debug)]
pub struct Sender<C: Controller + ?Sized = dyn Controller> {
    config: SenderConfig,
    controller: Box<C>,
    ledger: Ledger,
    timer: RetransmissionTimer,
    rate: DeliveryRate,
    pacer: Pacer,
    /// End of the data offered by the application; `u64::MAX` without end.
    offered: u64,
    finished: bool,
    /// The receiver's newest timestamp.
    receiver_time: Option<Timestamp>,
    /// End of what the receiver takes.
    right_edge: u64,
    state: State,
    /// Duplicate acknowledgments in a row.
    duplicates: u32,
    /// Without SACK: the bytes that duplicate acknowledgments say have left the network.
    duplicate_bytes: u64,
    reduction: Option<ProportionalRateReduction>,
    /// The next retransmission leaves whatever the window says: the first of a recovery, and without SACK the one
    /// that answers a partial acknowledgment.
    retransmit_first: bool,
    /// This recovery has made its rescue retransmission.
    rescued: bool,
    /// Without SACK: whether this recovery has seen a partial acknowledgment (RFC 6582, section 3.2, "impatient").
    partial_seen: bool,
    /// Without SACK: `recover` of RFC 6582, one byte further. Duplicate acknowledgments up to here answer
    /// needless retransmissions.
    recover: Option<u64>,
    /// Loss detection by time, where configured.
    by_time: Option<Box<ByTime>>,
    doubtful_timeout: Option<DoubtfulTimeout>,
    consecutive_timeouts: u32,
    /// What had been sent at the last reduction. Echoes up to here ask for the same one: the segment that carries
    /// CWR begins here.
    reduced_until: Option<u64>,
    send_cwr: bool,
    /// The receiver's count of marked segments, as last heard.
    marked: u16,
    round: u64,
    /// The round ends when a packet sent after this many delivered bytes is acknowledged.
    round_ends_at: u64,
    largest_flight: Bytes,
    /// The window kept data back when this much had been sent.
    limited_until: Option<u64>,
    /// When the pacer releases the packet that it holds back; `NEVER` when it holds none.
    held_until: Timestamp,
    counters: Counters,
}

/// Whether losses are being repaired, and up to which offset the present episode reaches.
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

/// A timeout that timestamps may yet prove false.
#[derive(Clone, Copy, Debug)]
struct DoubtfulTimeout {
    /// When its retransmission may have left at the earliest.
    at: Timestamp,
    /// What it interrupted.
    interrupted: State,
}

/// What a sender did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments, retransmissions included.
    pub sent_packets: u64,
    /// Retransmissions.
    pub retransmitted_packets: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Fast recoveries entered.
    pub recoveries: u64,
    /// Reductions because of ECN echoes.
    pub ecn_reductions: u64,
    /// Timeouts that were undone.
    pub spurious_timeouts: u64,
}

impl Sender {
    /// The sending end of a fresh connection with nothing to send.
    ///
    /// # Errors
    /// A configuration that cannot work, or a controller whose needs it does not meet.
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

    /// The application has `payload` more to send; [`Bytes::MAX`] for a flow without end.
    pub fn offer(&mut self, payload: Bytes) {
        self.offered = self.offered.saturating_add(payload.get());
    }

    /// The application will offer nothing more.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Nothing new is sent from now on; what was sent is still repaired.
    pub fn stop(&mut self) {
        self.offered = self.offered.min(self.ledger.next());
        self.finished = true;
    }

    /// Whether the application has finished and everything was cumulatively acknowledged.
    pub fn is_complete(&self) -> bool {
        self.finished && self.ledger.acknowledged() == self.offered
    }

    /// When [`Sender::on_timer`] is wanted: for the retransmission timer, the pacer or the controller.
    pub fn next_timer(&self) -> Timestamp {
        let timers = self.timer.deadline().min(self.held_until).min(self.controller.next_timer());
        match &self.by_time {
            Some(by_time) => timers.min(by_time.due()),
            None => timers,
        }
    }

    /// The time asked for has come. Ask for segments afterwards.
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

    /// Payload believed to be on its way: RFC 6675's pipe, or without SACK the flight less what duplicate
    /// acknowledgments say has left.
    pub fn in_flight(&self) -> Bytes {
        self.ledger.pipe() - Bytes::new(self.duplicate_bytes)
    }

    /// What the controller allows.
    pub fn control(&self) -> Control {
        self.controller.control()
    }

    /// The controller, if it is one that is steered from outside. Ask for segments after steering it.
    pub fn steered(&mut self) -> Option<&mut dyn Steered> {
        self.controller.steered()
    }

    /// The controller's slow-start threshold.
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.controller.ssthresh()
    }

    /// What the controller is doing.
    pub fn phase(&self) -> Phase {
        self.controller.phase()
    }

    /// Round-trip times.
    pub fn rtt(&self) -> RttEstimate {
        self.timer.rtt()
    }

    /// The retransmission timeout in force, back-off included.
    pub fn retransmission_timeout(&self) -> airpath_model::Duration {
        self.timer.timeout()
    }

    /// The pacing rate in force, when packets are paced.
    pub fn pacing_rate(&self) -> Option<Rate> {
        let phase = || self.controller.phase();
        self.pacer.rate(&self.controller.control(), phase, self.timer.rtt().smoothed)
    }

    /// Whether losses are being repaired by fast recovery.
    pub fn in_recovery(&self) -> bool {
        matches!(self.state, State::Recovery { .. })
    }

    /// Payload known to have reached the receiver.
    pub fn delivered(&self) -> Bytes {
        Bytes::new(self.rate.delivered())
    }

    /// What was done so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    fn uses_sack(&self) -> bool {
        self.config.recovery.uses_sack()
    }

    /// RFC 6298, rules 5.4 to 5.6: everything outstanding is lost.
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
        // Without SACK the timer of a long recovery fires while its retransmissions are still being answered one a
        // round trip (RFC 6582, section 3.2, "impatient"): their echoes are old, yet the holes are real.
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

    /// `FlightSize` of RFC 5681. What limited transmit sent beyond the window does not count (RFC 5681, section 3.2,
    /// step 2).
    fn flight_size(&self) -> Bytes {
        self.ledger.outstanding().min(self.controller.control().window)
    }

    /// Tells the controller to reduce the window, and the receiver that it was reduced (RFC 3168, section 6.1.2: for
    /// any reason), unless the controller took it for an error.
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
