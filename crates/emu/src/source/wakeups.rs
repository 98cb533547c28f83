//! The wake-ups of the sources' thread: sockets and times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::AsFd;

use airpath_model::{Duration, Timestamp};
use airpath_os_linux::Context;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::clock::Clock;
use crate::error::EmulationError;

/// The subject of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A scheduled time is reached.
    Timer,
    /// A connection waits to be accepted.
    Listener,
    /// Datagrams have arrived.
    Datagrams,
    /// The connection of a source, by the source's index.
    Source(usize),
    /// A connection at the receivers' host, by its index.
    Receiving(usize),
}

impl Token {
    /// Returns the token as a number that the kernel stores.
    pub(super) fn data(self) -> u64 {
        match self {
            Self::Timer => 0,
            Self::Listener => 1,
            Self::Datagrams => 2,
            Self::Source(number) => 3 | (number as u64) << 8,
            Self::Receiving(number) => 4 | (number as u64) << 8,
        }
    }

    /// Returns the token from the number that the kernel stored.
    pub(super) fn of(data: u64) -> Self {
        let number = (data >> 8) as usize;
        match data & 0xff {
            0 => Self::Timer,
            1 => Self::Listener,
            2 => Self::Datagrams,
            3 => Self::Source(number),
            _ => Self::Receiving(number),
        }
    }
}

/// The sockets and times that are waited for.
#[derive(Debug)]
pub(super) struct Wakeups {
    epoll: Epoll,
    timer: TimerFd,
    /// Times with their source; an obsolete one wakes its source without effect.
    instants: BinaryHeap<Reverse<(Timestamp, usize)>>,
}

impl Wakeups {
    /// Creates an empty set.
    pub(super) fn new() -> Result<Self, EmulationError> {
        let asked = "waiting for sockets";
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).context(asked)?;
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)
                .context(asked)?;
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, Token::Timer.data())).context(asked)?;
        Ok(Self { epoll, timer, instants: BinaryHeap::new() })
    }

    /// Watches a socket; closing it ends this.
    pub(super) fn watch(&self, socket: impl AsFd, what: EpollFlags, token: Token) -> nix::Result<()> {
        self.epoll.add(socket, EpollEvent::new(what, token.data()))
    }

    /// Changes the watched events of a socket.
    pub(super) fn change(&self, socket: impl AsFd, what: EpollFlags, token: Token) -> nix::Result<()> {
        self.epoll.modify(socket, &mut EpollEvent::new(what, token.data()))
    }

    /// Schedules a wake-up of a source.
    pub(super) fn at(&mut self, at: Timestamp, source: usize) {
        if at.is_scheduled() && self.instants.peek() != Some(&Reverse((at, source))) {
            self.instants.push(Reverse((at, source)));
        }
    }

    /// Returns a source that is due.
    pub(super) fn due(&mut self, now: Timestamp) -> Option<usize> {
        let &Reverse((at, source)) = self.instants.peek()?;
        (at <= now).then(|| {
            self.instants.pop();
            source
        })
    }

    /// Waits until a socket is ready or a scheduled time is reached, at most until `until`.
    pub(super) fn wait(
        &self,
        events: &mut [EpollEvent],
        clock: &Clock,
        until: Timestamp,
    ) -> nix::Result<usize> {
        let next = self.instants.peek().map_or(until, |&Reverse((at, _))| at.min(until));
        let wait = next.since(clock.now());
        #[cfg(test)]
        if clock.is_virtual() {
            let ready = self.epoll.wait(events, EpollTimeout::ZERO)?;
            if ready == 0 {
                clock.sleep(wait);
            }
            return Ok(ready);
        }
        let mut timeout = EpollTimeout::NONE;
        if wait < Duration::from_micros(1) {
            timeout = EpollTimeout::ZERO;
        } else {
            let wait = TimeSpec::from_duration(std::time::Duration::from_nanos(wait.as_nanos()));
            self.timer.set(Expiration::OneShot(wait), TimerSetTimeFlags::empty())?;
        }
        match self.epoll.wait(events, timeout) {
            Err(nix::errno::Errno::EINTR) => Ok(0),
            other => other,
        }
    }

    /// Clears the expired timer.
    pub(super) fn timer_rang(&self) {
        // The only possible error is that it has been set again in the meantime.
        let _ = self.timer.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_returned_unchanged() {
        for token in
            [Token::Timer, Token::Listener, Token::Datagrams, Token::Source(70_000), Token::Receiving(0)]
        {
            assert_eq!(Token::of(token.data()), token);
        }
    }

    #[test]
    fn sources_wake_up_in_time_order() {
        let mut wakeups = Wakeups::new().unwrap();
        let at = |nanos| Timestamp::from_nanos(nanos);
        wakeups.at(at(300), 1);
        wakeups.at(at(100), 2);
        wakeups.at(Timestamp::NEVER, 3);
        assert_eq!(wakeups.due(at(99)), None);
        assert_eq!(wakeups.due(at(300)), Some(2));
        assert_eq!(wakeups.due(at(300)), Some(1));
        assert_eq!(wakeups.due(at(u64::MAX - 2)), None);
    }
}
