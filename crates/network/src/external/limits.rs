//! What limits a sender, from the counts of an operating system.

use std::ops::Add;

use airpath_model::Duration;
use airpath_transport::SendLimit;

use super::ExternalFlow;

/// How long a sender has been active, and how long each limit has kept it from sending, since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitedTimes {
    /// Time since the start.
    pub total: Duration,
    /// Time with data to send or in flight. Contains the following times.
    pub busy: Duration,
    /// Time limited by the receive window.
    pub receive_window: Duration,
    /// Time limited by the send buffer.
    pub send_buffer: Duration,
}

impl LimitedTimes {
    /// The times of a sender that has not started.
    pub const NONE: Self = Self {
        total: Duration::ZERO,
        busy: Duration::ZERO,
        receive_window: Duration::ZERO,
        send_buffer: Duration::ZERO,
    };

    /// Returns the time of each limit since `before`, indexed by [`SendLimit`]. The application limits a
    /// sender that is not busy; a busy sender without another limit is limited by the congestion window.
    ///
    /// The counts need not have been read at the same instant as the total, so each is at most the time that
    /// the preceding ones leave.
    fn since(&self, before: &Self) -> [Duration; SendLimit::COUNT] {
        let passed = |of: fn(&Self) -> Duration| of(self) - of(before);
        let total = passed(|times| times.total);
        let busy = passed(|times| times.busy).min(total);
        let receive_window = passed(|times| times.receive_window).min(busy);
        let send_buffer = passed(|times| times.send_buffer).min(busy - receive_window);
        let mut times = [Duration::ZERO; SendLimit::COUNT];
        times[SendLimit::Application.index()] = total - busy;
        times[SendLimit::ReceiveWindow.index()] = receive_window;
        times[SendLimit::SendBuffer.index()] = send_buffer;
        times[SendLimit::CongestionWindow.index()] = busy - receive_window - send_buffer;
        times
    }
}

impl Add for LimitedTimes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            total: self.total + other.total,
            busy: self.busy + other.busy,
            receive_window: self.receive_window + other.receive_window,
            send_buffer: self.send_buffer + other.send_buffer,
        }
    }
}

impl ExternalFlow {
    /// Returns the time of each limit since the last call, indexed by [`SendLimit`].
    pub(super) fn take_limits(&mut self) -> [Duration; SendLimit::COUNT] {
        let times = self.limited.since(&self.recorded);
        self.recorded = self.limited;
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_an_interval_add_up_to_its_total() {
        let times = |[total, busy, receive_window, send_buffer]: [u64; 4]| LimitedTimes {
            total: Duration::from_millis(total),
            busy: Duration::from_millis(busy),
            receive_window: Duration::from_millis(receive_window),
            send_buffer: Duration::from_millis(send_buffer),
        };
        let millis = |times: [Duration; SendLimit::COUNT]| times.map(|time| time.as_nanos() / 1_000_000);
        let before = times([100, 80, 30, 10]);
        assert_eq!(millis(times([200, 150, 50, 20]).since(&before)), [0, 30, 20, 10, 40, 0]);
        // The kernel's ticks may exceed the interval.
        assert_eq!(millis(times([200, 184, 130, 20]).since(&before)), [0, 0, 100, 0, 0, 0]);
        // The kernel clears the counts of a connection that was aborted.
        assert_eq!(millis(times([200, 0, 0, 0]).since(&before)), [0, 100, 0, 0, 0, 0]);
        assert_eq!(millis(before.since(&before)), [0; SendLimit::COUNT]);
    }
}
