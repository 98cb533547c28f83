//! The kernel's reports on connections so far, and the part that is new for the tables.

use std::collections::BTreeMap;

use airpath_model::Timestamp;
use airpath_network::{FlowState, FlowSummary, LimitedTimes};

use crate::address::{Side, flow_of};
use crate::connection_flows::Connection;
use crate::exchange::Exchange;
use crate::sock_diag::TcpSocket;
use crate::source::report::add_connection;
use crate::source::sampling;

/// All connections between a flow's addresses whose reports are incomplete.
#[derive(Debug)]
pub(crate) struct Ledger {
    flow: usize,
    connections: BTreeMap<Connection, Known>,
}

/// The state of one connection; arrays are indexed by [`Side::index`].
#[derive(Debug, Default)]
struct Known {
    ends: [Option<End>; 2],
    /// The cookies of the previous connection between the same ports.
    former: [Option<u64>; 2],
    /// Bytes from each side that the other side's application has read, as far as reported.
    delivered: [u64; 2],
    /// Whether there is new information since the last report.
    heard: bool,
}

#[derive(Debug)]
struct End {
    socket: TcpSocket,
    /// Whether the socket still exists.
    open: bool,
    /// Whether the last dump of all sockets contained it: it still has a connection.
    connected: bool,
}

/// New information on the data of one side in a connection.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct News {
    connection: Connection,
    from: Side,
    /// Bytes that the other side's application has read since the last call of [`Ledger::news`].
    goodput_bytes: u64,
    sender: Option<SenderNews>,
}

/// The report of the sending socket.
#[derive(Clone, Debug, PartialEq)]
struct SenderNews {
    state: FlowState,
    /// Summary of the whole connection, without its start time.
    summary: FlowSummary,
    busy_s: f64,
    /// What has limited it, without the total; `None` if the connection has ended, or is not reported on.
    limited: Option<LimitedTimes>,
    congestion_control: Option<String>,
}

impl Ledger {
    /// Creates a ledger for connections between the addresses of a flow of the plan.
    pub(super) const fn new(flow: usize) -> Self {
        Self { flow, connections: BTreeMap::new() }
    }

    /// Records the kernel's report on a socket at one side, which still exists or was just destroyed.
    pub(super) fn hear(&mut self, side: Side, socket: TcpSocket, open: bool) {
        if flow_of(side, *socket.here.ip(), *socket.there.ip()) != Some(self.flow) {
            return; // a connection within a host
        }
        let connection = Connection::between(side, socket.here, socket.there);
        let known = self.connections.entry(connection).or_default();
        if known.former[side.index()] == Some(socket.cookie) {
            return;
        }
        if known.ends[side.index()].as_ref().is_some_and(|end| end.socket.cookie != socket.cookie) {
            let former = known.ends.each_ref().map(|end| end.as_ref().map(|end| end.socket.cookie));
            *known = Known { former, ..Known::default() };
        }
        known.heard = true;
        match &mut known.ends[side.index()] {
            Some(end) => end.update(socket, open),
            end @ None => *end = Some(End { socket, open, connected: open }),
        }
    }

    /// Starts a dump of the sockets of all hosts: sockets that are not reported until [`Ledger::all_asked`]
    /// have no connection any more, though a process may still hold them.
    pub(super) fn ask_all(&mut self) {
        let ends = self.connections.values_mut().flat_map(|known| known.ends.iter_mut().flatten());
        ends.for_each(|end| end.connected = false);
    }

    /// Ends a dump of all sockets.
    pub(super) fn all_asked(&mut self) {
        for known in self.connections.values_mut() {
            known.heard |= known.ends.iter().flatten().any(|end| end.open && !end.connected);
        }
    }

    /// Returns the new information. The `last` call does not wait for missing reports: it includes the data
    /// of a sender if only the receiver is known.
    pub(super) fn news(&mut self, last: bool) -> Vec<News> {
        let mut news = Vec::new();
        for (connection, known) in &mut self.connections {
            if last || std::mem::take(&mut known.heard) {
                news.extend(Side::BOTH.map(|from| known.news(*connection, from, last)));
            }
        }
        // There are no further reports on connections with two destroyed sockets.
        let open = |end: &Option<End>| end.as_ref().is_none_or(|end| end.open);
        self.connections.retain(|_, known| known.ends.iter().any(open));
        news
    }
}

