//! Combines the packet events that a QUIC stack reports into the events that controllers expect.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use crate::delivery_rate::{DeliveryRate, SendState};
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Measurement, Phase, Probe, Rate,
    RttEstimate, SendEvent, Timestamp,
};

/// Drives one controller from a QUIC stack's reports (RFC 9002, appendix B).
///
/// A stack that counts packets acknowledged before it looks for losses, as quinn does, would tell a controller of an
/// acknowledgment before the loss that it reveals. So an acknowledgment is kept until the stack asks for the window or
/// reports something of a later instant; the loss is reported to the controller first.
///
/// Sizes are those of QUIC packets, headers included, which is what QUIC's congestion control counts.
#[derive(Debug)]
pub struct QuicDriver<C: Controller + ?Sized = dyn Controller> {
    controller: Box<C>,
    mss: Bytes,
    in_flight: u64,
    /// What left, by the instant, until it is acknowledged or lost.
    sent: VecDeque<Sent>,
    rate: DeliveryRate,
    round: u64,
    /// The round ends when a packet sent after this many delivered bytes is acknowledged.
    round_ends_at: u64,
    rtt: RttEstimate,
    sampled: bool,
    /// What the stack is just reporting as acknowledged.
    batch: Option<Batch>,
    /// An acknowledgment that the controller has not yet received.
    held: Option<AckEvent>,
    /// The loss event under way began then: packets sent up to here belong to it (RFC 9002, section 7.3.2).
    recovery_start: Option<Timestamp>,
    in_recovery: bool,
    /// When the window was last reduced: marks on packets sent up to here ask for the same reduction.
    reduced_at: Option<Timestamp>,
    /// What was lost since the controller last heard of it with an acknowledgment.
    untold_lost: u64,
    counters: QuicCounters,
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuicCounters {
    /// Loss events.
    pub recoveries: u64,
    /// Persistent congestion (RFC 9002, section 7.6).
    pub persistent: u64,
    /// Reductions after marks.
    pub ecn_reductions: u64,
}

/// What left at one instant.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Timestamp,
    state: SendState,
}

/// Packets that one acknowledgment delivers.
#[derive(Clone, Copy, Debug)]
struct Batch {
    now: Timestamp,
    acked: u64,
    newest_sent_at: Timestamp,
    in_flight_at_send: Bytes,
    in_flight_before: u64,
}

impl<C: Controller + ?Sized> QuicDriver<C> {
    /// For packets of up to `mss`.
    pub fn new(controller: Box<C>, mss: Bytes) -> Self {
        Self {
            controller,
            mss,
            in_flight: 0,
            sent: VecDeque::new(),
            rate: DeliveryRate::default(),
            round: 0,
            round_ends_at: 0,
            rtt: RttEstimate::default(),
            sampled: false,
            batch: None,
            held: None,
            recovery_start: None,
            in_recovery: false,
            reduced_at: None,
            untold_lost: 0,
            counters: QuicCounters::default(),
        }
    }

    /// Packets of together `bytes` leave.
    pub fn on_sent(&mut self, now: Timestamp, bytes: u64, probe: &mut dyn Probe) {
        self.settle(probe);
        self.run_timer(now, probe);
        let idle = self.in_flight == 0;
        self.in_flight += bytes;
        let in_flight = Bytes::new(self.in_flight);
        let state = self.rate.on_sent(now, idle, in_flight);
        match self.sent.back_mut() {
            Some(last) if last.at == now => last.state = state,
            _ => self.sent.push_back(Sent { at: now, state }),
        }
        let mut event = SendEvent::at(now, Bytes::new(bytes));
        event.in_flight = in_flight;
        event.app_limited = state.app_limited();
        event.mss = self.mss;
        event.rtt = self.rtt;
        self.controller.on_sent(&event, probe);
    }

