//! Collection of the data for the diagnosis of a flow, packet by packet, in bounded memory.

use airpath_model::{AckEvent, Duration, Timestamp};

use super::grid::Grid;
use super::history::History;
use super::losses::{Losses, Retransmission};
use super::pairs::Pairs;
use super::samples::Samples;
use super::transmissions::Transmissions;
use super::window::Window;

/// The transmission of a data packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) now: Timestamp,
    /// The first byte, and the number of bytes.
    pub(crate) start: u64,
    pub(crate) bytes: u32,
    /// The previous transmission time of its lost part.
    pub(crate) lost_since: Option<Timestamp>,
    /// The bytes in flight, including this packet.
    pub(crate) in_flight: u64,
}

/// The arrival of an acknowledgment at the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked<'a> {
    pub(crate) event: &'a AckEvent,
    /// The round trip, if there is a sample.
    pub(crate) round_trip: Option<Duration>,
    /// The cumulative acknowledgment.
    pub(crate) cumulative: u64,
    /// The end of the receive window, if known.
    pub(crate) window_end: Option<u64>,
    /// The end of the data sent so far.
    pub(crate) next: u64,
    /// The transmission time of the segment whose timestamp is echoed.
    pub(crate) echoed: Option<Timestamp>,
    /// The receiver's clock in seconds, if it ticks finely.
    pub(crate) receiver_s: Option<f64>,
}

/// Maximum delay of a data packet sent in response to an acknowledgment: a minimum, and a share of the base
/// round trip.
const ANSWER_NS: u64 = 400_000;
const ANSWER_SHARE: u64 = 100;

/// The observations of one direction of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Observations {
    pub(super) mss: u64,
    pub(super) start_ns: u64,
    pub(super) last_ns: u64,
    pub(super) grid: Grid,
    current: Window,
    end_ns: u64,
    round_trips: Samples,
    steps: Samples,
    rates: Samples,
    flights: Samples,
    there: Samples,
    back: Samples,
    /// Smallest, smoothed and latest round trip.
    base_ns: Option<u64>,
    smoothed_ns: u64,
    latest_s: f32,
    last_ack_ns: Option<u64>,
    pub(super) last_delivery_ns: Option<u64>,
    /// The last delivery, if the application has not paused since.
    served_ns: Option<u64>,
    /// The end of the last receive window, and the time from which it is measured.
    window: Option<(u64, u64)>,
    next: u64,
    /// The time since which everything sent is acknowledged.
    idle_since_ns: Option<u64>,
    /// Whether data was sent beyond the window, so that its assumed scale is wrong.
    pub(super) window_refuted: bool,
    /// The first delays of the forward and the reverse path, subtracted from samples to preserve precision.
    delays: Option<(f64, f64)>,
    flight_history: History,
    round_trip_history: History,
    pub(super) pairs: Pairs,
    pub(super) losses: Losses,
    pub(super) transmissions: Transmissions,
}

impl Observations {
    /// Starts with the first data packet, at `now`.
    pub(crate) fn new(now: Timestamp, mss: u64) -> Self {
        let start_ns = now.as_nanos();
        let grid = Grid::new(start_ns);
        Self {
            mss: mss.max(1),
            start_ns,
            last_ns: start_ns,
            end_ns: grid.end_ns(),
            grid,
            current: Window::default(),
            round_trips: Samples::default(),
            steps: Samples::default(),
            rates: Samples::default(),
            flights: Samples::default(),
            there: Samples::default(),
            back: Samples::default(),
            base_ns: None,
            smoothed_ns: 0,
            latest_s: f32::NAN,
            last_ack_ns: None,
            last_delivery_ns: None,
            served_ns: None,
            window: None,
            next: 0,
            idle_since_ns: None,
            window_refuted: false,
            delays: None,
            flight_history: History::default(),
            round_trip_history: History::default(),
            pairs: Pairs::default(),
            losses: Losses::default(),
            transmissions: Transmissions::default(),
        }
    }

    /// Records a larger full segment, if a larger packet shows one.
    pub(crate) fn set_mss(&mut self, mss: u64) {
        self.mss = self.mss.max(mss);
    }

