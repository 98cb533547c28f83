//! The framework of `airpathd`: one daemon for each managed object, with a control socket for its status and
//! its end.
//!
//! A daemon is identified by a name, such as `router/eth1`, which is also its abstract socket in its network
//! namespace. The kernel removes the socket with the process, even if it is killed, so that no file is left
//! behind. It gives the name to one process only, so that a second daemon is refused.

mod netns;
mod schedule;
mod socket;

pub use netns::Namespace;
pub use socket::{Asked, Door, ask, names};

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use schedule::Schedule;
use serde_json::{Value, json};

use crate::Error;

/// The periodic work of a daemon.
pub trait Service {
    /// Returns the time until [`Service::step`] is due; `None` for never.
    fn wait(&self) -> Option<Duration>;

    /// Performs the step that is due. The call may be late.
    fn step(&mut self) -> Result<(), Error>;

    /// Returns the status as a JSON object; numbers in `counters` and `observed` become metrics.
    fn status(&self) -> Value;

    /// Returns one sentence for each current condition of the system that impairs the service, with its
    /// remedy.
    fn warnings(&self) -> Vec<String>;
}

/// Maximum time that a daemon waits for a query of the system. The kernel serializes queries about devices,
/// and delays them while other devices are created and removed.
const LONGEST_LOOK: Duration = Duration::from_secs(1);

/// Returns the result of `look`, run in a separate thread in this thread's network namespace; `None` if it
/// takes too long.
pub(crate) fn looked<T: Send + 'static>(look: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    looked_within(LONGEST_LOOK, look)
}

fn looked_within<T: Send + 'static>(
    patience: Duration,
    look: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (found, finds) = mpsc::channel();
    // A result that comes too late is discarded.
    thread::spawn(move || found.send(look()));
    finds.recv_timeout(patience).ok()
}

/// The warning if the system could not be queried in time.
pub(crate) const NOT_LOOKED_AT: &str =
    "the kernel does not say within a second how the devices are set up: it is busy with others";

/// Blocks the signals that end a daemon in good order, so that none is lost during startup.
pub fn block_signals() -> Result<SignalFd, Error> {
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        signals.add(signal);
    }
    let said = |error: nix::Error| Error::System { action: "cannot wait for signals", source: error.into() };
    signals.thread_block().map_err(said)?;
    SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).map_err(said)
}

/// Runs `service` until a signal or `airpathd detach` ends it, then detaches it and notifies the client that
/// asked for the end. Returns the last status.
pub fn serve<S: Service>(
    mut service: S,
    door: &Door,
    signals: &SignalFd,
    namespace: &Namespace,
) -> Result<Value, Error> {
    let began = Instant::now();
    let mut last_check = began;
    let mut schedule = Schedule::new(began, &service);
    loop {
        let timeout = schedule.timeout(Instant::now()).map(TimeSpec::from);
        let mut waiting =
            [PollFd::new(door.as_fd(), PollFlags::POLLIN), PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut waiting, timeout, None) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(error) => return Err(Error::System { action: "cannot wait", source: error.into() }),
        }
        let [asked, signalled] =
            waiting.map(|one| one.revents().is_some_and(|events| events.contains(PollFlags::POLLIN)));
        if signalled {
            return Ok(service.status());
        }
        schedule.run(Instant::now(), &mut service)?;
        if last_check.elapsed() > Duration::from_secs(1) {
            last_check = Instant::now();
            namespace.check()?;
        }
        if asked {
            let whole = || {
                let mut status = service.status();
                status["name"] = json!(door.name());
                status["pid"] = json!(std::process::id());
                status["uptime_s"] = json!(began.elapsed().as_secs_f64());
                status["steps"] = json!(schedule.steps());
                status["worst_lateness_ms"] = json!(schedule.worst().as_secs_f64() * 1000.0);
                status["warnings"] = json!(service.warnings());
                status
            };
            if let Some(goodbye) = door.answer(whole) {
                let status = service.status();
                drop(service);
                goodbye.say(&json!({ "event": "detached", "name": door.name() }));
                return Ok(status);
            }
        }
    }
}

/// Returns the statuses in the Prometheus text format: every number in `counters` and `observed`, with the
/// daemon's name as a label. The format requires that all samples of a metric are together, under one line
/// with its type.
pub fn metrics(statuses: &[Value]) -> String {
    let mut metrics: BTreeMap<String, (&str, Vec<String>)> = BTreeMap::new();
    for status in statuses {
        let name = status["name"].as_str().unwrap_or_default();
        for (group, kind, suffix) in [("counters", "counter", "_total"), ("observed", "gauge", "")] {
            for (quantity, value) in status[group].as_object().into_iter().flatten() {
                if let Some(value) = value.as_f64() {
                    let metric = format!("airpath_{quantity}{suffix}");
                    let sample = format!("{metric}{{name={name:?}}} {value}\n");
                    metrics.entry(metric).or_insert((kind, Vec::new())).1.push(sample);
                }
            }
        }
    }
    let text = |(metric, (kind, samples)): (_, (_, Vec<String>))| {
        format!("# TYPE {metric} {kind}\n{}", samples.concat())
    };
    metrics.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_samples_are_abandoned() {
        assert_eq!(looked_within(Duration::MAX, || 7), Some(7));
        let (end, waits) = mpsc::channel::<()>();
        assert_eq!(looked_within(Duration::from_millis(1), move || waits.recv().is_ok()), None);
        drop(end);
    }

    #[test]
    fn metrics_are_counters_and_gauges_with_a_name() {
        let status = json!({
            "name": "router/eth1", "pid": 7, "counters": { "packets": 3 }, "observed": { "load_factor": 0.5 },
        });
        let text = metrics(&[status]);
        assert!(text.contains("# TYPE airpath_packets_total counter\n"), "{text}");
        assert!(text.contains("airpath_packets_total{name=\"router/eth1\"} 3\n"), "{text}");
        assert!(text.contains("airpath_load_factor{name=\"router/eth1\"} 0.5\n"), "{text}");
        assert!(!text.contains("pid"), "{text}");
    }

    #[test]
    fn metrics_of_all_daemons_are_grouped_by_type() {
        let statuses = [
            json!({ "name": "host", "counters": { "echoes": 1, "packets": 2 } }),
            json!({ "name": "router/eth1", "counters": { "packets": 3 }, "observed": { "load_factor": 0.5 } }),
            json!({ "name": "router/eth2", "counters": { "packets": 4 }, "observed": { "load_factor": 0.25 } }),
        ];
        let expected = "\
# TYPE airpath_echoes_total counter
airpath_echoes_total{name=\"host\"} 1
# TYPE airpath_load_factor gauge
airpath_load_factor{name=\"router/eth1\"} 0.5
airpath_load_factor{name=\"router/eth2\"} 0.25
# TYPE airpath_packets_total counter
airpath_packets_total{name=\"host\"} 2
airpath_packets_total{name=\"router/eth1\"} 3
airpath_packets_total{name=\"router/eth2\"} 4
";
        assert_eq!(metrics(&statuses), expected);
    }
}
