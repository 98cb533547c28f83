//! The traffic of a flow of the plan: successive files over connections, or datagrams without a controller.

use airpath_model::{Bytes, Pacing, RandomStream, Rate, Timestamp};
use airpath_network::{FlowState, FlowSummary};
use airpath_plan::workload::{Datagrams, Files};
use quinn_proto::{Connection, ConnectionHandle, Dir, StreamId};

use super::settings::FlowSettings;
use crate::controller::Shared;

/// A source: a flow of the plan, or one of the many that arrive at random.
pub(super) struct Source {
    /// The index of its flow in the plan.
    pub(super) flow: usize,
    pub(super) start: Timestamp,
    pub(super) stop: Timestamp,
    pub(super) kind: Kind,
}

/// The kind of traffic.
pub(super) enum Kind {
    /// Files over connections.
    Files(FileSource),
    /// Datagrams.
    Datagrams(Datagrams),
}

/// Sends over successive connections.
pub(super) struct FileSource {
    pub(super) files: Files,
    pub(super) settings: FlowSettings,
    /// The random stream from which those of the controllers are split off.
    pub(super) random: RandomStream,
    /// Time of the next file, or of the next write to the connection.
    pub(super) next_file: Timestamp,
    pub(super) stopped: bool,
    pub(super) sending: Option<Sending>,
    /// Totals of closed connections.
    pub(super) totals: Totals,
}

/// A sending connection.
pub(super) struct Sending {
    pub(super) handle: ConnectionHandle,
    pub(super) transfer: u32,
    pub(super) began: Timestamp,
    pub(super) size: Bytes,
    pub(super) controller: Shared,
    stream: Option<StreamId>,
    /// Bytes that have not been passed to the stack.
    left: u64,
    /// Whether the data has no end: the stream is never finished.
    endless: bool,
    finished: bool,
}

/// Totals for a flow's row in the tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    sent_packets: u64,
    lost_packets: u64,
    persistent: u64,
    recoveries: u64,
    ecn_reductions: u64,
    srtt_s: f64,
    min_rtt_s: f64,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            sent_packets: 0,
            lost_packets: 0,
            persistent: 0,
            recoveries: 0,
            ecn_reductions: 0,
            srtt_s: f64::NAN,
            min_rtt_s: f64::NAN,
        }
    }
}

/// Quinn's pacing rate as a multiple of the window per round trip (RFC 9002, section 7.7).
const PACING_GAIN: f64 = 1.25;

impl Source {
    /// Returns the time of its next wake-up.
    pub(super) fn next_event(&self) -> Timestamp {
        match &self.kind {
            Kind::Files(files) => {
                files.next_file.min(if files.stopped { Timestamp::NEVER } else { self.stop })
            }
            Kind::Datagrams(datagrams) => datagrams.next_event(),
        }
    }
}

impl FileSource {
    /// Creates a source that has not begun; it is active from start to stop.
    pub(super) fn new(
        files: Files,
        settings: FlowSettings,
        random: RandomStream,
        (start, stop): (Timestamp, Timestamp),
    ) -> Self {
        Self {
            files,
            settings,
            random,
            next_file: if start < stop { start } else { Timestamp::NEVER },
            stopped: false,
            sending: None,
            totals: Totals::default(),
        }
    }
}

impl Sending {
    /// Creates the state of a connection that is being opened to send this many bytes. If the data is
    /// endless, more may follow.
    pub(super) fn new(
        (handle, transfer): (ConnectionHandle, u32),
        began: Timestamp,
        (size, endless): (Bytes, bool),
        controller: Shared,
    ) -> Self {
        let left = size.get();
        Self { handle, transfer, began, size, controller, stream: None, left, endless, finished: false }
    }

    /// Adds data to be sent.
    pub(super) fn add(&mut self, size: Bytes) {
        self.left = self.left.saturating_add(size.get());
    }

    /// Passes to the stack as much as it accepts; `zeros` is the data to send.
    pub(super) fn write(&mut self, connection: &mut Connection, zeros: &bytes::Bytes) {
        if self.finished {
            return;
        }
        let Some(stream) = self.stream.or_else(|| connection.streams().open(Dir::Uni)) else { return };
        self.stream = Some(stream);
        let mut stream = connection.send_stream(stream);
        while self.left > 0 {
            let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(zeros.len());
            // The stack reports when it has space for rejected data; a stream of a closed connection accepts
            // nothing.
            let Ok(written) = stream.write_chunks(&mut [zeros.slice(..most)]) else { return };
            self.left -= written.bytes as u64;
        }
        self.finished = !self.endless && stream.finish().is_ok();
    }

    /// Returns the state for the time series.
    pub(super) fn state(&self) -> FlowState {
        self.controller.with(|driver, probe| {
            driver.settle(probe);
            let (control, rtt) = (driver.control(), driver.rtt());
            let smoothed = (!rtt.smoothed.is_zero()).then_some(rtt.smoothed);
            let paced = || smoothed.map(|smoothed| Rate::over(control.window.mul_f64(PACING_GAIN), smoothed));
            debug_assert!(!matches!(control.pacing, Pacing::At(_)), "refused when the run was built");
            FlowState {
                active: true,
                cwnd: Some(control.window),
                ssthresh: driver.ssthresh(),
                in_flight: Some(driver.in_flight()),
                srtt: smoothed,
                pacing_rate: paced(),
                phase: driver.phase(),
            }
        })
    }
}

impl Totals {
    /// Returns the totals including those of a connection.
    pub(super) fn and(mut self, sending: &Sending, connection: &Connection) -> Self {
        let path = connection.stats().path;
        self.sent_packets += path.sent_packets;
        self.lost_packets += path.lost_packets;
        sending.controller.with(|driver, _| {
            let counters = driver.counters();
            self.persistent += counters.persistent;
            self.recoveries += counters.recoveries;
            self.ecn_reductions += counters.ecn_reductions;
            let rtt = driver.rtt();
            if !rtt.smoothed.is_zero() {
                self.srtt_s = rtt.smoothed.as_secs_f64();
                self.min_rtt_s = self.min_rtt_s.min(rtt.minimum.as_secs_f64()); // skips NaN
            }
        });
        self
    }

    /// Adds the totals to the summary of a flow.
    pub(super) fn add_to(self, summary: &mut FlowSummary) {
        summary.sent_packets += self.sent_packets;
        summary.retransmitted_packets += self.lost_packets;
        summary.timeouts += self.persistent;
        summary.recoveries += self.recoveries;
        summary.ecn_reductions += self.ecn_reductions;
        if !self.srtt_s.is_nan() {
            summary.srtt_s = self.srtt_s;
            summary.min_rtt_s = summary.min_rtt_s.min(self.min_rtt_s);
        }
    }
}
