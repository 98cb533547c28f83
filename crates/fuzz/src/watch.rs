//! A second thread that ends everything when an input takes too long or too much memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// No input may take more of the processor; what small ones may take is less ([`crate::feed`]).
const HANGS: Duration = Duration::from_secs(10);
/// No input may take longer by the clock, which goes on while others have the processor.
const WAITS: Duration = Duration::from_secs(120);
/// No input may take more memory, bytes.
const LARGE: u64 = 500 << 20;
/// How often the thread looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// The input that is fed now.
struct Now {
    name: String,
    bytes: Vec<u8>,
    began: Instant,
    /// What the thread that feeds had taken of the processor when it began.
    processor: Option<Duration>,
    /// Memory of the process when it began.
    memory: u64,
}

impl Now {
    /// What it took of the processor so far; by the clock, where the system does not say.
    fn took(&self) -> Duration {
        self.processor
            .zip(processor())
            .map_or_else(|| self.began.elapsed(), |(then, now)| now.saturating_sub(then))
    }
}

/// What the thread looks at.
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

    /// An input begins; one that fails is written to a file of that name.
    pub(crate) fn begin(&self, name: String, bytes: &[u8]) {
        let (bytes, began, memory) = (bytes.to_vec(), Instant::now(), memory());
        *self.lock() = Some(Now { name, bytes, began, processor: processor(), memory });
    }

    /// It ended after that time of the processor.
    pub(crate) fn end(&self) -> Duration {
        self.lock().take().map_or(Duration::ZERO, |now| now.took())
    }

    /// Writes a failing input, and says where.
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

/// Memory that this process has, bytes; 0 where the system does not say.
fn memory() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").ok();
    pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok()).unwrap_or(0) * 4096
}

/// What the first thread, which feeds, has taken of the processor; nothing where the system does not say.
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
