//! The kernel's report on a TCP connection: `TCP_INFO`, parsed up to the length that the kernel wrote.
//!
//! The structure grows with the kernel's versions, at its end only (`include/uapi/linux/tcp.h`). Fields
//! beyond the kernel's length are absent; no length is assumed.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use airpath_model::Duration;
use airpath_network::LimitedTimes;
use nix::libc;

/// One connection at one instant. Times in microseconds, rates in bytes per second, windows in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// State of the connection (1 established, 7 closed, …).
    pub state: u8,
    /// State of congestion control: 0 open, 1 disorder, 2 window reduced, 3 recovery, 4 loss.
    pub congestion_state: u8,
    /// Size of its segments' payload, bytes.
    pub segment_bytes: u32,
    /// Segments sent and not acknowledged.
    pub unacknowledged: u32,
    /// Of these, selectively acknowledged.
    pub selectively_acknowledged: u32,
    /// Of these, considered lost.
    pub lost: u32,
    /// Of these, retransmitted.
    pub retransmitted: u32,
    /// Smoothed round-trip time, µs; 0 before the first sample.
    pub smoothed_rtt_us: u32,
    /// Slow-start threshold, segments; `None` while it is infinite.
    pub slow_start_threshold: Option<u32>,
    /// Congestion window, segments.
    pub congestion_window: u32,
    /// Segments retransmitted since the connection began.
    pub retransmissions: u32,
    /// Pacing rate, bytes per second; computed even if it is not enforced. Since Linux 3.15.
    pub pacing_rate: Option<u64>,
    /// Bytes acknowledged, since the connection began. Since Linux 4.1.
    pub bytes_acknowledged: Option<u64>,
    /// Bytes received in order since the connection began; the other side's FIN counts as one. Since Linux
    /// 4.1.
    pub bytes_received: Option<u64>,
    /// Bytes written but not yet sent. Since Linux 4.6.
    pub not_sent_bytes: Option<u32>,
    /// Smallest round-trip time, µs. Since Linux 4.6.
    pub minimum_rtt_us: Option<u32>,
    /// Data segments sent, including retransmissions. Since Linux 4.6.
    pub data_segments_sent: Option<u32>,
    /// Time with data to send, µs. Since Linux 4.10.
    pub busy_us: Option<u64>,
    /// Time limited by the receive window, µs. Since Linux 4.10.
    pub receive_window_limited_us: Option<u64>,
    /// Time limited by the send buffer, µs. Since Linux 4.10.
    pub send_buffer_limited_us: Option<u64>,
    /// Segments delivered with a congestion mark. Since Linux 4.18.
    pub delivered_marked: Option<u32>,
    /// Bytes of data sent, including retransmissions. Since Linux 4.19.
    pub bytes_sent: Option<u64>,
    /// Bytes of data retransmitted. Since Linux 4.19.
    pub bytes_retransmitted: Option<u64>,
    /// Retransmission timeouts. Since Linux 6.7.
    pub timeouts: Option<u16>,
}

/// The kernel's infinite slow-start threshold.
const INFINITE_THRESHOLD: u32 = 0x7fff_ffff;
/// A shorter structure would be from a kernel older than namespaces.
const LEAST: usize = 104;

impl TcpInfo {
    /// Reads the kernel's report on a connection.
    ///
    /// # Errors
    /// If the kernel returns an error; for example if the descriptor is not a TCP socket.
    pub fn of(socket: impl AsFd) -> io::Result<Self> {
        let mut buffer = [0; 512];
        let length = get_tcp_info(socket, &mut buffer)?;
        Self::parse(&buffer[..length])
            .ok_or_else(|| io::Error::other(format!("the kernel gave only {length} bytes of TCP_INFO")))
    }

    /// Parses the bytes that the kernel wrote; returns `None` if they are too few for any version.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < LEAST {
            return None;
        }
        let fields = Fields(bytes);
        let always = |at: usize| fields.u32(at).unwrap_or_default();
        Some(Self {
            state: bytes[0],
            congestion_state: bytes[1],
            segment_bytes: always(16),
            unacknowledged: always(24),
            selectively_acknowledged: always(28),
            lost: always(32),
            retransmitted: always(36),
            smoothed_rtt_us: always(68),
            slow_start_threshold: Some(always(76)).filter(|&segments| segments < INFINITE_THRESHOLD),
            congestion_window: always(80),
            retransmissions: always(100),
            pacing_rate: fields.u64(104),
            bytes_acknowledged: fields.u64(120),
            bytes_received: fields.u64(128),
            not_sent_bytes: fields.u32(144),
            minimum_rtt_us: fields.u32(148).filter(|&microseconds| microseconds != u32::MAX),
            data_segments_sent: fields.u32(156),
            busy_us: fields.u64(168),
            receive_window_limited_us: fields.u64(176),
            send_buffer_limited_us: fields.u64(184),
            delivered_marked: fields.u32(196),
            bytes_sent: fields.u64(200),
            bytes_retransmitted: fields.u64(208),
            timeouts: fields.u16(240),
        })
    }

    /// Returns the bytes in flight: sent, and neither acknowledged in any way nor considered lost (RFC 6675's
    /// pipe).
    pub fn in_flight_bytes(&self) -> u64 {
        let left = u64::from(self.selectively_acknowledged) + u64::from(self.lost);
        let segments = (u64::from(self.unacknowledged) + u64::from(self.retransmitted)).saturating_sub(left);
        segments.saturating_mul(self.segment_bytes.into())
    }

    /// Returns what has limited the sender, without the total; `None` if the kernel does not report it.
    pub(crate) fn limited_times(&self) -> Option<LimitedTimes> {
        Some(LimitedTimes {
            total: Duration::ZERO,
            busy: Duration::from_micros(self.busy_us?),
            receive_window: Duration::from_micros(self.receive_window_limited_us?),
            send_buffer: Duration::from_micros(self.send_buffer_limited_us?),
        })
    }

    /// Returns whether the window grows exponentially, because it is below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.slow_start_threshold.is_none_or(|threshold| self.congestion_window < threshold)
    }
}

