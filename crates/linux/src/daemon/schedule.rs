//! The times at which a service's steps are due. Owns no clock: the caller passes the current time.

use std::time::{Duration, Instant};

use super::Service;
use crate::Error;

/// The time of a service's next step, and how late its steps were.
#[derive(Debug)]
pub(super) struct Schedule {
    due: Option<Instant>,
    steps: u64,
    worst: Duration,
}

impl Schedule {
    /// Schedules the first step of `service`, which is ready at `now`.
    pub(super) fn new(now: Instant, service: &impl Service) -> Self {
        Self { due: service.wait().map(|wait| now + wait), steps: 0, worst: Duration::ZERO }
    }

    /// Returns how long the daemon may sleep at `now`; `None` if no step will be due.
    pub(super) fn timeout(&self, now: Instant) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(now))
    }

    /// Runs the step of `service` if it is due at `now`, and schedules the next one.
    ///
    /// The next step is scheduled relative to the start of this one: neither a long step nor a request delays
    /// it. Missed steps are not repeated.
    pub(super) fn run(&mut self, now: Instant, service: &mut impl Service) -> Result<(), Error> {
        if let Some(late) = self.due.and_then(|due| now.checked_duration_since(due)) {
            self.worst = self.worst.max(late);
            self.steps += 1;
            service.step()?;
            self.due = service.wait().map(|wait| now + wait);
        }
        Ok(())
    }

    /// Returns the number of steps so far.
    pub(super) const fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the longest time from when a step was due until it began.
    pub(super) const fn worst(&self) -> Duration {
        self.worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const TICK: Duration = Duration::from_millis(10);

    /// A service that requests a step every [`TICK`], up to `last` steps.
    struct Ticking {
        steps: u64,
        last: u64,
    }

    impl Service for Ticking {
        fn wait(&self) -> Option<Duration> {
            (self.steps < self.last).then_some(TICK)
        }

        fn step(&mut self) -> Result<(), Error> {
            self.steps += 1;
            Ok(())
        }

        fn status(&self) -> Value {
            json!({})
        }

        fn warnings(&self) -> Vec<String> {
            Vec::new()
        }
    }

    /// A service and its schedule, driven by a virtual clock.
    struct Virtual {
        began: Instant,
        service: Ticking,
        schedule: Schedule,
    }

    impl Virtual {
        fn new(last: u64) -> Self {
            let (began, service) = (Instant::now(), Ticking { steps: 0, last });
            let schedule = Schedule::new(began, &service);
            Self { began, service, schedule }
        }

        /// Wakes the daemon up at `millis` after its start.
        fn wake(&mut self, millis: u64) {
            self.schedule.run(self.began + Duration::from_millis(millis), &mut self.service).unwrap();
        }

        /// Returns how long the daemon sleeps at `millis`, in milliseconds.
        fn sleeps(&self, millis: u64) -> Option<u128> {
            let timeout = self.schedule.timeout(self.began + Duration::from_millis(millis));
            timeout.map(|timeout| timeout.as_millis())
        }

        fn worst_ms(&self) -> u128 {
            self.schedule.worst().as_millis()
        }
    }

    #[test]
    fn steps_are_on_time_without_delays() {
        let mut daemon = Virtual::new(u64::MAX);
        for tick in 1..=50 {
            assert_eq!(daemon.sleeps(10 * (tick - 1)), Some(10));
            daemon.wake(10 * tick);
        }
        assert_eq!((daemon.schedule.steps(), daemon.service.steps, daemon.worst_ms()), (50, 50, 0));
    }

    /// Requests wake the daemon up between its steps.
    #[test]
    fn requests_delay_no_step() {
        let mut daemon = Virtual::new(u64::MAX);
        for millis in 1..=500 {
            daemon.wake(millis);
            assert_eq!(daemon.sleeps(millis), Some(u128::from(10 - millis % 10)));
        }
        assert_eq!((daemon.schedule.steps(), daemon.worst_ms()), (50, 0));
    }

    #[test]
    fn a_late_step_is_reported_and_restarts_the_schedule() {
        let mut daemon = Virtual::new(u64::MAX);
        daemon.wake(17);
        assert_eq!((daemon.schedule.steps(), daemon.worst_ms()), (1, 7));
        assert_eq!(daemon.sleeps(17), Some(10));
        daemon.wake(27);
        assert_eq!((daemon.schedule.steps(), daemon.worst_ms()), (2, 7), "the worst one stays");
    }

    #[test]
    fn missed_ticks_count_as_one_late_step() {
        let mut daemon = Virtual::new(u64::MAX);
        daemon.wake(105);
        assert_eq!((daemon.schedule.steps(), daemon.worst_ms()), (1, 95));
        daemon.wake(106);
        assert_eq!(daemon.schedule.steps(), 1, "no burst of steps");
        daemon.wake(115);
        assert_eq!(daemon.schedule.steps(), 2);
    }

    /// A step that takes 30 ms, such as a slow read of the queue, makes the next one 20 ms late.
    #[test]
    fn a_slow_step_delays_the_next_step() {
        let mut daemon = Virtual::new(u64::MAX);
        daemon.wake(10);
        assert_eq!(daemon.sleeps(40), Some(0));
        daemon.wake(40);
        assert_eq!((daemon.schedule.steps(), daemon.worst_ms()), (2, 20));
    }

    #[test]
    fn a_service_without_steps_gets_none() {
        let mut daemon = Virtual::new(1);
        daemon.wake(10);
        assert_eq!(daemon.sleeps(10), None);
        daemon.wake(3_600_000);
        assert_eq!(daemon.schedule.steps(), 1);
    }
}
