//! Acknowledgment processing.

use airpath_model::{
    AckEvent, Bytes, CongestionSignal, Controller, Duration, Measurement, Phase, Probe, Timestamp,
};

use super::{Sender, State};
use crate::acknowledgment::Acknowledgment;
use crate::config::{EcnMode, Recovery};
use crate::ledger::{DUPLICATE_THRESHOLD, Record};
use crate::proportional_rate_reduction::ProportionalRateReduction;

/// The data newly delivered by one acknowledgment.
#[derive(Clone, Copy, Debug, Default)]
struct Deliveries {
    payload: u64,
    /// The advance of the cumulative acknowledgment.
    advance: u64,
    /// Whether there is no advance although data is outstanding.
    duplicate: bool,
    /// The newest delivered transmission: (order, sent at, may be confused with an earlier one).
    newest: Option<(u64, Timestamp, bool)>,
    /// The bytes in flight when it was sent.
    in_flight_at_send: Bytes,
    /// The newest transmission that was certainly delivered; an acknowledgment may belong to an earlier one.
    newest_certain: u64,
}

impl Deliveries {
    /// Adds a segment. `answers_latest` is true if its latest transmission was delivered.
    fn add(&mut self, record: &Record, answers_latest: bool) {
        self.payload += u64::from(record.payload);
        if answers_latest {
            self.newest_certain = self.newest_certain.max(record.order);
        }
        if self.newest.is_none_or(|(order, ..)| record.order > order) {
            self.newest = Some((record.order, record.sent_at, record.retransmitted));
            self.in_flight_at_send = record.state.in_flight();
        }
    }
}

impl<C: Controller + ?Sized> Sender<C> {
    /// Processes an acknowledgment. Call [`Sender::poll_transmit`] afterwards.
    pub fn on_ack(&mut self, now: Timestamp, ack: &Acknowledgment, probe: &mut dyn Probe) {
        if ack.cumulative > self.ledger.next() {
            return; // acknowledges data never sent (RFC 9293, section 3.10.7.4)
        }
        self.receiver_time = ack.timestamp.or(self.receiver_time);
        let in_flight_before = self.in_flight();
        let advance = ack.cumulative.saturating_sub(self.ledger.acknowledged());
        self.right_edge = self.right_edge.max(ack.cumulative.saturating_add(ack.receive_window.get()));
        if advance > 0 {
            self.check_timeout(now, ack, probe);
        }

        let mut deliveries = self.deliver(now, ack);
        deliveries.advance = advance;
        deliveries.duplicate =
            advance == 0 && ack.cumulative == self.ledger.acknowledged() && !self.ledger.is_empty();
        let rtt_sample = self.sample_rtt(now, ack, advance, &deliveries);
        if advance > 0 {
            self.on_advance(now, advance);
        } else if deliveries.duplicate {
            self.on_duplicate(deliveries.payload);
        }
        self.leave_episode(now, advance, probe);
        let lost = if self.by_time.is_some() {
            self.judge_probe(now, ack, advance, rtt_sample, probe);
            self.detect_losses_by_time(now)
        } else {
            self.detect_losses()
        };
        self.rate.on_lost(lost);
        if self.state == State::Open && self.ledger.first_is_lost() {
            self.enter_recovery(now, lost, probe);
        }
        self.duplicate_bytes = self.duplicate_bytes.min(self.ledger.pipe().get());
        let marked = self.newly_marked(ack);
        if ack.ece || marked > 0 {
            self.on_echo(now, probe);
        }
        let delivered = Bytes::new(deliveries.payload);
        self.limit_recovery(delivered, advance);
        self.report(now, ack, in_flight_before, delivered, lost, marked, &deliveries, rtt_sample, probe);
    }

