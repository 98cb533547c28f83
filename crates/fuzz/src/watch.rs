//! A second thread that ends the process if an input takes too long or uses too much memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Limit of the processor time of an input; the limit for small inputs is lower ([`crate::feed`]).
const HANGS: Duration = Duration::from_secs(10);
/// Limit of the elapsed time of an input, which also counts time of other processes.
const WAITS: Duration = Duration::from_secs(120);
/// Limit of the memory that an input uses, bytes.
const LARGE: u64 = 500 << 20;
/// Interval between checks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// The current input.
struct Now {
    name: String,
    bytes: Vec<u8>,
    began: Instant,
    /// Processor time of the feeding thread at its start.
    processor: Option<Duration>,
    /// Memory of the process at its start.
    memory: u64,
}

impl Now {
    /// Returns its processor time so far, or the elapsed time if the system does not report processor time.
    fn took(&self) -> Duration {
        self.processor
            .zip(processor())
            .map_or_else(|| self.began.elapsed(), |(then, now)| now.saturating_sub(then))
    }
}

/// The state that the thread watches.
#[derive(Clone)]
pub(crate) struct Watch {
    now: Arc<Mutex<Option<Now>>>,
    folder: PathBuf,
}

impl Watch {
    /// Starts the thread; failing inputs are written to the folder.
    pub(crate) fn start(folder: &Path) -> Self {
        let watch = Self { now: Arc::default(), folder: folder.to_owned() };
        let looking = watch.clone();
        thread::spawn(move || {
            loop {
                thread::sleep(BETWEEN_LOOKS);
                looking.look();
            }
        });
        watch
    }

    /// Registers the start of an input. If it fails, it is written to a file of that name.
    pub(crate) fn begin(&self, name: String, bytes: &[u8]) {
        let (bytes, began, memory) = (bytes.to_vec(), Instant::now(), memory());
        *self.lock() = Some(Now { name, bytes, began, processor: processor(), memory });
    }

    /// Registers its end. Returns its processor time.
    pub(crate) fn end(&self) -> Duration {
        self.lock().take().map_or(Duration::ZERO, |now| now.took())
    }

    /// Writes a failing input, and prints the path.
    pub(crate) fn keep(&self, name: &str, bytes: &[u8], what: &str) {
        let path = self.folder.join(name);
        match fs::create_dir_all(&self.folder).and_then(|()| fs::write(&path, bytes)) {
            Ok(()) => eprintln!("{what}: {}", path.display()),
            Err(error) => eprintln!("{what}: {name}, which cannot be written: {error}"),
        }
    }

    fn look(&self) {
        let now = self.lock();
        let Some(input) = &*now else { return };
        let Now { name, bytes, began, memory: before, .. } = input;
        let takes = memory().saturating_sub(*before);
        let what = if input.took() > HANGS {
            format!("an input of {} bytes takes more than {HANGS:?}", bytes.len())
        } else if began.elapsed() > WAITS {
            format!("an input of {} bytes has not ended after {WAITS:?}", bytes.len())
        } else if takes > LARGE {
            format!("an input of {} bytes takes {} MiB of memory", bytes.len(), takes >> 20)
        } else {
            return;
        };
        self.keep(name, bytes, &what);
        exit(1);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Now>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the memory of this process, bytes; 0 if the system does not report it.
fn memory() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").ok();
    pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok()).unwrap_or(0) * 4096
}

/// Returns the processor time of the first thread, which feeds; `None` if the system does not report it.
fn processor() -> Option<Duration> {
    let times = fs::read_to_string("/proc/self/schedstat").ok()?;
    times.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An input that began long ago, but used no processor time since.
    #[test]
    #[cfg(target_os = "linux")]
    fn waiting_for_the_processor_does_not_count() {
        let (name, bytes, began) = (String::new(), Vec::new(), Instant::now().checked_sub(WAITS).unwrap());
        let input = Now { name, bytes, began, processor: processor(), memory: 0 };
        assert!(input.took() < HANGS);
    }
}
