//! The tail loss probe (RFC 8985, section 7).

use airpath_model::{Bytes, Duration, RttEstimate, Timestamp};

/// A tail loss probe: if no acknowledgment arrives for two round trips, the sender sends a segment that makes
/// the receiver respond (new data, or the last segment again). Losses revealed by the response are detected
/// by time, long before the retransmission timer would expire.
///
/// There is at most one probe at a time, none during recovery or while data is selectively acknowledged, and
/// none until a round-trip time was measured after the last probe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TailLossProbe {
    /// The time at which a probe is due; `NEVER` if none is.
    due: Timestamp,
    /// The bytes sent and acknowledged when `due` was last computed.
    reckoned: (u64, u64),
    /// Whether a probe is to be sent.
    wanted: bool,
    outstanding: Option<Outstanding>,
    /// Whether a round-trip time was measured since the last probe.
    sampled: bool,
}

/// A probe that was sent.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    /// The end of all data sent at that time (`TLP.end_seq`).
    end: u64,
    /// Whether the probe was a retransmission (`TLP.is_retrans`).
    again: bool,
    /// The flight size when it was sent.
    flight_size: Bytes,
}

/// The longest time that a receiver delays the acknowledgment of a lone segment (`TLP.max_ack_delay`), as in
/// Linux.
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

/// The time to a probe before the first RTT sample.
const WITHOUT_SAMPLE: Duration = Duration::from_secs(1);

impl Default for TailLossProbe {
    fn default() -> Self {
        Self { due: Timestamp::NEVER, reckoned: (0, 0), wanted: false, outstanding: None, sampled: true }
    }
}

impl TailLossProbe {
    pub(crate) const fn due(&self) -> Timestamp {
        self.due
    }

    /// Returns whether a probe is to be sent.
    pub(crate) const fn wanted(&self) -> bool {
        self.wanted
    }

    /// Records that a round-trip time was measured.
    pub(crate) fn on_sample(&mut self) {
        self.sampled = true;
    }

    /// Cancels the scheduled probe: there is nothing to send, or losses are being repaired.
    pub(crate) fn cancel(&mut self) {
        self.due = Timestamp::NEVER;
        self.wanted = false;
    }

    /// Schedules a probe after all permitted data has been sent: `sent` and `acknowledged` bytes in total.
    /// Recomputes the time if new data was sent or acknowledged (section 7.2). `lone` means that one segment
    /// is outstanding; `timeout` is the deadline of the retransmission timer.
    pub(crate) fn schedule(
        &mut self,
        now: Timestamp,
        (sent, acknowledged): (u64, u64),
        lone: bool,
        rtt: RttEstimate,
        timeout: Timestamp,
    ) {
        if self.reckoned == (sent, acknowledged) {
            return;
        }
        self.reckoned = (sent, acknowledged);
        self.cancel();
        if self.outstanding.is_some() {
            return;
        }
        let patience = match (rtt.smoothed, lone) {
            (Duration::ZERO, _) => WITHOUT_SAMPLE,
            (smoothed, false) => smoothed * 2,
            (smoothed, true) => smoothed * 2 + MAX_ACK_DELAY,
        };
        self.due = (now + patience).min(timeout);
    }

    /// Handles the expiry of the probe timer (section 7.3).
    pub(crate) fn on_due(&mut self) {
        self.due = Timestamp::NEVER;
        self.wanted = self.sampled;
    }

    /// Records that a probe is sent: a retransmission or new data, after which `sent` bytes have been sent in
    /// total.
    pub(crate) fn on_sent(&mut self, again: bool, sent: u64, flight_size: Bytes) {
        self.wanted = false;
        self.sampled = false;
        self.outstanding = Some(Outstanding { end: sent, again, flight_size });
    }

    /// Processes an acknowledgment. Returns the flight size at the time of the probe if the probe repaired a
    /// loss that nothing else reveals (section 7.4.2).
    ///
    /// `repeated` indicates a duplicate SACK, `bare` a duplicate acknowledgment without SACK blocks: in both
    /// cases the original and the probe have arrived.
    pub(crate) fn on_ack(&mut self, cumulative: u64, repeated: bool, bare: bool) -> Option<Bytes> {
        let probe = self.outstanding.filter(|probe| cumulative >= probe.end)?;
        let arrived_twice = repeated || bare;
        let repaired = probe.again && !arrived_twice && cumulative > probe.end;
        if !probe.again || arrived_twice || repaired {
            self.outstanding = None;
        }
        repaired.then_some(probe.flight_size)
    }

    /// Forgets the outstanding probe: the retransmission timer has expired, or losses are being repaired
    /// (section 7.1).
    pub(crate) fn forget(&mut self) {
        self.outstanding = None;
    }
}
