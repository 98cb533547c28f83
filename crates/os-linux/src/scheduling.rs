//! Real-time scheduling of the threads of an emulation.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::prctl;
use nix::unistd::Pid;
use thread_priority::{
    RealtimeThreadSchedulePolicy, ScheduleParams, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use crate::awake::Awake;

/// Priority of the link thread: above all ordinary threads, and low among those of its class.
const LINK_PRIORITY: i32 = 10;
/// Priority of the traffic sources: they may wait for the link thread, but it never waits for them.
const SOURCES_PRIORITY: i32 = 9;
/// Priority of the observer of connections: traffic continues while it takes samples.
const OBSERVER_PRIORITY: i32 = 8;

/// The scheduling that the system granted a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scheduling {
    /// Whether the thread has `SCHED_FIFO`. Otherwise it shares its processor with all others.
    pub realtime: bool,
    /// The processor to which the thread is pinned, if any.
    pub processor: Option<usize>,
    /// Why something was not granted; empty if everything was.
    pub refused: String,
}

impl Scheduling {
    /// Returns the scheduling that a link thread would be granted now.
    pub fn tried() -> Self {
        std::thread::spawn(|| Self::obtain(true, true).0).join().unwrap_or_default()
    }

    /// Requests real-time scheduling, one processor and exact timers for the calling thread. Real-time
    /// scheduling includes processors that wake up without delay, while the returned [`Awake`] exists.
    pub fn obtain(realtime: bool, pinned: bool) -> (Self, Option<Awake>) {
        let (mut granted, mut awake) = (Self::default(), None);
        let mut refused = Vec::new();
        // Exact timers, which ordinary threads do not have.
        if let Err(error) = prctl::set_timerslack(1) {
            refused.push(format!("exact timers: {error}"));
        }
        if pinned {
            match stay_on_one_processor() {
                Ok(processor) => granted.processor = Some(processor),
                Err(error) => refused.push(format!("one processor: {error}")),
            }
        }
        if realtime {
            match run_in_real_time(LINK_PRIORITY) {
                Ok(()) => granted.realtime = true,
                Err(error) => refused.push(format!("real time: {error}")),
            }
            match Awake::obtain() {
                Ok(obtained) => awake = Some(obtained),
                Err(error) => refused.push(format!("processors that wake at once: {error}")),
            }
        }
        granted.refused = refused.join("; ");
        (granted, awake)
    }
}

/// Requests real-time scheduling for the calling thread, which runs the traffic sources. If it is refused,
/// datagrams may leave late, which the run reports.
pub fn run_sources_in_real_time() {
    let _ = run_in_real_time(SOURCES_PRIORITY);
}

/// Requests real-time scheduling for the calling thread, which observes connections. If it is refused, a
/// sample may be recorded in the row of the next interval.
pub fn run_observer_in_real_time() {
    let _ = run_in_real_time(OBSERVER_PRIORITY);
}

/// Keeps the calling thread off a processor if it may use another one.
pub fn keep_off(processor: usize) {
    let others = || -> nix::Result<()> {
        let mut allowed = sched_getaffinity(Pid::from_raw(0))?;
        allowed.unset(processor)?;
        // Refused if no processor is left.
        sched_setaffinity(Pid::from_raw(0), &allowed)
    };
    let _ = others();
}

fn run_in_real_time(priority: i32) -> Result<(), thread_priority::Error> {
    let priority = ThreadPriority::from_posix(ScheduleParams { sched_priority: priority });
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    set_thread_priority_and_policy(thread_native_id(), priority, policy)
}

/// Pins the calling thread to the last of the processors that the process may use: interrupts prefer the first.
fn stay_on_one_processor() -> nix::Result<usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0))?;
    let last = (0..CpuSet::count()).rev().find(|&cpu| allowed.is_set(cpu) == Ok(true));
    let processor = last.ok_or(nix::Error::ENODEV)?;
    let mut only = CpuSet::new();
    only.set(processor)?;
    sched_setaffinity(Pid::from_raw(0), &only)?;
    Ok(processor)
}
