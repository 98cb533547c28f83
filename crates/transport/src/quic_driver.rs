//! Combines the packet events reported by a QUIC stack into the events that controllers expect.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use crate::delivery_rate::{DeliveryRate, SendState};
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Measurement, Phase, Probe, Rate,
    RttEstimate, SendEvent, Timestamp,
};

/// Drives one controller from the reports of a QUIC stack (RFC 9002, appendix B).
///
/// A stack that processes acknowledged packets before it detects losses, as quinn does, would report an
/// acknowledgment to the controller before the loss that it reveals. The driver therefore holds an
/// acknowledgment until the stack asks for the window or reports an event of a later instant, and reports the
/// loss first.
///
/// Sizes are those of QUIC packets, headers included, as counted by QUIC's congestion control.
#[derive(Debug)]
pub struct QuicDriver<C: Controller + ?Sized = dyn Controller> {
    controller: Box<C>,
    mss: Bytes,
    in_flight: u64,
    /// The packets in flight, one entry per instant, until they are acknowledged or lost.
    sent: VecDeque<Sent>,
    rate: DeliveryRate,
    round: u64,
    /// The round ends when a packet sent after this many delivered bytes is acknowledged.
    round_ends_at: u64,
    rtt: RttEstimate,
    sampled: bool,
    /// The packets that the stack is currently reporting as acknowledged.
    batch: Option<Batch>,
    /// An acknowledgment not yet reported to the controller.
    held: Option<AckEvent>,
    /// The start of the current loss event: packets sent up to this time belong to it (RFC 9002, section
    /// 7.3.2).
    recovery_start: Option<Timestamp>,
    in_recovery: bool,
    /// The time of the last window reduction: marks on packets sent up to this time request the same
    /// reduction.
    reduced_at: Option<Timestamp>,
    /// The bytes lost since the last acknowledgment reported to the controller.
    untold_lost: u64,
    counters: QuicCounters,
}

/// Counters of congestion events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuicCounters {
    /// Loss events.
    pub recoveries: u64,
    /// Persistent congestion (RFC 9002, section 7.6).
    pub persistent: u64,
    /// Reductions after marks.
    pub ecn_reductions: u64,
}

/// The packets sent at one instant.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Timestamp,
    state: SendState,
}

/// The packets delivered by one acknowledgment.
#[derive(Clone, Copy, Debug)]
struct Batch {
    now: Timestamp,
    acked: u64,
    newest_sent_at: Timestamp,
    in_flight_at_send: Bytes,
    in_flight_before: u64,
}

impl<C: Controller + ?Sized> QuicDriver<C> {
    /// Creates a driver for packets of up to `mss`.
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

    /// Records the transmission of packets with `bytes` bytes in total.
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

    /// Records the acknowledgment of a packet of `bytes` bytes sent at `sent_at`.
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

    /// Completes an acknowledgment; `in_flight` is the stack's current count.
    pub fn on_end_acks(&mut self, in_flight: u64, app_limited: bool, probe: &mut dyn Probe) {
        // The acknowledged packets do not count as in flight.
        let Some(batch) = self.batch.take() else { return };
        self.in_flight = in_flight;
        if app_limited {
            self.rate.mark_app_limited(Bytes::new(in_flight));
        }
        let sample = batch.now.since(batch.newest_sent_at);
        // The sample includes the peer's acknowledgment delay, as a TCP sender's measurements do.
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

    /// Records the loss of packets with `bytes` bytes in total, the newest of them sent at `sent_at`.
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
            // One reduction per round trip, whether packets were marked or dropped.
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

    /// Records that the peer reported more marks; the newest packet that it acknowledges was sent at
    /// `sent_at`.
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

    /// Sets the maximum packet size for later transmissions.
    pub fn set_mss(&mut self, mss: Bytes) {
        self.mss = mss;
    }

    /// Reports the held acknowledgment to the controller. Call once the stack has reported all of it.
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

    /// Returns the controller's window and pacing; call [settle](Self::settle) first.
    pub fn control(&self) -> Control {
        self.controller.control()
    }

    /// Returns the slow-start threshold.
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.controller.ssthresh()
    }

    /// Returns the controller's phase.
    pub fn phase(&self) -> Phase {
        self.controller.phase()
    }

    /// Returns the controller's pacing rate.
    pub fn pacing_rate(&self) -> Option<Rate> {
        match self.controller.control().pacing {
            airpath_model::Pacing::At(rate) => Some(rate),
            _ => None,
        }
    }

    /// Returns the bytes in flight, as known to this driver.
    pub const fn in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight)
    }

    /// Returns the round-trip time estimates.
    pub const fn rtt(&self) -> RttEstimate {
        self.rtt
    }

    /// Returns the counters.
    pub const fn counters(&self) -> QuicCounters {
        self.counters
    }

    /// Returns `FlightSize` of RFC 5681 for a congestion signal. It includes the bytes delivered by the
    /// acknowledgment that carries the signal, because QUIC's acknowledgments are not cumulative.
    fn flight_size(&self) -> u64 {
        self.held.map_or(self.in_flight, |held| held.in_flight_before.get())
    }

    /// Reports an acknowledgment held from before `now`: it does not reveal a loss that is found later.
    fn settle_earlier(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        if self.held.is_some_and(|held| held.now < now) {
            self.settle(probe);
        }
    }

    /// Runs the controller's timer if it is due. QUIC stacks have no timers for controllers, so it may fire
    /// as late as the next packet.
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

    /// Forgets packets sent more than a round trip before the newest delivered packet: they are acknowledged
    /// or lost (RFC 9002, section 6.1.2: 9/8 of a round trip after transmission, when a later one is
    /// acknowledged).
    fn forget(&mut self, newest_sent_at: Timestamp) {
        let kept = self.rtt.smoothed.max(self.rtt.latest) + self.rtt.variation * 4;
        while self.sent.front().is_some_and(|sent| sent.at + kept < newest_sent_at) {
            self.sent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests;
