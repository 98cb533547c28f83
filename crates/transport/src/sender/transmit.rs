//! Segment transmission.

use airpath_model::{Bytes, Controller, Ecn, Probe, SendEvent, Timestamp};

use super::Sender;
use crate::config::EcnMode;
use crate::segment::Segment;

/// A segment that may be sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Candidate {
    New {
        payload: u32,
    },
    Again {
        sequence: u64,
        payload: u32,
    },
    Rescue {
        sequence: u64,
        payload: u32,
    },
    /// A tail loss probe that retransmits a segment.
    Probe {
        sequence: u64,
        payload: u32,
    },
}

impl<C: Controller + ?Sized> Sender<C> {
    /// Returns the next segment that may be sent at `now`. Call until it returns `None`.
    pub fn poll_transmit(&mut self, now: Timestamp, probe: &mut dyn Probe) -> Option<Segment> {
        self.held_until = Timestamp::NEVER;
        let Some(candidate) = self.candidate() else {
            if self.ledger.next() >= self.offered && self.in_flight() < self.controller.control().window {
                self.rate.mark_app_limited(self.in_flight());
            }
            return self.rest(now);
        };
        let payload = Bytes::new(u64::from(candidate.payload()));
        let control = self.controller.control();
        let beside_the_window = !self.window_allows(candidate, payload, control.window);
        if beside_the_window && !self.wants_probe() {
            self.limited_until = Some(self.ledger.next());
            return self.rest(now);
        }
        let smoothed_rtt = self.timer.rtt().smoothed;
        if let Some(rate) = self.pacer.rate(&control, || self.controller.phase(), smoothed_rtt) {
            let release = self.pacer.release(rate, control.quantum, payload);
            if release > now {
                self.held_until = release;
                return self.rest(now);
            }
            self.pacer.on_sent(now, rate, payload);
        }
        if beside_the_window || matches!(candidate, Candidate::Probe { .. }) {
            self.on_probe_leaves(candidate);
        }
        Some(self.send(now, candidate, probe))
    }

    /// Ends a burst: no more segments may be sent now.
    fn rest(&mut self, now: Timestamp) -> Option<Segment> {
        if self.by_time.is_some() {
            self.schedule_probe(now);
        }
        None
    }

    /// Implements `NextSeg` of RFC 6675 without rule 3.
    fn candidate(&mut self) -> Option<Candidate> {
        if let Some((sequence, payload)) = self.ledger.next_lost() {
            return Some(Candidate::Again { sequence, payload });
        }
        let left = self.unsent();
        if left > 0
            && let Some(payload) = self.next_payload(left)
        {
            return Some(Candidate::New { payload });
        }
        self.rescue()
    }

    /// Returns the bytes offered by the application but never sent.
    pub(super) const fn unsent(&self) -> u64 {
        self.offered - self.ledger.next()
    }

    /// Returns the payload of the next segment of new data, of which `left` remains; `None` if it exceeds the
    /// receive window.
    pub(super) fn next_payload(&self, left: u64) -> Option<u32> {
        let usable = self.right_edge.saturating_sub(self.ledger.next());
        let mut payload = left.min(self.config.mss.get());
        if payload > usable {
            // Data beyond the receive window must wait, unless the window never admits a full segment (RFC
            // 9293, section 3.8.6.2.1).
            if usable == 0 || !self.ledger.is_empty() {
                return None;
            }
            payload = usable;
        }
        Some(payload as u32) // at most mss, checked to fit
    }

    /// Returns a tail loss probe, or applies rule 4: once per recovery the last segment is retransmitted, so
    /// that the loss of a whole tail is detected.
    fn rescue(&self) -> Option<Candidate> {
        if self.wants_probe() {
            let (sequence, payload) = self.ledger.highest_unacknowledged()?;
            return Some(Candidate::Probe { sequence, payload });
        }
        if !self.in_recovery() || !self.ledger.has_sacked() || self.rescued {
            return None;
        }
        let (sequence, payload) = self.ledger.highest_unacknowledged()?;
        (!self.ledger.is_retransmitting(sequence)).then_some(Candidate::Rescue { sequence, payload })
    }

    pub(super) fn window_allows(&self, candidate: Candidate, payload: Bytes, window: Bytes) -> bool {
        if self.retransmit_first && matches!(candidate, Candidate::Again { .. }) {
            return true;
        }
        if self.in_flight().is_zero() && !window.is_zero() {
            return true; // otherwise a window below one segment would stop the connection forever
        }
        match &self.reduction {
            Some(reduction) => reduction.allows(payload),
            None => self.in_flight() + payload <= window,
        }
    }

    fn on_probe_leaves(&mut self, candidate: Candidate) {
        let flight_size = self.flight_size();
        let sent = self.ledger.next();
        if let Some(by_time) = &mut self.by_time {
            match candidate {
                Candidate::New { payload } => by_time.on_probe(false, sent + u64::from(payload), flight_size),
                _ => by_time.on_probe(true, sent, flight_size),
            }
        }
    }

    fn wants_probe(&self) -> bool {
        self.by_time.as_ref().is_some_and(|by_time| by_time.wants_probe())
    }

    fn send(&mut self, now: Timestamp, candidate: Candidate, probe: &mut dyn Probe) -> Segment {
        let idle = self.ledger.is_empty();
        let payload = candidate.payload();
        let bytes = Bytes::new(u64::from(payload));
        let state = self.rate.on_sent(now, idle, self.in_flight() + bytes);
        let (sequence, retransmission) = match candidate {
            Candidate::New { .. } => {
                let sequence = self.ledger.next();
                self.ledger.on_sent(now, payload, state);
                (sequence, false)
            }
            Candidate::Again { sequence, .. }
            | Candidate::Rescue { sequence, .. }
            | Candidate::Probe { sequence, .. } => {
                self.ledger.on_retransmitted(now, sequence, state);
                self.retransmit_first = false;
                self.rescued |= matches!(candidate, Candidate::Rescue { .. });
                (sequence, true)
            }
        };
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent(bytes);
        }
        self.timer.start(now);
        self.counters.sent_packets += 1;
        self.counters.retransmitted_packets += u64::from(retransmission);
        self.largest_flight = self.largest_flight.max(self.in_flight());

        let mut event = SendEvent::at(now, bytes);
        event.in_flight = self.in_flight();
        event.retransmission = retransmission;
        event.app_limited = state.app_limited();
        event.mss = self.config.mss;
        event.rtt = self.timer.rtt();
        let path = self.controller.on_sent(&event, probe);
        Segment {
            sequence,
            payload,
            retransmission,
            // Retransmissions are not ECN-capable (RFC 3168, section 6.1.5). They do carry CWR, as in ns-2
            // since 2008, although the RFC reserves it for new data: after a timeout there may be only
            // retransmissions for a long time, and the window does not grow while the receiver continues to
            // echo an old mark.
            ecn: match self.config.ecn {
                EcnMode::Accurate => Ecn::Ect1, // also retransmissions, or they would enter another queue (RFC 9331)
                EcnMode::Classic if !retransmission => Ecn::Ect0,
                _ => Ecn::NotEct,
            },
            cwr: core::mem::take(&mut self.send_cwr),
            timestamp: self.config.timestamps.then_some(now),
            timestamp_echo: self.receiver_time.filter(|_| self.config.timestamps),
            path,
        }
    }
}

impl Candidate {
    const fn payload(self) -> u32 {
        match self {
            Self::New { payload }
            | Self::Again { payload, .. }
            | Self::Rescue { payload, .. }
            | Self::Probe { payload, .. } => payload,
        }
    }
}
