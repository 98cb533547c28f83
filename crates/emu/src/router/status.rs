//! Observations of the daemon at a router (`airpathd router`, `docs/reference/linux/daemon.md`). A thread
//! inside the router's namespace, where the daemon listens, queries it just before the end of each interval
//! of the series.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use airpath_model::{Duration, Timestamp};
use airpath_os_linux::{Context, Scheduling, keep_off, run_observer_in_real_time};
use serde_json::Value;

use super::Router;
use crate::clock::Clock;
use crate::error::EmulationError;
use crate::host::DEVICE;
use crate::link_thread::Request;
use crate::source::sampling::instant;

/// Queries a daemon during an emulation.
#[derive(Debug)]
pub(crate) struct Listener {
    stop: Arc<AtomicBool>,
    counts: Arc<Counts>,
    thread: Option<JoinHandle<()>>,
}

/// Number of answered and of unanswered queries.
#[derive(Debug, Default)]
struct Counts {
    answered: AtomicU64,
    silent: AtomicU64,
}

/// Timeout of a query; a daemon that does not answer is queried again in the next interval.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(50);
/// A timeout of zero would mean no timeout.
const SHORTEST_WAIT: std::time::Duration = std::time::Duration::from_millis(1);
/// Largest answer in bytes.
const LARGEST_ANSWER: u64 = 1 << 20;
/// The longest sleep, which bounds the reaction time to the stop flag.
const LONGEST_SLEEP: std::time::Duration = std::time::Duration::from_millis(20);

impl Listener {
    /// Starts the queries; `scheduling` is that of the link thread.
    ///
    /// # Errors
    /// If the namespace cannot be entered or a thread cannot be started.
    pub(crate) fn start(
        router: &Router,
        clock: Clock,
        interval: Duration,
        requests: Sender<Request>,
        scheduling: &Scheduling,
    ) -> Result<Self, EmulationError> {
        let (link, scheduling) = (router.link(), scheduling.clone());
        let (stop, counts) = (Arc::new(AtomicBool::new(false)), Arc::new(Counts::default()));
        let (wish, counted) = (Arc::clone(&stop), Arc::clone(&counts));
        let name = format!("router/{DEVICE}");
        let work = move || {
            if let Some(processor) = scheduling.processor {
                keep_off(processor);
            }
            if scheduling.realtime {
                run_observer_in_real_time();
            }
            let mut end = Timestamp::ZERO + interval;
            while sleep_until(instant(end, interval), clock, &wish) {
                match observed(&name, PATIENCE) {
                    Ok(observed) => {
                        counted.answered.fetch_add(1, Ordering::Relaxed);
                        // Fails only after the end, when the answer is no longer needed.
                        let _ = requests.send(Box::new(move |exchange| {
                            exchange.network().observe_outside(link, end, &observed);
                        }));
                    }
                    Err(_) => {
                        counted.silent.fetch_add(1, Ordering::Relaxed);
                    }
                }
                // Intervals that passed in the meantime are left out.
                while end <= clock.now() || instant(end, interval) <= clock.now() {
                    end += interval;
                }
            }
        };
        // A thread that is started inside the namespace stays there.
        let start = || thread::Builder::new().name("airpath-router".to_owned()).spawn(work);
        let thread = router.enter(start)?.context("a thread")?;
        Ok(Self { stop, counts, thread: Some(thread) })
    }

    /// Stops the queries; returns the number of answered and of unanswered ones.
    pub(crate) fn finish(mut self) -> (u64, u64) {
        self.end();
        (self.counts.answered.load(Ordering::Relaxed), self.counts.silent.load(Ordering::Relaxed))
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It has no further results.
            let _ = thread.join();
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sleeps until `at`; returns `false` if it should stop.
fn sleep_until(at: Timestamp, clock: Clock, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let left = at.since(clock.now());
        if left.is_zero() {
            return true;
        }
        thread::sleep(std::time::Duration::from_nanos(left.as_nanos()).min(LONGEST_SLEEP));
    }
}

/// Returns the observations of the daemon `name` in this thread's namespace, by name, if it answers within
/// `patience`.
fn observed(name: &str, patience: std::time::Duration) -> io::Result<Vec<(String, f64)>> {
    let until = Instant::now() + patience;
    loop {
        match ask(name, until) {
            // The daemon waits for a query for less time than this thread for its answer, so a delayed query
            // is repeated.
            Err(error) if was_not_heard(&error) && Instant::now() < until => {}
            answer => return Ok(quantities(&serde_json::from_str(&answer?)?)),
        }
    }
}

/// Returns the answer of a daemon, if it arrives before `until`.
fn ask(name: &str, until: Instant) -> io::Result<String> {
    let address = SocketAddr::from_abstract_name(format!("airpathd/{name}"))?;
    let mut stream = UnixStream::connect_addr(&address)?;
    let left = until.saturating_duration_since(Instant::now()).max(SHORTEST_WAIT);
    stream.set_read_timeout(Some(left))?;
    stream.set_write_timeout(Some(left))?;
    writeln!(stream, "status")?;
    let mut answer = String::new();
    match BufReader::new(stream.take(LARGEST_ANSWER)).read_line(&mut answer)? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        _ => Ok(answer),
    }
}

/// Returns whether the daemon closed the connection before it read the query.
fn was_not_heard(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof)
}

/// Returns the numbers of a status under `observed`. Values that are not numbers (the daemon's infinity) are
/// left out.
fn quantities(status: &Value) -> Vec<(String, f64)> {
    let observed = status["observed"].as_object().into_iter().flatten();
    observed.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_numbers_are_kept() {
        let status = serde_json::json!({ "observed": { "load_factor": 0.5, "x1": null }, "intervals": 3 });
        assert_eq!(quantities(&status), [("load_factor".to_owned(), 0.5)]);
        assert_eq!(quantities(&Value::Null), []);
    }

    /// Listens under the name of a daemon, closes the first `guests` connections, and answers the next.
    fn daemon_that_closes(guests: usize) -> String {
        let name = format!("router/test-{}-{guests}", std::process::id());
        let address = SocketAddr::from_abstract_name(format!("airpathd/{name}")).unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        thread::spawn(move || {
            for _ in 0..guests {
                drop(listener.accept().unwrap());
            }
            let (mut stream, _) = listener.accept().unwrap();
            BufReader::new(&stream).read_line(&mut String::new()).unwrap();
            writeln!(stream, "{}", serde_json::json!({ "observed": { "x1": 2.5 } })).unwrap();
        });
        name
    }

    #[test]
    fn a_request_is_repeated_if_the_daemon_closed_the_connection() {
        for guests in 0..3 {
            let answer = observed(&daemon_that_closes(guests), std::time::Duration::from_secs(30)).unwrap();
            assert_eq!(answer, [("x1".to_owned(), 2.5)], "{guests}");
        }
    }

    #[test]
    fn an_absent_or_unresponsive_daemon_times_out() {
        let began = Instant::now();
        assert_eq!(observed("router/nobody", PATIENCE).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        observed(&daemon_that_closes(usize::MAX), PATIENCE).unwrap_err();
        assert!(began.elapsed() >= PATIENCE);
    }
}