    /// Processes the transmission of a data packet.
    pub(crate) fn on_sent(&mut self, sent: &Sent) {
        let now = self.advance(sent.now);
        let base = self.base_ns.unwrap_or(0);
        self.next = self.next.max(sent.start + u64::from(sent.bytes));
        if let Some(since) = self.idle_since_ns.take() {
            self.grid.add_idle(since, now);
            self.served_ns = None;
        }
        let answer = ANSWER_NS.max(base / ANSWER_SHARE);
        let current = &mut self.current;
        current.packets += 1;
        current.near += u32::from(self.last_ack_ns.is_some_and(|ack| now - ack.min(now) < answer));
        current.short += u32::from(u64::from(sent.bytes) * 20 < self.mss * 19);
        if let Some((_, last)) = current.sent {
            current.silence_ns = current.silence_ns.max(now.saturating_sub(last));
        }
        current.sent = Some((current.sent.map_or(now, |(first, _)| first), now));
        self.flights.push(sent.in_flight as f32);
        self.flight_history.push(now, sent.in_flight as f32, self.smoothed_ns);
        self.transmissions.on_sent(now, sent.bytes, self.mss);
        if let Some(before) = sent.lost_since {
            self.on_loss(now, sent, before.as_nanos(), base);
        }
    }

    /// Processes the loss of a QUIC packet sent at `sent_at`.
    pub(crate) fn on_lost(&mut self, now: Timestamp, sent_at: Timestamp) {
        self.advance(now);
        self.losses.on_loss(sent_at.as_nanos(), 1, self.base_ns.unwrap_or(0), &self.flight_history);
        self.current.losses = self.current.losses.saturating_add(1);
        self.transmissions.on_loss(sent_at.as_nanos(), 1, true);
    }

    fn on_loss(&mut self, now: u64, sent: &Sent, before_ns: u64, base: u64) {
        let segments = u64::from(sent.bytes).div_ceil(self.mss) as u32; // at most 2^32 - 1
        let end = sent.start + u64::from(sent.bytes);
        let loss = Retransmission { start: sent.start, end, at_ns: now, before_ns, segments };
        self.losses.on_retransmitted(loss, base, &self.flight_history);
        self.current.losses = self.current.losses.saturating_add(segments);
        self.transmissions.on_loss(before_ns, segments, true);
    }

    /// Processes an acknowledgment.
    pub(crate) fn on_ack(&mut self, ack: &Acked<'_>) {
        self.on_window(ack.event.now, ack.cumulative, ack.window_end, ack.next);
        let now = self.last_ns;
        if ack.cumulative >= self.next && ack.event.in_flight.get() == 0 {
            self.idle_since_ns.get_or_insert(now);
        }
        self.current.acks += 1;
        self.current.marks += u32::from(ack.event.congestion_experienced);
        if let Some(sample) = ack.round_trip {
            self.on_round_trip(now, sample, ack.receiver_s);
        }
        let base = self.base_ns.unwrap_or(0);
        let bytes = ack.event.acked.get();
        if bytes > 0 {
            self.current.delivered += bytes;
            self.grid.deliver(now.saturating_sub(base / 2), bytes);
            if let Some(last) = self.served_ns.replace(now) {
                let gap = now.saturating_sub(last);
                let seconds = gap as f64 * 1e-9;
                self.current.gaps_ns += gap;
                self.current.gap_squares += seconds * seconds;
            }
            if let Some(last) = self.last_ack_ns.filter(|last| *last < now) {
                self.rates.push(bytes as f32 * 8e9 / (now - last) as f32);
            }
            self.pairs.on_delivery(now, ack.event.latest_sent_at.map(Timestamp::as_nanos), bytes);
            self.last_delivery_ns = Some(now);
        }
        self.last_ack_ns = Some(now);
        let (grid, current, sent) = (&mut self.grid, &mut self.current, &mut self.transmissions);
        let echoed = ack.echoed.map(Timestamp::as_nanos);
        self.losses.on_acknowledged(now, ack.cumulative, base, echoed, |loss| {
            forget_loss(grid, current, sent, loss);
        });
    }

