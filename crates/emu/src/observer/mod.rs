//! The thread that queries the kernel of both hosts for TCP sockets once an interval of the series, and
//! receives notifications of destroyed sockets in between. It thus gets the final state of every connection,
//! even of short ones.
//!
//! It avoids the processor of the link thread and has a lower priority; it sends updates to the link thread
//! in small pieces.

mod ledger;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

use airpath_model::{Duration, Timestamp};
use airpath_os_linux::{Context, Scheduling, keep_off, run_observer_in_real_time};

use crate::address::Side;
use crate::clock::Clock;
use crate::error::EmulationError;
use crate::exchange::Exchange;
use crate::link_thread::Request;
use crate::sock_diag::{SockDiag, Sockets};
use crate::source::sampling::instant;
use ledger::{Ledger, News};

/// The observer of an emulation.
#[derive(Debug)]
pub(crate) struct Observer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Sampled>>,
}

/// Statistics of the queries to the kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Number of queries.
    pub times: u64,
    /// Mean duration of a query of both hosts, in seconds.
    pub mean_s: f64,
    /// Longest duration in seconds.
    pub max_s: f64,
    /// Number of replies that arrived after the end of their interval, so that they are in the next
    /// interval's rows.
    pub late: u64,
    /// Whether both hosts have their own table of sockets. Otherwise the kernel walks the table of the whole
    /// machine for each query (`net.ipv4.tcp_child_ehash_entries`).
    pub own_table: bool,
    /// Why something is missing, in words; empty if nothing is.
    pub missing: String,
}

/// Interval between checks for destroyed sockets.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Queries take at most one part in this many of the time; intervals are skipped if there are too many
/// sockets.
const PART: u64 = 10;
/// Number of updates that are recorded between two packets.
const BATCH: usize = 16;
/// Time to wait for the last notifications at the end.
const LAST_WORDS: Duration = Duration::from_millis(10);

/// The state of the thread.
struct Observation<S> {
    hosts: [S; 2],
    ledger: Ledger,
    clock: Clock,
    interval: Duration,
    requests: Sender<Request>,
    sampled: Sampled,
    /// Incremented when late updates are recorded.
    late: Arc<AtomicU64>,
}

impl Observer {
    /// Starts to observe the connections of a flow of the plan. `scheduling` is that of the link thread.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub(crate) fn start(
        hosts: [SockDiag; 2],
        flow: u32,
        clock: Clock,
        interval: Duration,
        requests: Sender<Request>,
        scheduling: &Scheduling,
    ) -> Result<Self, EmulationError> {
        let scheduling = scheduling.clone();
        let ledger = Ledger::new(flow as usize);
        let own_table = hosts.iter().all(|host| host.own_table);
        let sampled = Sampled { own_table, ..Sampled::default() };
        let late = Arc::default();
        let mut observation = Observation { hosts, ledger, clock, interval, requests, sampled, late };
        let stop = Arc::new(AtomicBool::new(false));
        let wish = Arc::clone(&stop);
        let work = move || {
            if let Some(processor) = scheduling.processor {
                keep_off(processor);
            }
            if scheduling.realtime {
                run_observer_in_real_time();
            }
            if let Err(error) = observation.run(&wish) {
                observation.sampled.missing = format!("the kernel stopped to tell of sockets: {error}");
            }
            Sampled { late: observation.late.load(Ordering::Relaxed), ..observation.sampled }
        };
        let thread =
            thread::Builder::new().name("airpath-sockets".to_owned()).spawn(work).context("a thread")?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Queries one last time. Afterwards, all updates have been sent to the link thread.
    pub(crate) fn finish(mut self) -> Sampled {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        ended
            .unwrap_or_else(|| Sampled { missing: "the observer has ended".to_owned(), ..Sampled::default() })
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its result is no longer needed.
            let _ = thread.join();
        }
    }
}

impl<S: Sockets> Observation<S> {
    fn run(&mut self, stop: &AtomicBool) -> io::Result<()> {
        let mut until = Timestamp::ZERO + self.interval;
        // The duration of a query differs between machines by orders of magnitude; the first one only
        // measures it.
        let took = self.sample()?;
        let mut sample_at = before(instant(until, self.interval), took);
        while !stop.load(Ordering::Relaxed) {
            let now = self.clock.now();
            let due = (sample_at <= now).then_some(until);
            if due.is_some() {
                let took = self.sample()?;
                let earliest = self.clock.now() + took * PART;
                while sample_at < earliest || sample_at <= now {
                    until += self.interval;
                    sample_at = before(instant(until, self.interval), took);
                }
            } else {
                self.look()?;
            }
            self.tell(false, due);
            let wait = sample_at.since(self.clock.now()).min(LOOK_EVERY);
            self.clock.sleep(wait);
        }
        self.sample()?;
        self.clock.sleep(LAST_WORDS);
        self.look()?;
        self.tell(true, None);
        Ok(())
    }

    /// Queries all sockets; returns the duration. Receivers come first, so that the bytes sent are never
    /// fewer than the bytes received.
    fn sample(&mut self) -> io::Result<Duration> {
        let began = self.clock.now();
        self.ledger.ask_all();
        for side in [Side::Receivers, Side::Senders] {
            for socket in self.hosts[side.index()].sockets()? {
                self.ledger.hear(side, socket, true);
            }
        }
        self.ledger.all_asked();
        let took = self.clock.now().since(began);
        let Sampled { times, mean_s, max_s, .. } = &mut self.sampled;
        *times += 1;
        *mean_s += (took.as_secs_f64() - *mean_s) / *times as f64;
        *max_s = max_s.max(took.as_secs_f64());
        // Sockets that were destroyed in the meantime are reported as such, even if the dump contained them.
        self.look()?;
        Ok(took)
    }

    /// Reads the notifications of destroyed sockets.
    fn look(&mut self) -> io::Result<()> {
        for side in Side::BOTH {
            let (sockets, missing) = self.hosts[side.index()].destroyed()?;
            for socket in sockets {
                self.ledger.hear(side, socket, false);
            }
            if missing {
                "the kernel told of more ends of sockets than there was room for"
                    .clone_into(&mut self.sampled.missing);
            }
        }
        Ok(())
    }

    /// Sends updates to the link thread, which should record them by the end of the interval of the query.
    fn tell(&mut self, last: bool, due: Option<Timestamp>) {
        let mut news = self.ledger.news(last).into_iter().peekable();
        while news.peek().is_some() {
            let some: Vec<News> = news.by_ref().take(BATCH).collect();
            let is_last = news.peek().is_none();
            let (clock, late) = (self.clock, Arc::clone(&self.late));
            let record = move |exchange: &mut Exchange| {
                for one in some {
                    one.record(exchange);
                }
                let comes_late = is_last && due.is_some_and(|due| clock.now() >= due);
                late.fetch_add(u64::from(comes_late), Ordering::Relaxed);
            };
            // Fails only after the end, when there is nothing left to report.
            let _ = self.requests.send(Box::new(record));
        }
    }
}

fn before(instant: Timestamp, span: Duration) -> Timestamp {
    Timestamp::from_nanos(instant.as_nanos().saturating_sub(span.as_nanos()))
}

#[cfg(test)]
mod tests;