    /// A packet of `bytes` sent then is acknowledged.
    pub fn on_acked(&mut self, now: Timestamp, sent_at: Timestamp, bytes: u64, probe: &mut dyn Probe) {
        if self.batch.is_none() {
            self.settle(probe);
            self.run_timer(now, probe);
        }
        let batch = self.batch.get_or_insert(Batch {
            now,
            acked: 0,
            newest_sent_at: Timestamp::ZERO,
            in_flight_at_send: Bytes::ZERO,
            in_flight_before: self.in_flight,
        });
        batch.acked += bytes;
        let state =
            self.sent.binary_search_by_key(&sent_at, |sent| sent.at).ok().map(|place| self.sent[place].state);
        if sent_at >= batch.newest_sent_at {
            batch.newest_sent_at = sent_at;
            batch.in_flight_at_send = state.map_or(Bytes::ZERO, |state| state.in_flight());
        }
        if let Some(state) = state {
            self.rate.on_delivered(now, bytes, sent_at, &state);
        }
        self.in_flight = self.in_flight.saturating_sub(bytes);
    }

    /// That was all of one acknowledgment; `in_flight` is what the stack counts now.
    pub fn on_end_acks(&mut self, in_flight: u64, app_limited: bool, probe: &mut dyn Probe) {
        // An acknowledgment of packets that do not count.
        let Some(batch) = self.batch.take() else { return };
        self.in_flight = in_flight;
        if app_limited {
            self.rate.mark_app_limited(Bytes::new(in_flight));
        }
        let sample = batch.now.since(batch.newest_sent_at);
        // The peer's delay is in it, as in what a TCP sender measures.
        self.rtt.on_sample(sample, !self.sampled);
        self.sampled = true;
        if self.rate.prior_delivered().is_some_and(|prior| prior >= self.round_ends_at) {
            self.round += 1;
            self.round_ends_at = self.rate.delivered();
        }
        self.forget(batch.newest_sent_at);
        if self.in_recovery && self.recovery_start.is_none_or(|start| batch.newest_sent_at > start) {
            self.in_recovery = false;
            probe.record(batch.now, Measurement::RecoveryLeft);
        }
        let mut event = AckEvent::at(batch.now);
        event.acked = Bytes::new(batch.acked);
        event.advance = event.acked;
        event.in_flight_before = Bytes::new(batch.in_flight_before);
        event.in_flight = Bytes::new(in_flight);
        event.mss = self.mss;
        event.latest_sent_at = Some(batch.newest_sent_at);
        event.in_flight_at_send = batch.in_flight_at_send;
        event.rtt_sample = Some(sample);
        event.rtt = self.rtt;
        event.round = self.round;
        event.window_limited = !app_limited;
        event.in_recovery = self.in_recovery;
        self.held = Some(event);
    }

    /// Packets of together `bytes` are lost, the newest of them sent then.
    pub fn on_lost(
        &mut self,
        now: Timestamp,
        sent_at: Timestamp,
        bytes: u64,
        persistent: bool,
        probe: &mut dyn Probe,
    ) {
        self.settle_earlier(now, probe);
        let flight_size = self.flight_size();
        self.rate.on_lost(Bytes::new(bytes));
        self.untold_lost += bytes;
        self.in_flight = self.in_flight.saturating_sub(bytes);
        if self.recovery_start.is_none_or(|start| sent_at > start) {
            self.recovery_start = Some(now);
            self.in_recovery = true;
            self.counters.recoveries += 1;
            // One reduction for a round trip, whether packets were marked or dropped.
            if !persistent && self.reduced_at.is_none_or(|at| sent_at > at) {
                self.signal(now, CongestionSignal::Loss, flight_size, bytes, probe);
            }
        }
        if persistent {
            self.counters.persistent += 1;
            self.signal(now, CongestionSignal::Timeout, flight_size, bytes, probe);
        }
        if let Some(held) = &mut self.held {
            held.in_flight = Bytes::new(self.in_flight);
            held.in_recovery = self.in_recovery;
        }
    }

