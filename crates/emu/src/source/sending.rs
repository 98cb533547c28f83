//! The sources at the senders' host.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};

use airpath_model::{Bytes, Timestamp};
use airpath_network::{FlowState, LimitedTimes};
use airpath_plan::Part;
use airpath_plan::workload::{Datagrams, Files, Sending, Workload};
use nix::sys::epoll::EpollFlags;

use super::outgoing::{Outgoing, Progress, WRITING};
use super::receiving::DATAGRAM_HEADERS;
use super::report::{Report, SourceSummary};
use super::settings::TcpSettings;
use super::wakeups::{Token, Wakeups};
use super::{sampling, sockets};
use crate::address::Side;
use crate::error::EmulationError;
use crate::host::MTU;
use crate::tcp_info::TcpInfo;

/// One source: a flow of the plan, or one of the many that arrive at random.
#[derive(Debug)]
pub(super) struct Source {
    flow: usize,
    from: Ipv4Addr,
    to: Ipv4Addr,
    start: Timestamp,
    stop: Timestamp,
    /// End of the run.
    end: Timestamp,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Files(FileSource),
    Datagrams { datagrams: Datagrams, socket: Option<UdpSocket> },
}

/// A source that sends over successive connections.
#[derive(Debug)]
struct FileSource {
    files: Files,
    settings: TcpSettings,
    connection: Option<Outgoing>,
    /// Time of the next file, or of the next write to the connection.
    next_file: Timestamp,
    stopped: bool,
    /// What limited the connections that have ended, without the total.
    limited: LimitedTimes,
    /// End of the last of them.
    ended: Timestamp,
}

impl Source {
    /// Creates a source of a flow of the plan, in a run that ends at `end`.
    pub(super) fn new(
        flow: usize,
        end: Timestamp,
        workload: Workload,
        tcp: Option<TcpSettings>,
    ) -> Result<Self, EmulationError> {
        let addresses = Side::Senders.address(flow).zip(Side::Receivers.address(flow));
        let refused = |problem: String| EmulationError::not_emulated(Part::Run, "flows", problem);
        let (from, to) =
            addresses.ok_or_else(|| refused("they are more than there are addresses".to_owned()))?;
        let Workload { start, stop, sending } = workload;
        let kind = match (sending, tcp) {
            (Sending::Files(files), Some(settings)) => {
                let next_file = if start < stop { start } else { Timestamp::NEVER };
                Kind::Files(FileSource {
                    files,
                    settings,
                    connection: None,
                    next_file,
                    stopped: false,
                    limited: LimitedTimes::NONE,
                    ended: start,
                })
            }
            (Sending::Files(_), None) => {
                return Err(refused(format!("number {flow} needs a congestion control of the kernel")));
            }
            (Sending::Datagrams(datagrams), _) => Kind::Datagrams { datagrams, socket: None },
        };
        Ok(Self { flow, from, to, start, stop, end, kind })
    }

    /// Returns the flow of the plan.
    pub(super) const fn flow(&self) -> usize {
        self.flow
    }

    /// Returns its start time.
    pub(super) const fn start(&self) -> Timestamp {
        self.start
    }

    /// Returns the time of its next wake-up.
    pub(super) fn next_event(&self) -> Timestamp {
        match &self.kind {
            Kind::Files(source) if source.stopped => Timestamp::NEVER,
            Kind::Files(source) => source.next_file.min(self.stop),
            Kind::Datagrams { datagrams, .. } => datagrams.next_event(),
        }
    }

    /// Does everything that is due.
    pub(super) fn wake(
        &mut self,
        now: Timestamp,
        number: usize,
        wakeups: &Wakeups,
        summary: &mut SourceSummary,
    ) {
        let done = match &mut self.kind {
            Kind::Files(_) => self.wake_files(now, number, wakeups, summary),
            Kind::Datagrams { datagrams, socket } => {
                let (from, to) = (self.from, self.to);
                send_datagrams(datagrams, socket, (from, to), (now, self.end), self.flow, summary)
            }
        };
        if let Err(error) = done {
            summary.fault(self.flow, &error.to_string());
            self.give_up();
        }
    }

    fn wake_files(
        &mut self,
        now: Timestamp,
        number: usize,
        wakeups: &Wakeups,
        summary: &mut SourceSummary,
    ) -> io::Result<()> {
        let Kind::Files(source) = &mut self.kind else { return Ok(()) };
        if self.stop <= now && !source.stopped {
            source.stopped = true;
            source.next_file = Timestamp::NEVER;
            if let Some(connection) = &mut source.connection {
                connection.end(Token::Source(number), wakeups)?;
            }
        }
        if source.next_file <= now {
            // Writes keep their schedule if the thread is late.
            let interval = source.files.next_interval();
            source.next_file = interval.map_or(Timestamp::NEVER, |interval| source.next_file + interval);
            let size = source.files.next_size().get();
            if let Some(connection) = &mut source.connection {
                return connection.add(size, Token::Source(number), wakeups);
            }
            let transfer = summary.begin_transfer(self.flow);
            let stream = sockets::connection(self.from, self.to, &source.settings)?;
            wakeups.watch(&stream, WRITING, Token::Source(number))?;
            source.connection = Some(Outgoing::new(stream, transfer, now, (size, source.files.is_endless())));
        }
        Ok(())
    }