/// Numbers in native byte order at fixed offsets, as far as the kernel wrote.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn at<const SIZE: usize>(&self, at: usize) -> Option<[u8; SIZE]> {
        self.0.get(at..at + SIZE)?.try_into().ok()
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.at(at).map(u16::from_ne_bytes)
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.at(at).map(u32::from_ne_bytes)
    }

    fn u64(&self, at: usize) -> Option<u64> {
        self.at(at).map(u64::from_ne_bytes)
    }
}

/// Makes the kernel write `TCP_INFO` into `buffer`. Returns the number of bytes written.
fn get_tcp_info(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(buffer.len()).unwrap_or(libc::socklen_t::MAX);
    // No safe library returns this structure with the length that the kernel wrote.
    #[expect(unsafe_code, reason = "the kernel writes into a buffer whose length it is told")]
    // SAFETY: the descriptor lives for the call; `buffer` may be written for `length` bytes, and `length`
    // itself too.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            buffer.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result == 0 { Ok((length as usize).min(buffer.len())) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;

    /// Returns a structure in which each field has a distinct number.
    fn bytes() -> Vec<u8> {
        let mut bytes = vec![1, 3, 0, 0, 0, 0, 0, 0];
        bytes.extend((2_u32..26).flat_map(|word| (word * 1000).to_ne_bytes()));
        bytes.extend((13_u64..30).flat_map(|word| (word * 1_000_000).to_ne_bytes()));
        bytes.extend([7_u16, 8].iter().flat_map(|half| half.to_ne_bytes()));
        bytes.extend(99_u32.to_ne_bytes());
        bytes
    }

    #[test]
    fn inconsistent_bytes_in_flight_are_bounded() {
        let info = TcpInfo::parse(&[0xff; 104]).unwrap();
        assert_eq!(info.in_flight_bytes(), 0, "all is lost, too");
        let mut bytes = [0xff; 104];
        bytes[28..36].fill(0);
        assert_eq!(TcpInfo::parse(&bytes).unwrap().in_flight_bytes(), u64::MAX);
    }

    #[test]
    fn fields_have_the_offsets_of_the_kernel() {
        let info = TcpInfo::parse(&bytes()).unwrap();
        assert_eq!((info.state, info.congestion_state), (1, 3));
        assert_eq!((info.segment_bytes, info.unacknowledged), (4000, 6000));
        assert_eq!((info.smoothed_rtt_us, info.slow_start_threshold), (17_000, Some(19_000)));
        assert_eq!((info.congestion_window, info.retransmissions), (20_000, 25_000));
        assert_eq!((info.pacing_rate, info.bytes_acknowledged), (Some(13_000_000), Some(15_000_000)));
        assert_eq!((info.bytes_received, info.bytes_sent), (Some(16_000_000), Some(25_000_000)));
        assert_eq!((info.bytes_retransmitted, info.timeouts), (Some(26_000_000), Some(7)));
    }

    #[test]
    fn any_length_is_read_as_far_as_possible() {
        let whole = bytes();
        for length in 0..whole.len() {
            let info = TcpInfo::parse(&whole[..length]);
            assert_eq!(info.is_some(), length >= LEAST, "{length} bytes");
            let Some(info) = info else { continue };
            assert_eq!(info.pacing_rate.is_some(), length >= 112, "{length} bytes");
            assert_eq!(info.timeouts.is_some(), length >= 242, "{length} bytes");
            assert_eq!(info.congestion_window, 20_000, "{length} bytes");
        }
    }

    #[test]
    fn an_infinite_threshold_is_none_and_flight_is_never_negative() {
        let mut bytes = bytes();
        bytes[76..80].copy_from_slice(&INFINITE_THRESHOLD.to_ne_bytes());
        bytes[28..32].copy_from_slice(&1_000_000_u32.to_ne_bytes());
        let info = TcpInfo::parse(&bytes).unwrap();
        assert_eq!(info.slow_start_threshold, None);
        assert!(info.in_slow_start());
        assert_eq!(info.in_flight_bytes(), 0);
    }

    #[test]
    fn a_loopback_connection_reports_its_sent_bytes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        sender.write_all(&[0; 5000]).unwrap();
        receiver.read_exact(&mut [0; 5000]).unwrap();
        sender.write_all(&[0]).unwrap();
        receiver.read_exact(&mut [0]).unwrap();
        let info = TcpInfo::of(&sender).unwrap();
        assert_eq!(info.state, 1);
        assert!(info.congestion_window >= 2 && info.segment_bytes > 500, "{info:?}");
        assert!(info.bytes_acknowledged.is_none_or(|bytes| (5001..=5002).contains(&bytes)), "{info:?}");
        assert!(info.smoothed_rtt_us > 0, "{info:?}");
    }

    #[test]
    fn other_sockets_are_rejected() {
        assert!(TcpInfo::of(UdpSocket::bind("127.0.0.1:0").unwrap()).is_err());
    }
}