    /// The peer counts more marks; the newest packet that it acknowledges was sent then.
    pub fn on_marked(&mut self, now: Timestamp, sent_at: Timestamp, probe: &mut dyn Probe) {
        self.settle_earlier(now, probe);
        if self.reduced_at.is_none_or(|at| sent_at > at) {
            self.counters.ecn_reductions += 1;
            self.signal(now, CongestionSignal::EcnCe, self.flight_size(), 0, probe);
        }
        if let Some(held) = &mut self.held {
            held.congestion_experienced = true;
        }
    }

    /// Packets of up to this size are sent from now on.
    pub fn set_mss(&mut self, mss: Bytes) {
        self.mss = mss;
    }

    /// Tells the controller of the acknowledgment that is held; the stack has said all of it.
    pub fn settle(&mut self, probe: &mut dyn Probe) {
        if let Some(mut event) = self.held.take() {
            event.newly_lost = Bytes::new(core::mem::take(&mut self.untold_lost));
            event.rate = self.rate.take_sample(self.rtt.minimum);
            self.controller.on_ack(&event, probe);
        }
    }

    /// Returns the controller.
    pub fn controller_mut(&mut self) -> &mut C {
        &mut self.controller
    }

    /// What the controller allows; [settle](Self::settle) before.
    pub fn control(&self) -> Control {
        self.controller.control()
    }

    /// The slow-start threshold.
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.controller.ssthresh()
    }

    /// What the controller is doing.
    pub fn phase(&self) -> Phase {
        self.controller.phase()
    }

    /// The rate at which the controller wants packets to be paced.
    pub fn pacing_rate(&self) -> Option<Rate> {
        match self.controller.control().pacing {
            airpath_model::Pacing::At(rate) => Some(rate),
            _ => None,
        }
    }

    /// What is in flight, as far as is known here.
    pub const fn in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight)
    }

    /// Round-trip times.
    pub const fn rtt(&self) -> RttEstimate {
        self.rtt
    }

    /// What happened so far.
    pub const fn counters(&self) -> QuicCounters {
        self.counters
    }

    /// `FlightSize` of RFC 5681 when a signal comes: what the acknowledgment that brings it delivers counts, as it is not
    /// cumulative there.
    fn flight_size(&self) -> u64 {
        self.held.map_or(self.in_flight, |held| held.in_flight_before.get())
    }

    /// Tells of what is held from before `now`: a loss found later is not one that it reveals.
    fn settle_earlier(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        if self.held.is_some_and(|held| held.now < now) {
            self.settle(probe);
        }
    }

    /// Stacks have no timers for controllers: one may fire as late as the next packet.
    fn run_timer(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        if self.controller.next_timer() <= now {
            self.controller.on_timer(now, probe);
        }
    }

    fn signal(
        &mut self,
        now: Timestamp,
        signal: CongestionSignal,
        flight_size: u64,
        lost: u64,
        probe: &mut dyn Probe,
    ) {
        let mut event = CongestionEvent::at(now, signal);
        event.flight_size = Bytes::new(flight_size).min(self.controller.control().window);
        event.lost = Bytes::new(lost);
        event.mss = self.mss;
        event.rtt = self.rtt;
        event.consecutive = u32::from(signal == CongestionSignal::Timeout);
        probe.record(now, Measurement::Congestion(signal));
        self.controller.on_congestion(&event, probe);
        if !self.controller.dismissed_signal() {
            self.reduced_at = Some(now);
        }
    }

    /// Whatever left more than a round trip before the newest packet that has arrived is acknowledged or lost (RFC 9002,
    /// section 6.1.2: 9/8 of a round trip after it left, when a later one is acknowledged).
    fn forget(&mut self, newest_sent_at: Timestamp) {
        let kept = self.rtt.smoothed.max(self.rtt.latest) + self.rtt.variation * 4;
        while self.sent.front().is_some_and(|sent| sent.at + kept < newest_sent_at) {
            self.sent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests;
