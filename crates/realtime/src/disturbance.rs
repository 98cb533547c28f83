//! Disturbances of a machine: delays of wake-ups, and processor time of other processes and the hypervisor.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use thread_priority::{
    RealtimeThreadSchedulePolicy, ScheduleParams, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use crate::processor_time::ProcessorTime;

/// Other processes explain a failure if they use at least this many processors on average.
pub const OTHERS_BOUND: f64 = 0.1;
/// The hypervisor explains a failure if it takes away at least this many processors on average.
pub const STEAL_BOUND: f64 = 0.01;

/// Delays of wake-ups explain a failure if delays of more than 1 ms are at least this share of a processor's
/// time.
pub const DELAYED_BOUND: f64 = 0.0025;

/// The shortest delay that counts for [`DELAYED_BOUND`].
const LATE: Duration = Duration::from_millis(1);
/// Period of the wake-ups of a monitor.
const PERIOD: Duration = Duration::from_millis(1);
/// Priority above the link thread of the emulator, so that only the machine delays a monitor.
const PRIORITY: i32 = 20;

/// Measured disturbances of a check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disturbance {
    /// The longest delay of a thread that repeatedly sleeps for 1 ms, one on each processor.
    pub longest_delay: Duration,
    /// Share of the time for which such a thread was delayed by more than 1 ms at a time, on the worst
    /// processor.
    pub delayed: f64,
    /// Processors that all other processes used on average; NaN if unknown.
    pub others: f64,
    /// Processors that the hypervisor took away on average; NaN if unknown.
    pub stolen: f64,
    /// Processors that this process may use.
    pub processors: usize,
}

impl Disturbance {
    /// Returns why a check may have failed although the program is correct, if there is a reason. `bound` is
    /// the shortest delay of a thread that can make the check fail. A monitor measures only a part of the
    /// delays of other threads, so a quarter of `bound` is sufficient.
    pub fn explanation(&self, bound: Duration) -> Option<String> {
        let mut reasons = Vec::new();
        if self.processors < 2 {
            reasons.push("this process may use only one processor".to_owned());
        }
        if self.others >= OTHERS_BOUND {
            reasons.push(format!("other processes used {:.2} processors", self.others));
        }
        if self.stolen >= STEAL_BOUND {
            reasons.push(format!("the hypervisor took away {:.2} processors", self.stolen));
        }
        if self.longest_delay >= bound / 4 {
            reasons.push(format!("an idle thread woke up {:.1?} late", self.longest_delay));
        }
        if self.delayed >= DELAYED_BOUND {
            reasons.push(format!("an idle thread was delayed for {:.2} % of the time", 100.0 * self.delayed));
        }
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { longest_delay, delayed, others, stolen, processors } = self;
        write!(
            f,
            "idle threads woke up {longest_delay:.1?} late at most and were delayed for {:.2} % of the time, other processes used {others:.2} processors, \
             the hypervisor took away {stolen:.2}, {processors} are available",
            100.0 * delayed
        )
    }
}

/// Measures the disturbance from [`Monitor::start`] to [`Monitor::end`].
#[derive(Debug)]
pub struct Monitor {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Delays>>,
    before: Option<ProcessorTime>,
}

impl Monitor {
    /// Starts one thread on each processor that this process may use.
    ///
    /// # Panics
    /// If the process may use no processor.
    pub fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let allowed = sched_getaffinity(Pid::from_raw(0)).expect("the processors of this process");
        let processors = (0..CpuSet::count()).filter(|&processor| allowed.is_set(processor) == Ok(true));
        let threads = processors
            .map(|processor| {
                let over = Arc::clone(&over);
                thread::spawn(move || delays(processor, &over))
            })
            .collect();
        Self { over, threads, before: ProcessorTime::now() }
    }

    /// Ends the measurement.
    ///
    /// # Panics
    /// If a thread of the monitor panicked.
    pub fn end(self) -> Disturbance {
        let after = ProcessorTime::now();
        self.over.store(true, Ordering::Relaxed);
        let processors = self.threads.len();
        let delays = self.threads.into_iter().map(|thread| thread.join().expect("a monitor does not panic"));
        let worst = delays.fold(Delays::default(), Delays::worse);
        let usage = after.zip(self.before).and_then(|(after, before)| after.since(&before));
        Disturbance {
            longest_delay: worst.longest,
            delayed: worst.share,
            others: usage.map_or(f64::NAN, |usage| usage.others),
            stolen: usage.map_or(f64::NAN, |usage| usage.stolen),
            processors,
        }
    }
}

/// The delays of the wake-ups of one thread.
#[derive(Clone, Copy, Debug, Default)]
struct Delays {
    longest: Duration,
    /// Share of delays of more than [`LATE`] in the elapsed time.
    share: f64,
}

impl Delays {
    fn worse(self, other: Self) -> Self {
        Self { longest: self.longest.max(other.longest), share: self.share.max(other.share) }
    }
}

/// Sleeps repeatedly on one processor until `over` is set.
fn delays(processor: usize, over: &AtomicBool) -> Delays {
    let mut only = CpuSet::new();
    // Both requests may be refused. The monitor is then an ordinary thread, like the code under test.
    let _ = only.set(processor).and_then(|()| sched_setaffinity(Pid::from_raw(0), &only));
    let priority = ThreadPriority::from_posix(ScheduleParams { sched_priority: PRIORITY });
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let _ = set_thread_priority_and_policy(thread_native_id(), priority, policy);
    let (began, mut longest, mut sum) = (Instant::now(), Duration::ZERO, Duration::ZERO);
    while !over.load(Ordering::Relaxed) {
        let asleep = Instant::now();
        thread::sleep(PERIOD);
        let delay = asleep.elapsed().saturating_sub(PERIOD);
        longest = longest.max(delay);
        if delay > LATE {
            sum += delay;
        }
    }
    let elapsed = began.elapsed().as_secs_f64();
    Delays { longest, share: if sum.is_zero() { 0.0 } else { sum.as_secs_f64() / elapsed } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_disturbance_excuses_a_failure_from_its_bound() {
        let quiet = Disturbance {
            longest_delay: Duration::from_micros(2_499),
            delayed: DELAYED_BOUND - 0.0001,
            others: OTHERS_BOUND - 0.01,
            stolen: STEAL_BOUND - 0.001,
            processors: 2,
        };
        let bound = Duration::from_millis(10);
        assert_eq!(quiet.explanation(bound), None);
        assert_eq!(Disturbance { others: f64::NAN, stolen: f64::NAN, ..quiet }.explanation(bound), None);
        let explained = |disturbance: Disturbance, words: &str| {
            let found = disturbance.explanation(bound).unwrap();
            assert!(found.contains(words), "{found}");
        };
        explained(Disturbance { longest_delay: bound / 4, ..quiet }, "woke up 2.5ms late");
        explained(Disturbance { delayed: 0.0025, ..quiet }, "delayed for 0.25 % of the time");
        explained(Disturbance { others: 0.1, ..quiet }, "other processes used 0.10 processors");
        explained(Disturbance { stolen: 0.01, ..quiet }, "the hypervisor took away 0.01 processors");
        explained(Disturbance { processors: 1, ..quiet }, "only one processor");
    }

    #[test]
    fn a_monitor_ends_with_figures() {
        let disturbance = Monitor::start().end();
        assert!(disturbance.processors >= 1, "{disturbance}");
    }
}
