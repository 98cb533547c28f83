//! Whether the machine held everybody up during a measurement: what takes place by the real clock may fail by that alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::net::if_::if_nameindex;

/// For how long the programs of a router go on without its daemon, and after which its daemon leaves a pause out.
pub(crate) const HOLD: Duration = Duration::from_secs(1);

/// How often the watch looks at the clock.
const LOOKS: Duration = Duration::from_millis(10);

/// A thread that does nothing but look at the clock, and at the devices: as daemons do, which wait there for whoever makes or
/// takes away devices and namespaces anywhere in the machine (the kernel has one lock for all).
pub(crate) struct Watch {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Duration>,
}

impl Watch {
    pub(crate) fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let (mut looked, mut longest) = (Instant::now(), Duration::ZERO);
            while !ended.load(Ordering::Relaxed) {
                std::thread::sleep(LOOKS);
                drop(if_nameindex());
                longest = longest.max(looked.elapsed().saturating_sub(LOOKS));
                looked = Instant::now();
            }
            longest
        });
        Self { over, thread }
    }

    /// The longest time for which that thread was held up.
    pub(crate) fn end(self) -> Duration {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Whether the machine may be to blame for a failure that takes somebody to be held up for `bound`: it held up a thread that does
/// nothing for a quarter of that.
pub(crate) fn may_be_to_blame(held_up: Duration, bound: Duration) -> bool {
    held_up >= bound / 4
}

/// What a measurement gives that fails where somebody is held up for `bound`. It is done again, three times in all, only where the
/// machine may be to blame.
pub(crate) fn undisturbed<T>(bound: Duration, mut measure: impl FnMut() -> Result<T, String>) -> T {
    for _ in 0..2 {
        let watch = Watch::start();
        let found = measure();
        let held_up = watch.end();
        match found {
            Ok(found) => return found,
            Err(problem) if may_be_to_blame(held_up, bound) => {
                println!("once more: a thread that does nothing was held up for {held_up:.2?}; {problem}");
            }
            Err(problem) => {
                panic!("{problem}; a thread that does nothing was held up for {held_up:.2?} at most")
            }
        }
    }
    measure().unwrap_or_else(|problem| panic!("the third time too: {problem}"))
}