impl Known {
    fn news(&mut self, connection: Connection, from: Side, last: bool) -> News {
        let (sender, receiver) = (&self.ends[from.index()], &self.ends[from.other().index()]);
        let delivered = delivered(sender.as_ref(), receiver.as_ref(), last).unwrap_or_default();
        let told = &mut self.delivered[from.index()];
        let goodput_bytes = delivered.saturating_sub(*told);
        *told += goodput_bytes;
        News { connection, from, goodput_bytes, sender: sender.as_ref().map(End::news) }
    }
}

/// Returns the bytes that the application of a receiver has read, or `None` if they are not known, or not
/// yet. The kernel counts the FIN of the other side as a byte, so the result is at most the number of bytes
/// that the sender's kernel has sent.
fn delivered(sender: Option<&End>, receiver: Option<&End>, last: bool) -> Option<u64> {
    let TcpSocket { info, unread_bytes, .. } = &receiver?.socket;
    let read = info.bytes_received?.saturating_sub(u64::from(*unread_bytes));
    let Some(End { socket: TcpSocket { info, .. }, .. }) = sender else { return last.then_some(read) };
    let sent = info.bytes_sent.zip(info.bytes_retransmitted).map(|(sent, again)| sent.saturating_sub(again));
    Some(sent.map_or(read, |sent| read.min(sent)))
}

impl End {
    /// Updates the state from a report on the socket. The kernel clears the counters of an aborted connection
    /// before its last report; earlier values are then kept.
    fn update(&mut self, mut socket: TcpSocket, open: bool) {
        self.open &= open;
        self.connected = open;
        let (was, is) = (&self.socket.info, &socket.info);
        if is.bytes_sent < was.bytes_sent || is.bytes_received < was.bytes_received {
            return;
        }
        socket.congestion_control = socket.congestion_control.or(self.socket.congestion_control.take());
        self.socket = socket;
    }

    fn news(&self) -> SenderNews {
        let TcpSocket { info, congestion_control, .. } = &self.socket;
        let mut summary = FlowSummary::begun(Timestamp::NEVER);
        add_connection(&mut summary, info);
        let state = if self.open && self.connected {
            let sending = info.unacknowledged > 0 || info.not_sent_bytes.is_none_or(|bytes| bytes > 0);
            let congestion_control = congestion_control.as_deref().unwrap_or_default();
            FlowState { active: sending, ..sampling::state(info, congestion_control) }
        } else {
            FlowState::unknown(false)
        };
        let busy_s = info.busy_us.map_or(f64::NAN, |microseconds| microseconds as f64 * 1e-6);
        let limited = info.limited_times().filter(|_| self.open && self.connected);
        SenderNews { state, summary, busy_s, limited, congestion_control: congestion_control.clone() }
    }
}