    fn deliver(&mut self, now: Timestamp, ack: &Acknowledgment) -> Deliveries {
        let mut deliveries = Deliveries::default();
        let minimum_rtt = self.timer.rtt().minimum;
        let Self { ledger, rate, config, by_time, .. } = self;
        let mut by_time = by_time.as_deref_mut();
        // RFC 8985, section 6.2, step 2: an acknowledgment that arrives sooner than any round trip, or with
        // an older timestamp, may belong to an earlier transmission. This excludes selectively acknowledged
        // retransmissions, whose echo is that of older data; later transmissions decide them.
        let answers_latest = |record: &Record| {
            let in_time = now.since(record.sent_at) >= minimum_rtt;
            !record.retransmitted || in_time && ack.timestamp_echo.is_none_or(|echo| echo >= record.sent_at)
        };
        let mut note = |record: &Record| {
            let certain = answers_latest(record);
            deliveries.add(record, certain);
            if let Some(by_time) = &mut by_time {
                by_time.on_delivered(now, record, certain);
            }
            rate.on_delivered(now, u64::from(record.payload), record.sent_at, &record.state);
        };
        ledger.acknowledge(ack.cumulative, &mut note);
        if config.recovery.uses_sack() {
            ledger.sack_blocks(ack.sack_ranges(), &mut note);
        }
        ledger.note_delivered(deliveries.newest_certain);
        if let Some(by_time) = by_time {
            by_time.on_ack(ack.repeated, ledger);
        }
        deliveries
    }

    /// Takes an RTT sample. Karn's rule: a retransmitted segment yields a sample only by its timestamp (RFC
    /// 7323, section 4).
    fn sample_rtt(
        &mut self,
        now: Timestamp,
        ack: &Acknowledgment,
        advance: u64,
        deliveries: &Deliveries,
    ) -> Option<Duration> {
        let sample = match (deliveries.newest, ack.timestamp_echo) {
            (Some((_, sent_at, false)), _) => now.since(sent_at),
            (Some((_, _, true)), Some(echo)) if advance > 0 => self.rtt_by_timestamps(now, echo),
            _ => return None,
        };
        self.timer.on_sample(sample);
        Some(sample)
    }

    /// Returns the time since `echo` in whole ticks of the clock for timestamps, at least one (as in Linux).
    fn rtt_by_timestamps(&self, now: Timestamp, echo: Timestamp) -> Duration {
        let tick = self.config.timestamp_resolution.as_nanos().max(1);
        let ticks = |time: Timestamp| time.as_nanos() / tick;
        Duration::from_nanos(ticks(now).saturating_sub(ticks(echo)).max(1) * tick)
    }

    /// Processes a cumulative acknowledgment of new data.
    fn on_advance(&mut self, now: Timestamp, advance: u64) {
        let partial = self.recovery_goes_on_after_new_data();
        if self.ledger.is_empty() {
            self.timer.stop();
        } else if self.uses_sack() || !partial || !self.partial_seen {
            // RFC 6298, rule 5.3; without SACK only the first partial acknowledgment restarts the timer (RFC
            // 6582).
            self.timer.restart(now);
        }
        if partial && !self.uses_sack() {
            // Partial window deflation (RFC 6582, section 3.2, step 3).
            let mss = self.config.mss.get();
            let back = if advance >= mss { mss } else { 0 };
            self.duplicate_bytes = (self.duplicate_bytes + back).saturating_sub(advance);
            self.retransmit_first = true;
        } else {
            self.duplicate_bytes = 0;
        }
        self.partial_seen |= partial;
        self.duplicates = 0;
        self.consecutive_timeouts = 0;
    }

    /// Returns whether the sender stays in recovery after new data was acknowledged: a partial
    /// acknowledgment.
    fn recovery_goes_on_after_new_data(&self) -> bool {
        self.config.recovery != Recovery::Reno
            && matches!(self.state, State::Recovery { until } if self.ledger.acknowledged() < until)
    }

