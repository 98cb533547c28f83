//! A parser of external data, its seeds, and the limits of an input.

use std::path::Path;
use std::time::Duration;
use std::{fmt, fs, io};

/// Limit of the processor time of an input, and of one smaller than [`SMALL`] bytes. libFuzzer itself limits the elapsed
/// time, which also counts the time of other processes.
const SLOW: Duration = Duration::from_secs(10);
const SLOW_IF_SMALL: Duration = Duration::from_secs(2);
const SMALL: usize = 10_000;
/// Limit of the memory that an input uses, bytes.
const LARGE: u64 = 500 << 20;

/// Parses bytes, and returns whether they were accepted. Panics if an assertion fails.
pub type Parse = Box<dyn FnMut(&[u8]) -> bool>;

/// A parser of external data.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Valid inputs.
    pub seeds: Vec<Vec<u8>>,
    /// The parser.
    pub parse: Parse,
}

impl Target {
    /// Parses an input, and returns whether it was accepted.
    ///
    /// # Panics
    /// If an assertion fails, or if it takes too long or uses too much memory.
    pub fn feed(&mut self, bytes: &[u8]) -> bool {
        let before = Usage::before();
        let accepted = (self.parse)(bytes);
        let took = processor_time().saturating_sub(before.processor);
        let limit = if bytes.len() < SMALL { SLOW_IF_SMALL } else { SLOW };
        assert!(took <= limit, "{} bytes take {took:?}", bytes.len());
        if let Some(memory) = before.memory {
            let takes = status("VmHWM:").unwrap_or(0).saturating_sub(memory);
            assert!(takes <= LARGE, "{} bytes take {} MiB of memory", bytes.len(), takes >> 20);
        }
        accepted
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Writes the seeds of each target to a folder of its name.
///
/// # Errors
/// If they cannot be written.
pub fn write_seeds(targets: &[Target], folder: &Path) -> io::Result<()> {
    for target in targets {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, seed) in target.seeds.iter().enumerate() {
            fs::write(folder.join(format!("{number:03}")), seed)?;
        }
    }
    Ok(())
}

/// What the process has used before an input.
struct Usage {
    processor: Duration,
    /// Its memory, bytes; the largest so far if the system cannot report the largest since then.
    memory: Option<u64>,
}

impl Usage {
    fn before() -> Self {
        // Resets the largest value (Linux).
        let reset = fs::write("/proc/self/clear_refs", "5");
        let memory = status(if reset.is_ok() { "VmRSS:" } else { "VmHWM:" });
        Self { processor: processor_time(), memory }
    }
}

/// Returns the processor time of this thread; zero if the system does not report it.
fn processor_time() -> Duration {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = times.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Returns a value of the process's status, bytes.
fn status(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let kibibytes = text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?;
    kibibytes.parse::<u64>().ok().map(|value| value << 10)
}
