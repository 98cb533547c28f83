//! Requests to the kernel over a netlink socket. A socket belongs to the namespace of the thread that opened it.

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr};
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::{TimeVal, TimeValLike};

/// A netlink socket.
#[derive(Debug)]
pub struct Netlink {
    socket: Socket,
}

/// Size of the buffer of one read: the kernel fills at most 32 KiB at a time.
const BUFFER: usize = 1 << 15;

impl Netlink {
    /// Opens a socket of a netlink protocol.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket })
    }

    /// Sets the time after which a missing answer is an error. Without it a request waits without limit.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn set_timeout(&self, seconds: u32) -> io::Result<()> {
        setsockopt(&self.socket, sockopt::ReceiveTimeout, &TimeVal::seconds(seconds.into()))?;
        Ok(())
    }

    /// Opens a socket that receives the notifications of multicast groups, with a receive buffer of `bytes`.
    /// The kernel may grant less.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn listen(protocol: isize, groups: &[u32], bytes: usize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        // Only privileged processes may exceed the limit of the system.
        if setsockopt(&socket, sockopt::RcvBufForce, &bytes).is_err() {
            setsockopt(&socket, sockopt::RcvBuf, &bytes)?;
        }
        for &group in groups {
            socket.add_membership(group)?;
        }
        socket.set_non_blocking(true)?;
        Ok(Self { socket })
    }

    /// Sends a request and waits until the kernel has completed it.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn request<M: NetlinkSerializable>(&self, message: M, flags: u16) -> io::Result<()> {
        self.send(message, NLM_F_REQUEST | NLM_F_ACK | flags)?;
        let (answer, _) = self.socket.recv_from_full()?;
        // Acknowledgments do not depend on the type of the request.
        let answer = NetlinkMessage::<Unparsed>::deserialize(&answer).map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            NetlinkPayload::Error(_) => Ok(()),
            other => Err(io::Error::other(format!("an unexpected answer: {other:?}"))),
        }
    }

    /// Sends a request that has one answer, and returns the content of the answer.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn query<M: NetlinkSerializable>(&self, message: M) -> io::Result<Vec<u8>> {
        self.send(message, NLM_F_REQUEST)?;
        let (bytes, _) = self.socket.recv_from_full()?;
        let mut answer = None;
        each_message(&bytes, &mut |content| answer = Some(content.to_vec()))?;
        answer.ok_or_else(|| io::Error::other("an answer without content"))
    }

    /// Requests a list, and calls `take` with the content of every entry.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn dump<M: NetlinkSerializable>(&self, message: M, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        self.send(message, NLM_F_REQUEST | NLM_F_DUMP)?;
        let mut buffer = vec![0; BUFFER];
        loop {
            let read = self.socket.recv(&mut &mut buffer[..], 0)?;
            if each_message(&buffer[..read.min(BUFFER)], &mut take)? {
                return Ok(());
            }
        }
    }

    /// Calls `take` with every notification since the last call. Returns whether some are missing because the
    /// receive buffer was full.
    ///
    /// # Errors
    /// If the socket cannot be read.
    pub fn notifications(&self, mut take: impl FnMut(&[u8])) -> io::Result<bool> {
        let mut buffer = vec![0; BUFFER];
        let mut missing = false;
        loop {
            match self.socket.recv(&mut &mut buffer[..], 0) {
                Ok(read) => {
                    each_message(&buffer[..read.min(BUFFER)], &mut take)?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(missing),
                Err(error) if error.raw_os_error() == Some(nix::libc::ENOBUFS) => missing = true,
                Err(error) => return Err(error),
            }
        }
    }

    fn send<M: NetlinkSerializable>(&self, message: M, flags: u16) -> io::Result<()> {
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        Ok(())
    }
}

/// The bytes of a message that the caller parses.
#[derive(Debug)]
struct Unparsed(Vec<u8>);

impl NetlinkDeserializable for Unparsed {
    type Error = std::convert::Infallible;

    fn deserialize(_: &NetlinkHeader, payload: &[u8]) -> Result<Self, Self::Error> {
        Ok(Self(payload.to_vec()))
    }
}

/// Calls `take` with the content of each message, and returns whether the list ends here. Returns an error
/// for bytes that are not a message.
fn each_message(mut bytes: &[u8], take: &mut impl FnMut(&[u8])) -> io::Result<bool> {
    while !bytes.is_empty() {
        let message = NetlinkMessage::<Unparsed>::deserialize(bytes).map_err(io::Error::other)?;
        match message.payload {
            NetlinkPayload::InnerMessage(Unparsed(content)) => take(&content),
            NetlinkPayload::Done(_) => return Ok(true),
            NetlinkPayload::Error(error) if error.code.is_some() => return Err(error.to_io()),
            _ => {}
        }
        // Messages are aligned to four bytes. Their length was checked to be at least that of a header.
        let length = (message.header.length as usize).next_multiple_of(4);
        bytes = bytes.get(length..).unwrap_or_default();
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a message with this content, padded.
    fn message(kind: u16, content: &[u8]) -> Vec<u8> {
        let length = 16 + content.len() as u32;
        let mut bytes = [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 10], content].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn read(bytes: &[u8]) -> io::Result<(Vec<Vec<u8>>, bool)> {
        let mut taken = Vec::new();
        let over = each_message(bytes, &mut |content| taken.push(content.to_vec()))?;
        Ok((taken, over))
    }

    #[test]
    fn each_message_is_read_up_to_the_end_of_the_list() {
        let two = [message(20, b"first"), message(20, b"second")].concat();
        let contents = vec![b"first".to_vec(), b"second".to_vec()];
        assert_eq!(read(&two).unwrap(), (contents.clone(), false));
        let done = [two, message(3, &[0; 4]), message(20, b"behind")].concat();
        assert_eq!(read(&done).unwrap(), (contents, true));
        let refused = read(&message(2, &[(-1_i32).to_ne_bytes(), [0; 4], [0; 4], [0; 4], [0; 4]].concat()));
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(1));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200), length in 0_u32..64, kind in 0_u16..30) {
            let _ = read(&bytes);
            // Bytes that are almost a message.
            if bytes.len() >= 8 {
                bytes[..4].copy_from_slice(&length.to_ne_bytes());
                bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
                let _ = read(&bytes);
            }
        }
    }
}
