//! The loop of a daemon in real time. Its schedule is tested without a clock in `src/daemon/schedule.rs`.

use std::time::{Duration, Instant};

use airpath_linux::Error;
use airpath_linux::daemon::{Asked, Door, Namespace, Service, ask, block_signals, serve};
use airpath_realtime::check;
use serde_json::{Value, json};

/// A service with a step every ten milliseconds, each of which takes `step`.
struct Busy {
    step: Duration,
}

impl Service for Busy {
    fn wait(&self) -> Option<Duration> {
        Some(Duration::from_millis(10))
    }

    fn step(&mut self) -> Result<(), Error> {
        std::thread::sleep(self.step);
        Ok(())
    }

    fn status(&self) -> Value {
        json!({})
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Returns the last status of such a service after half a second of requests with pauses of `pause`.
fn status_under_requests(pause: Duration, name: &str, step: Duration) -> Value {
    let door = Door::open(name).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (signals, namespace) = (block_signals().unwrap(), Namespace::enter(None).unwrap());
            serve(Busy { step }, &door, &signals, &namespace).unwrap();
        });
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(500) {
            ask(name, Asked::Status).unwrap();
            std::thread::sleep(pause);
        }
        let last = ask(name, Asked::Status).unwrap();
        ask(name, Asked::Detach).unwrap();
        last
    })
}

#[test]
fn requests_delay_no_step() {
    // A delay of three of fifty steps by this much would be missed.
    check(Duration::from_millis(30), || {
        let status = status_under_requests(Duration::from_millis(2), "test/questions", Duration::ZERO);
        let steps = status["steps"].as_u64().unwrap();
        (steps >= 45).then_some(()).ok_or_else(|| format!("{steps} steps of 50: {status}"))
    });
}

#[test]
fn a_slow_step_delays_the_next_step() {
    check(Duration::from_millis(100), || {
        let status =
            status_under_requests(Duration::from_millis(100), "test/lateness", Duration::from_millis(30));
        let late = status["worst_lateness_ms"].as_f64().unwrap();
        (19.9..100.0).contains(&late).then_some(()).ok_or_else(|| status.to_string())
    });
}