    /// Handles an event of its connection.
    pub(super) fn on_event(
        &mut self,
        now: Timestamp,
        events: EpollFlags,
        number: usize,
        wakeups: &Wakeups,
        summary: &mut SourceSummary,
        reports: &dyn Fn(Report),
    ) {
        let Kind::Files(source) = &mut self.kind else { return };
        let Some(connection) = &mut source.connection else { return };
        match connection.on_event(events, Token::Source(number), wakeups) {
            Ok(Progress::Open) => return,
            Ok(Progress::Complete) => {
                reports(Report::Completion {
                    flow: self.flow as u32,
                    transfer: connection.transfer,
                    start: connection.began,
                    end: now,
                    size: Bytes::new(connection.size),
                });
            }
            Ok(Progress::Stopped) => {}
            Err(error) => summary.fault(self.flow, &format!("a connection broke: {error}")),
        }
        self.count(summary);
        let Kind::Files(source) = &mut self.kind else { return };
        source.limited = source.limited_with(source.report().as_ref()).unwrap_or(source.limited);
        source.connection = None;
        source.ended = now;
        if !source.stopped
            && let Some(pause) = source.files.next_pause()
        {
            source.next_file = now + pause;
        }
    }

    /// Adds the current connection to the summary.
    pub(super) fn count(&self, summary: &mut SourceSummary) {
        if let Kind::Files(FileSource { connection: Some(connection), settings, .. }) = &self.kind
            && let Ok(mut info) = TcpInfo::of(&connection.stream)
        {
            if settings.receive_window.is_some() {
                info.receive_window_limited_us = None; // the scenario limits the window intentionally
            }
            summary.add(self.flow, &info);
        }
    }

    /// Returns the state for the time series, and what has limited the sender since its start.
    pub(super) fn sample(&self, now: Timestamp) -> (FlowState, Option<LimitedTimes>) {
        match &self.kind {
            Kind::Files(source) => source.sample(now, self.start),
            Kind::Datagrams { datagrams, .. } => (FlowState::unknown(datagrams.is_active(now)), None),
        }
    }

    /// Stops sending.
    fn give_up(&mut self) {
        self.stop = Timestamp::ZERO;
        match &mut self.kind {
            Kind::Files(source) => {
                source.connection = None;
                source.next_file = Timestamp::NEVER;
                source.stopped = true;
            }
            Kind::Datagrams { datagrams, .. } => datagrams.stop(),
        }
    }
}

impl FileSource {
    fn sample(&self, now: Timestamp, start: Timestamp) -> (FlowState, Option<LimitedTimes>) {
        let report = self.report();
        let state = match &report {
            None => FlowState::unknown(false),
            Some(Err(_)) => FlowState::unknown(true),
            Some(Ok(info)) => sampling::state(info, &self.settings.congestion_control),
        };
        let end = if self.stopped && report.is_none() { self.ended } else { now };
        let limited = self.limited_with(report.as_ref());
        (state, limited.map(|times| LimitedTimes { total: end.since(start), ..times }))
    }

    /// Returns the kernel's report on the connection.
    fn report(&self) -> Option<io::Result<TcpInfo>> {
        self.connection.as_ref().map(|connection| TcpInfo::of(&connection.stream))
    }

    /// Returns what has limited all connections, without the total; `report` is that on the current one.
    fn limited_with(&self, report: Option<&io::Result<TcpInfo>>) -> Option<LimitedTimes> {
        let Some(report) = report else { return Some(self.limited) };
        Some(self.limited + report.as_ref().ok()?.limited_times()?)
    }
}

/// Sends the datagrams that are due, and were due before the end.
fn send_datagrams(
    datagrams: &mut Datagrams,
    socket: &mut Option<UdpSocket>,
    (from, to): (Ipv4Addr, Ipv4Addr),
    (now, end): (Timestamp, Timestamp),
    flow: usize,
    summary: &mut SourceSummary,
) -> io::Result<()> {
    static NOTHING: [u8; MTU as usize] = [0; MTU as usize];
    loop {
        let due = datagrams.next_event();
        if due >= end {
            return Ok(());
        }
        let Some(datagram) = datagrams.poll(now) else { return Ok(()) };
        if socket.is_none() {
            *socket = Some(sockets::datagrams(from, to)?);
        }
        let Some(socket) = socket else { return Ok(()) };
        let payload = (datagram.size as usize).saturating_sub(DATAGRAM_HEADERS as usize);
        let payload = NOTHING.get(..payload).ok_or_else(|| {
            io::Error::other(format!("a datagram of {} bytes is larger than a packet", datagram.size))
        })?;
        match socket.send(payload) {
            Ok(_) => summary.add_datagram(flow, now.since(due).as_secs_f64()),
            // The device's queue is full, which the device reports as a fault of the run.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}