    /// Processes a duplicate acknowledgment: with SACK, one that selectively acknowledges new data (RFC 6675,
    /// section 2); without SACK, any, and it implies that one more segment has left the network (RFC 5681,
    /// section 3.2).
    fn on_duplicate(&mut self, delivered: u64) {
        if matches!(self.state, State::Loss { .. }) || self.uses_sack() && delivered == 0 {
            return;
        }
        self.duplicates += 1;
        // Limited transmit (RFC 3042): two segments, unless recovery begins.
        let counts = self.duplicates < DUPLICATE_THRESHOLD as u32 || self.in_recovery() || self.may_recover();
        if !self.uses_sack() && counts {
            self.duplicate_bytes += self.config.mss.get();
        }
    }

    /// Returns whether, without SACK, three duplicates indicate a loss (RFC 6582, section 3.2, step 1).
    fn may_recover(&self) -> bool {
        self.uses_sack() || self.recover.is_none_or(|recover| self.ledger.acknowledged() > recover)
    }

    /// Ends the episode if everything that was outstanding at its start is acknowledged; Reno's recovery ends
    /// with any advance (`advance` bytes).
    fn leave_episode(&mut self, now: Timestamp, advance: u64, probe: &mut dyn Probe) {
        let (State::Recovery { until } | State::Loss { until }) = self.state else { return };
        let reno = self.config.recovery == Recovery::Reno && self.in_recovery() && advance > 0;
        if self.ledger.acknowledged() < until && !reno {
            return;
        }
        if self.in_recovery() {
            probe.record(now, Measurement::RecoveryLeft);
        }
        self.state = State::Open;
        self.reduction = None;
        self.retransmit_first = false;
        self.duplicates = 0;
        self.duplicate_bytes = 0;
        if let Some(by_time) = &mut self.by_time {
            by_time.on_repaired();
        }
    }

    fn detect_losses(&mut self) -> Bytes {
        let mut lost = Bytes::ZERO;
        if self.uses_sack() {
            if self.config.lost_retransmission_detection {
                lost += self.ledger.mark_lost_retransmissions();
            }
            lost += self.ledger.mark_lost_by_sack(self.config.mss);
        }
        let first = match self.state {
            State::Open => self.duplicates as usize >= DUPLICATE_THRESHOLD && self.may_recover(),
            // A partial acknowledgment: the next hole is lost as well.
            State::Recovery { .. } => !self.uses_sack() && self.partial_seen && self.duplicates == 0,
            State::Loss { .. } => false,
        };
        if first {
            lost += self.ledger.mark_first_lost();
        }
        lost
    }

    pub(super) fn enter_recovery(&mut self, now: Timestamp, lost: Bytes, probe: &mut dyn Probe) {
        self.counters.recoveries += 1;
        let flight_size = self.flight_size();
        let outstanding = self.ledger.outstanding();
        self.state = State::Recovery { until: self.ledger.next() };
        self.recover = Some(self.ledger.next());
        self.partial_seen = false;
        self.rescued = false;
        if let Some(by_time) = &mut self.by_time {
            by_time.on_recovery();
        }
        self.retransmit_first = self.ledger.next_lost().is_some();
        // The following retransmission gets a full timeout, as in ns-2 and Linux. RFC 6298 restarts the timer
        // only at new acknowledgments: if the timeout is hardly longer than the round trip, every recovery
        // would end in one.
        self.timer.restart(now);
        let reduces =
            self.config.recovery == Recovery::Prr && !self.controller.requirements().window_in_recovery;
        self.reduction = reduces.then(|| ProportionalRateReduction::new(outstanding));
        // One reduction per window of data, whether it was marked or dropped (RFC 3168, section 6.1.2).
        if self.reduced_until.is_none_or(|point| self.ledger.acknowledged() >= point) {
            self.signal(now, CongestionSignal::Loss, flight_size, lost, probe);
        }
    }

    /// Returns the number of segments marked since the last acknowledgment; zero if an older one arrives
    /// after a newer.
    fn newly_marked(&mut self, ack: &Acknowledgment) -> u16 {
        let newly = ack.marked.wrapping_sub(self.marked);
        if newly > u16::MAX / 2 {
            return 0;
        }
        self.marked = ack.marked;
        newly
    }

