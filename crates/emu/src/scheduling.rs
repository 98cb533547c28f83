//! What the system grants a thread that must be on time.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::prctl;
use nix::unistd::Pid;
use thread_priority::{
    RealtimeThreadSchedulePolicy, ScheduleParams, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use crate::awake::Awake;

/// Above all ordinary threads, and low among those of its class.
const LINK_PRIORITY: i32 = 10;
/// Traffic waits for the link, never the link for traffic.
const SOURCES_PRIORITY: i32 = 9;

/// Samples in time; while it asks, traffic goes on.
const OBSERVER_PRIORITY: i32 = 8;

/// What was granted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scheduling {
    /// `SCHED_FIFO`; otherwise the thread shares its processor with everybody.
    pub realtime: bool,
    /// The processor that the thread stays on, if it does.
    pub processor: Option<usize>,
    /// Why something was not granted, in words; empty when all was.
    pub refused: String,
}

impl Scheduling {
    /// What a link thread would be granted now.
    pub fn tried() -> Self {
        std::thread::spawn(|| Self::obtain(true, true).0).join().unwrap_or_default()
    }

    /// Asks for real time, one processor and exact timers for the calling thread, as far as they are wanted. With real
    /// time it asks for processors that wake at once, too: that lasts as long as the second part of what is returned.
    pub(crate) fn obtain(realtime: bool, pinned: bool) -> (Self, Option<Awake>) {
        let (mut granted, mut awake) = (Self::default(), None);
        let mut refused = Vec::new();
        // Exact timers, where the class does not have them anyway.
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

/// Asks for real time for the calling thread, which is that of the sources. Where it is refused datagrams may leave late, and
/// the run says so.
pub(crate) fn hurry_sources() {
    let _ = run_in_real_time(SOURCES_PRIORITY);
}

/// Asks for real time for the calling thread, which is the observer of connections. Where it is refused what it hears may be in
/// the row of the next interval.
pub(crate) fn hurry_observer() {
    let _ = run_in_real_time(OBSERVER_PRIORITY);
}

/// Keeps the calling thread off a processor, where it may use another one.
pub(crate) fn keep_off(processor: usize) {
    let others = || -> nix::Result<()> {
        let mut allowed = sched_getaffinity(Pid::from_raw(0))?;
        allowed.unset(processor)?;
        // Refused where nothing is left.
        sched_setaffinity(Pid::from_raw(0), &allowed)
    };
    let _ = others();
}

fn run_in_real_time(priority: i32) -> Result<(), thread_priority::Error> {
    let priority = ThreadPriority::from_posix(ScheduleParams { sched_priority: priority });
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    set_thread_priority_and_policy(thread_native_id(), priority, policy)
}

/// Stays on the last of the processors that the process may use: interrupts prefer the first.
fn stay_on_one_processor() -> nix::Result<usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0))?;
    let last = (0..CpuSet::count()).rev().find(|&cpu| allowed.is_set(cpu) == Ok(true));
    let processor = last.ok_or(nix::Error::ENODEV)?;
    let mut only = CpuSet::new();
    only.set(processor)?;
    sched_setaffinity(Pid::from_raw(0), &only)?;
    Ok(processor)
}
