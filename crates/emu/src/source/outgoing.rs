//! One connection of a source, from its beginning to its end.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};

use airpath_model::Timestamp;
use nix::sys::epoll::EpollFlags;

use super::wakeups::{Token, Wakeups};

/// The data to send.
static NOTHING: [u8; 1 << 16] = [0; 1 << 16];
/// Events of interest while there is data to write.
pub(super) const WRITING: EpollFlags = EpollFlags::EPOLLOUT.union(EpollFlags::EPOLLRDHUP);
/// Events of interest between two writes of the application: only the end of the connection.
const IDLE: EpollFlags = EpollFlags::EPOLLRDHUP;
/// Events of interest after all is written: only the receiver's answer is missing.
const WAITING: EpollFlags = EpollFlags::EPOLLIN.union(EpollFlags::EPOLLRDHUP);

/// A connection to which data is written.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) stream: TcpStream,
    pub(super) transfer: u32,
    pub(super) began: Timestamp,
    /// Size of the transfer in bytes; without meaning for an endless one.
    pub(super) size: u64,
    /// Bytes that remain to be written.
    pub(super) left: u64,
    /// Whether the data has no end: the sending direction stays open if nothing is left.
    endless: bool,
    /// Whether the sending direction has been closed.
    ended: bool,
}

/// The state of a connection after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It continues.
    Open,
    /// The receiver has read everything and closed it.
    Complete,
    /// It ended before its data did, because it was stopped.
    Stopped,
}

impl Outgoing {
    pub(super) fn new(
        stream: TcpStream,
        transfer: u32,
        began: Timestamp,
        (size, endless): (u64, bool),
    ) -> Self {
        Self { stream, transfer, began, size, left: size, endless, ended: false }
    }

    /// Adds data to be written.
    pub(super) fn add(&mut self, size: u64, token: Token, wakeups: &Wakeups) -> io::Result<()> {
        self.left = self.left.saturating_add(size);
        Ok(wakeups.change(&self.stream, WRITING, token)?)
    }

    /// Handles an event of the socket.
    pub(super) fn on_event(
        &mut self,
        events: EpollFlags,
        token: Token,
        wakeups: &Wakeups,
    ) -> io::Result<Progress> {
        if let Some(error) = self.stream.take_error()? {
            return Err(error);
        }
        if self.ended {
            let answered = events.intersects(EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP);
            return Ok(match (answered, self.left) {
                (false, _) => Progress::Open,
                (true, 0) if !self.endless => Progress::Complete,
                (true, _) => Progress::Stopped,
            });
        }
        if events.intersects(EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP) {
            return Err(io::Error::other("the receiver closed the connection"));
        }
        if events.contains(EpollFlags::EPOLLOUT) {
            self.write(token, wakeups)?;
        }
        Ok(Progress::Open)
    }

    /// Writes as much as the kernel accepts.
    fn write(&mut self, token: Token, wakeups: &Wakeups) -> io::Result<()> {
        while self.left > 0 {
            let some = NOTHING.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
            match self.stream.write(&NOTHING[..some]) {
                Ok(_) if self.left == u64::MAX => {}
                Ok(written) => self.left -= written as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if self.endless {
            return Ok(wakeups.change(&self.stream, IDLE, token)?);
        }
        self.end(token, wakeups)
    }

    /// Stops writing; the kernel still sends data already written.
    pub(super) fn end(&mut self, token: Token, wakeups: &Wakeups) -> io::Result<()> {
        self.ended = true;
        wakeups.change(&self.stream, WAITING, token)?;
        match self.stream.shutdown(Shutdown::Write) {
            // Not connected yet.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            other => other,
        }
    }
}