    /// Processes an ECN echo. RFC 3168, section 6.1.2: one reduction per window of data.
    fn on_echo(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        let answered = self.reduced_until.is_some_and(|point| self.ledger.acknowledged() <= point);
        if self.config.ecn == EcnMode::Off || self.state != State::Open || answered {
            return;
        }
        self.counters.ecn_reductions += 1;
        let flight_size = self.flight_size();
        self.signal(now, CongestionSignal::EcnCe, flight_size, Bytes::ZERO, probe);
    }

    fn limit_recovery(&mut self, delivered: Bytes, advance: u64) {
        let in_flight = self.in_flight();
        let Some(reduction) = &mut self.reduction else { return };
        // RFC 6937 counts deliveries, not acknowledgments: a duplicate that delivers nothing allows nothing.
        if !delivered.is_zero() || advance > 0 {
            reduction.on_ack(delivered, in_flight, self.controller.control().window, self.config.mss);
        }
    }

    /// Applies Eifel detection (RFC 3522): the timeout was spurious if the first acknowledgment of new data
    /// after it belongs to the original. Its echo yields an RTT sample, which ends the back-off.
    fn check_timeout(&mut self, now: Timestamp, ack: &Acknowledgment, probe: &mut dyn Probe) {
        let Some(timeout) = self.doubtful_timeout.take() else { return };
        if ack.timestamp_echo.is_none_or(|echo| echo >= timeout.at) {
            return;
        }
        self.state = timeout.interrupted;
        self.recover = None;
        self.reduced_until = None;
        self.ledger.unmark_all_lost();
        self.counters.spurious_timeouts += 1;
        probe.record(now, Measurement::SpuriousTimeout);
        self.controller.on_spurious(now, probe);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the one place where everything known of an ACK comes together"
    )]
    fn report(
        &mut self,
        now: Timestamp,
        ack: &Acknowledgment,
        in_flight_before: Bytes,
        delivered: Bytes,
        lost: Bytes,
        marked: u16,
        deliveries: &Deliveries,
        rtt_sample: Option<Duration>,
        probe: &mut dyn Probe,
    ) {
        if self.rate.prior_delivered().is_some_and(|prior| prior >= self.round_ends_at) {
            self.round += 1;
            self.round_ends_at = self.rate.delivered();
            self.largest_flight = in_flight_before;
        }
        let mut event = AckEvent::at(now);
        event.window_limited = self.window_limited();
        event.acked = delivered;
        event.advance = Bytes::new(deliveries.advance);
        event.duplicate = deliveries.duplicate;
        let late = self.by_time.as_mut().map_or(Bytes::ZERO, |by_time| by_time.rack.take_untold());
        event.newly_lost = lost + late;
        event.in_flight_before = in_flight_before;
        event.in_flight = self.in_flight();
        event.mss = self.config.mss;
        event.latest_sent_at = deliveries.newest.map(|(_, sent_at, _)| sent_at);
        event.in_flight_at_send = deliveries.in_flight_at_send;
        event.rtt_sample = rtt_sample;
        event.rtt = self.timer.rtt();
        event.rate = self.rate.take_sample(self.timer.rtt().minimum);
        event.round = self.round;
        event.in_recovery = self.in_recovery();
        event.congestion_experienced = ack.ece || marked > 0;
        event.marked = self.config.mss * u64::from(marked);
        event.receiver_time = ack.timestamp;
        event.path = ack.path;
        self.controller.on_ack(&event, probe);
    }

    /// Returns whether the window limited the flight that is being acknowledged or, in slow start, whether
    /// more than half of it was used (RFC 7661 allows growth up to twice the used window, as Linux does).
    fn window_limited(&self) -> bool {
        let kept_back = self.limited_until.is_some_and(|point| self.ledger.acknowledged() <= point);
        if kept_back {
            return true;
        }
        let slow_start = matches!(self.controller.phase(), Phase::SlowStart | Phase::ConservativeSlowStart);
        slow_start && self.controller.control().window < self.largest_flight * 2
    }
}
