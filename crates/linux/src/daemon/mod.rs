//! The frame of `airpathd`: one daemon for each thing it works on, which can be asked and ended.
//!
//! A daemon is a name, such as `router/eth1`, and an abstract socket of that name in its network namespace. The kernel takes
//! the socket away with the process, however it ends, so that there is no file to be left behind, and gives it to one
//! process only, so that a second daemon is refused.

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

/// What a daemon keeps at work.
pub trait Service {
    /// How long until [`Service::step`] is wanted; `None` for never.
    fn wait(&self) -> Option<Duration>;

    /// The time has come; it may be late.
    fn step(&mut self) -> Result<(), Error>;

    /// What it is and does, as a JSON object; numbers in `counters` and `observed` become metrics.
    fn status(&self) -> Value;

    /// What of its surroundings spoils its work now, and the cure: a sentence for each.
    fn warnings(&self) -> Vec<String>;
}

/// How long a daemon waits for what it looks at for an answer. The kernel answers questions about devices one after the other, and
/// makes them wait while others are made and taken away.
const LONGEST_LOOK: Duration = Duration::from_secs(1);

/// What `look` finds, in a thread of its own that is in this one's network namespace; `None` where that takes too long.
pub(crate) fn looked<T: Send + 'static>(look: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    looked_within(LONGEST_LOOK, look)
}

fn looked_within<T: Send + 'static>(
    patience: Duration,
    look: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (found, finds) = mpsc::channel();
    // Nobody waits for it any more when it comes too late.
    thread::spawn(move || found.send(look()));
    finds.recv_timeout(patience).ok()
}

/// Said where the surroundings could not be looked at in time.
pub(crate) const NOT_LOOKED_AT: &str =
    "the kernel does not say within a second how the devices are set up: it is busy with others";

/// Signals that end a daemon in good order, blocked from here on so that none is lost while it starts.
pub fn block_signals() -> Result<SignalFd, Error> {
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        signals.add(signal);
    }
    let said = |error: nix::Error| Error::System { action: "cannot wait for signals", source: error.into() };
    signals.thread_block().map_err(said)?;
    SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).map_err(said)
}

/// Keeps `service` at work until a signal or `airpathd detach` ends it; then detaches, and lets who asked for it know. Gives its
/// last status.
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

/// Statuses in the text format of Prometheus: everything in `counters` and `observed`, with the daemon's name as a label. The format
/// wants all samples of a metric together, under one line with its type.
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
    fn a_look_that_takes_too_long_is_not_waited_for() {
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
    fn metrics_of_many_daemons_stand_together_under_one_type() {
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
