//! One connection of a source, from its beginning to its end.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};

use airpath_model::Timestamp;
use nix::sys::epoll::EpollFlags;

use super::wakeups::{Token, Wakeups};

/// What is sent.
static NOTHING: [u8; 1 << 16] = [0; 1 << 16];
/// While there is data to write.
pub(super) const WRITING: EpollFlags = EpollFlags::EPOLLOUT.union(EpollFlags::EPOLLRDHUP);
/// When all is written: only the receiver's answer is missing.
const WAITING: EpollFlags = EpollFlags::EPOLLIN.union(EpollFlags::EPOLLRDHUP);

/// A connection to which data is written.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) stream: TcpStream,
    pub(super) transfer: u32,
    pub(super) began: Timestamp,
    /// Size of the transfer, bytes; `u64::MAX` for one without end.
    pub(super) size: u64,
    /// Bytes that are still to be written.
    pub(super) left: u64,
    /// Whether its end has been said to the receiver.
    ended: bool,
}

/// How a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It goes on.
    Open,
    /// The receiver has taken all and closed it.
    Complete,
    /// It ended before its data did: it was told to stop.
    Stopped,
}

impl Outgoing {
    pub(super) fn new(stream: TcpStream, transfer: u32, began: Timestamp, size: u64) -> Self {
        Self { stream, transfer, began, size, left: size, ended: false }
    }

    /// Something is new at the socket.
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
                (true, 0) => Progress::Complete,
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

    /// Writes as much as the kernel takes.
    fn write(&mut self, token: Token, wakeups: &Wakeups) -> io::Result<()> {
        while self.left > 0 {
            let some = NOTHING.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
            match self.stream.write(&NOTHING[..some]) {
                Ok(_) if self.size == u64::MAX => {}
                Ok(written) => self.left -= written as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.end(token, wakeups)
    }

    /// Writes no more; what was written still goes out.
    pub(super) fn end(&mut self, token: Token, wakeups: &Wakeups) -> io::Result<()> {
        self.ended = true;
        wakeups.change(&self.stream, WAITING, token)?;
        match self.stream.shutdown(Shutdown::Write) {
            // It was not there yet.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            other => other,
        }
    }
}