    /// Records that the receive window ends at `end` from now on. `cumulative` is the cumulative
    /// acknowledgment, `next` the end of the data sent.
    pub(crate) fn on_window(&mut self, now: Timestamp, cumulative: u64, end: Option<u64>, next: u64) {
        let now = self.advance(now);
        self.measure_room(now);
        self.window = end.map(|end| (end, now));
        self.next = self.next.max(next);
        self.window_refuted |= end.is_some_and(|end| next > end + 2 * self.mss);
        self.current.shut = end.is_some_and(|end| end < cumulative + self.mss);
    }

    /// Processes a report that the bytes from `left` to `right` arrived twice.
    pub(crate) fn on_duplicate(&mut self, left: u64, right: u64) {
        let (grid, current, sent) = (&mut self.grid, &mut self.current, &mut self.transmissions);
        self.losses.on_duplicate(left, right, |loss| forget_loss(grid, current, sent, loss));
    }

    fn on_round_trip(&mut self, now: u64, sample: Duration, receiver_s: Option<f64>) {
        let (nanos, seconds) = (sample.as_nanos(), sample.as_secs_f64());
        self.base_ns = Some(self.base_ns.map_or(nanos, |base| base.min(nanos)));
        let smoothed = self.smoothed_ns - self.smoothed_ns / 8 + nanos / 8;
        self.smoothed_ns = if self.smoothed_ns == 0 { nanos } else { smoothed };
        if self.latest_s.is_finite() {
            self.steps.push((seconds as f32 - self.latest_s).abs());
        }
        self.latest_s = seconds as f32;
        self.round_trips.push(seconds as f32);
        let sent = now.saturating_sub(nanos);
        self.round_trip_history.push(sent, seconds as f32, self.smoothed_ns);
        self.losses.note_round_trips(sent, self.base_ns.unwrap_or(0), &self.round_trip_history);
        if let Some(receiver) = receiver_s {
            let now = now as f64 * 1e-9;
            let (there, back) = (receiver - (now - seconds), now - receiver);
            let first = *self.delays.get_or_insert((there, back));
            self.there.push((there - first.0) as f32);
            self.back.push((back - first.1) as f32);
        }
    }

    /// Adds the time since the last acknowledgment to the time with a full receive window, if it was full.
    fn measure_room(&mut self, now: u64) {
        let Some((end, since)) = &mut self.window else { return };
        let time = now.saturating_sub(*since);
        if *end < self.next + 2 * self.mss {
            self.current.full_ns += time;
        }
        *since = now;
    }

    /// Closes the windows before `now`. Returns the time, which never decreases.
    fn advance(&mut self, now: Timestamp) -> u64 {
        self.last_ns = self.last_ns.max(now.as_nanos());
        if self.last_ns >= self.end_ns {
            self.close(self.end_ns);
            self.grid.reach(self.last_ns);
            self.end_ns = self.grid.end_ns();
        }
        self.last_ns
    }

    /// Adds the current window, which ends at `end_ns`, to the grid.
    fn close(&mut self, end_ns: u64) {
        self.measure_room(end_ns);
        let shut = self.current.shut;
        let current = Window {
            rtt: self.round_trips.take(),
            step: self.steps.take(),
            rates: self.rates.take(),
            flight: self.flights.take(),
            there: self.there.take(),
            back: self.back.take(),
            outstanding: self.idle_since_ns.is_none(),
            ..std::mem::take(&mut self.current)
        };
        self.grid.absorb(&current);
        self.current.shut = shut;
    }

    /// Ends the collection.
    pub(super) fn end(&mut self) {
        self.close(self.last_ns);
        if let Some(since) = self.idle_since_ns.take() {
            self.grid.add_idle(since, self.last_ns);
        }
        self.losses.note_round_trips(u64::MAX, self.base_ns.unwrap_or(0), &self.round_trip_history);
    }
}

/// Removes a loss whose retransmission was unnecessary.
fn forget_loss(grid: &mut Grid, current: &mut Window, sent: &mut Transmissions, loss: &Retransmission) {
    let place = grid.place(loss.at_ns);
    let is_current = place + 1 == grid.windows.len();
    let window = if is_current { current } else { &mut grid.windows[place] };
    window.losses = window.losses.saturating_sub(loss.segments);
    sent.on_loss(loss.before_ns, loss.segments, false);
}
