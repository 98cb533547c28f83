//! The tail loss probe (RFC 8985, section 7).

use airpath_model::{Bytes, Duration, RttEstimate, Timestamp};

/// When nothing comes back for two round trips, something is sent that makes the receiver answer: new data, or the last segment once
/// more. What its answer leaves out is found lost by time, long before the retransmission timer would.
///
/// There is one probe at a time, none while losses are being repaired or anything is selectively acknowledged, and none before a
/// round-trip time was measured since the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TailLossProbe {
    /// When a probe is due; `NEVER` when none is.
    due: Timestamp,
    /// What had been sent, and what acknowledged, when that was last reckoned.
    reckoned: (u64, u64),
    /// A probe is to be sent.
    wanted: bool,
    outstanding: Option<Outstanding>,
    /// Round-trip times were measured since the last probe.
    sampled: bool,
}

/// A probe that was sent.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    /// End of everything that had been sent (`TLP.end_seq`).
    end: u64,
    /// It was a segment sent before (`TLP.is_retrans`).
    again: bool,
    /// What was outstanding when it left.
    flight_size: Bytes,
}

/// How long a receiver may hold back the acknowledgment of a lone segment (`TLP.max_ack_delay`), as in Linux.
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

/// The time to a probe before any round trip was measured.
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

    /// Whether a probe is to be sent.
    pub(crate) const fn wanted(&self) -> bool {
        self.wanted
    }

    /// A round-trip time was measured.
    pub(crate) fn on_sample(&mut self) {
        self.sampled = true;
    }

    /// No probe is waited for: there is nothing to send, or losses are being repaired.
    pub(crate) fn cancel(&mut self) {
        self.due = Timestamp::NEVER;
        self.wanted = false;
    }

    /// Everything that may leave has left: `sent` and `acknowledged` bytes so far, in all. Reckons anew when a probe is due if new data left or
    /// was acknowledged (section 7.2); `lone` tells that one segment is outstanding, `timeout` when the retransmission timer expires.
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

    /// The time has come (section 7.3).
    pub(crate) fn on_due(&mut self) {
        self.due = Timestamp::NEVER;
        self.wanted = self.sampled;
    }

    /// A probe leaves: a segment that was sent before, or new data, with which `sent` bytes have left in all.
    pub(crate) fn on_sent(&mut self, again: bool, sent: u64, flight_size: Bytes) {
        self.wanted = false;
        self.sampled = false;
        self.outstanding = Some(Outstanding { end: sent, again, flight_size });
    }

    /// An acknowledgment came. Gives what was outstanding when the probe left if the probe repaired a loss, of which nothing else tells (section
    /// 7.4.2).
    ///
    /// `repeated` tells of a duplicate SACK, `bare` of a duplicate acknowledgment without selective ones: both the original
    /// and the probe have arrived.
    pub(crate) fn on_ack(&mut self, cumulative: u64, repeated: bool, bare: bool) -> Option<Bytes> {
        let probe = self.outstanding.filter(|probe| cumulative >= probe.end)?;
        let arrived_twice = repeated || bare;
        let repaired = probe.again && !arrived_twice && cumulative > probe.end;
        if !probe.again || arrived_twice || repaired {
            self.outstanding = None;
        }
        repaired.then_some(probe.flight_size)
    }

    /// The probe did not help: the retransmission timer has expired, or losses are being repaired (section 7.1).
    pub(crate) fn forget(&mut self) {
        self.outstanding = None;
    }
}