impl News {
    /// Writes the new information to the tables, if the side has sent data.
    pub(super) fn record(self, exchange: &mut Exchange) {
        let Some((sent, network)) = exchange.sent_by(&self.connection, self.from) else { return };
        network.on_goodput(sent.flow, self.goodput_bytes);
        if let Some(SenderNews { state, summary, busy_s, limited, congestion_control }) = self.sender {
            network.set_flow_state(sent.flow, state);
            if let Some(times) = limited {
                let total = network.now().since(sent.summary.start);
                network.set_limited_times(sent.flow, LimitedTimes { total, ..times });
            }
            network.set_flow_summary(sent.flow, summary);
            sent.summary = FlowSummary { start: sent.summary.start, ..summary };
            sent.busy_s = busy_s;
            sent.congestion_control = congestion_control;
            sent.told = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddrV4;

    use super::*;
    use crate::tcp_info::TcpInfo;

    fn socket(side: Side, cookie: u64, sent: u64, received: u64, unread_bytes: u32) -> TcpSocket {
        let end = |side: Side| SocketAddrV4::new(side.address(0).unwrap(), 1000 + side.index() as u16);
        let info = TcpInfo {
            bytes_sent: Some(sent),
            bytes_retransmitted: Some(0),
            bytes_received: Some(received),
            data_segments_sent: Some((sent / 1000) as u32),
            not_sent_bytes: Some(0),
            ..TcpInfo::default()
        };
        TcpSocket {
            here: end(side),
            there: end(side.other()),
            cookie,
            unread_bytes,
            congestion_control: Some("cubic".to_owned()),
            info,
        }
    }

    /// Returns the new information on the data of senders.
    fn of_senders(ledger: &mut Ledger, last: bool) -> Option<News> {
        ledger.news(last).into_iter().find(|news| news.from == Side::Senders)
    }

    #[test]
    fn bytes_read_are_reported_once_and_a_fin_is_no_byte() {
        let mut ledger = Ledger::new(0);
        ledger.hear(Side::Receivers, socket(Side::Receivers, 2, 0, 3000, 1000), true);
        assert_eq!(of_senders(&mut ledger, false).unwrap().goodput_bytes, 0, "the sender is not known yet");
        ledger.hear(Side::Senders, socket(Side::Senders, 1, 5000, 0, 0), true);
        let news = of_senders(&mut ledger, false).unwrap();
        assert_eq!(news.goodput_bytes, 2000);
        assert_eq!(news.sender.unwrap().summary.sent_packets, 5);
        assert_eq!(ledger.news(false), [], "there were no new counters");
        ledger.hear(Side::Receivers, socket(Side::Receivers, 2, 0, 5001, 0), false);
        assert_eq!(of_senders(&mut ledger, false).unwrap().goodput_bytes, 3000);
        ledger.hear(Side::Senders, socket(Side::Senders, 1, 5000, 0, 0), false);
        let news = of_senders(&mut ledger, false).unwrap();
        assert_eq!((news.goodput_bytes, news.sender.unwrap().state.active), (0, false));
        assert!(ledger.connections.is_empty(), "both endpoints are closed");
    }

    #[test]
    fn a_receiver_without_a_sender_is_accepted_at_the_end() {
        let mut ledger = Ledger::new(0);
        ledger.hear(Side::Receivers, socket(Side::Receivers, 2, 0, 700, 0), false);
        assert_eq!(of_senders(&mut ledger, false).unwrap().goodput_bytes, 0);
        assert_eq!(of_senders(&mut ledger, true).unwrap().goodput_bytes, 700);
    }

    #[test]
    fn a_connection_between_the_same_ports_is_another() {
        let mut ledger = Ledger::new(0);
        for (cookies, bytes) in [([1, 2], 4000), ([3, 4], 1000)] {
            ledger.hear(Side::Senders, socket(Side::Senders, cookies[0], bytes, 0, 0), true);
            ledger.hear(Side::Receivers, socket(Side::Receivers, cookies[1], 0, bytes, 0), true);
            assert_eq!(of_senders(&mut ledger, false).unwrap().goodput_bytes, bytes);
        }
        // The end of the first connection is reported late.
        ledger.hear(Side::Receivers, socket(Side::Receivers, 2, 0, 4001, 0), false);
        assert_eq!(ledger.news(false), []);
    }

    #[test]
    fn a_socket_without_a_connection_sends_nothing() {
        let mut ledger = Ledger::new(0);
        let sending = || {
            let mut sending = socket(Side::Senders, 1, 9000, 0, 0);
            sending.info.unacknowledged = 3;
            sending
        };
        let active =
            |ledger: &mut Ledger| of_senders(ledger, false).map(|news| news.sender.unwrap().state.active);
        ledger.ask_all();
        ledger.hear(Side::Senders, sending(), true);
        ledger.all_asked();
        assert_eq!(active(&mut ledger), Some(true));
        ledger.ask_all();
        ledger.all_asked();
        assert_eq!(active(&mut ledger), Some(false), "it was not among all");
        ledger.hear(Side::Senders, sending(), false);
        assert_eq!(active(&mut ledger), Some(false));
    }

    #[test]
    fn cleared_counters_are_ignored() {
        let mut ledger = Ledger::new(0);
        ledger.hear(Side::Senders, socket(Side::Senders, 1, 9000, 0, 0), true);
        ledger.hear(
            Side::Senders,
            TcpSocket { congestion_control: None, ..socket(Side::Senders, 1, 0, 0, 0) },
            false,
        );
        let sender = of_senders(&mut ledger, false).unwrap().sender.unwrap();
        assert_eq!((sender.summary.sent_packets, sender.state.active), (9, false));
        assert_eq!(sender.congestion_control.as_deref(), Some("cubic"));
    }

    #[test]
    fn connections_within_a_host_and_of_other_flows_do_not_count() {
        let mut ledger = Ledger::new(0);
        let mut within = socket(Side::Senders, 1, 9000, 0, 0);
        within.there = within.here;
        ledger.hear(Side::Senders, within, true);
        let mut other = socket(Side::Senders, 1, 9000, 0, 0);
        other.here = SocketAddrV4::new(Side::Senders.address(1).unwrap(), 1);
        other.there = SocketAddrV4::new(Side::Receivers.address(1).unwrap(), 1);
        ledger.hear(Side::Senders, other, true);
        assert_eq!(ledger.news(true), []);
    }
}
