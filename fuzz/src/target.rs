//! A parser of external data, its seeds, and the limit of its processor time.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

/// Limit of the processor time of an input, and of one smaller than [`SMALL`] bytes. libFuzzer itself limits the elapsed
/// time, which also counts the time of other processes, and the memory.
const SLOW: Duration = Duration::from_secs(10);
const SLOW_IF_SMALL: Duration = Duration::from_secs(2);
const SMALL: usize = 10_000;

/// A parser of external data.
pub(crate) struct Target {
    /// Its name.
    pub(crate) name: &'static str,
    /// Valid inputs.
    pub(crate) seeds: Vec<Vec<u8>>,
    /// Parses the input, and returns whether it was accepted. Panics if an assertion fails.
    pub(crate) parse: Box<dyn FnMut(&[u8]) -> bool>,
}

impl Target {
    /// Parses an input. Panics if an assertion fails, or if it takes too long.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let began = processor_time();
        (self.parse)(bytes);
        let took = processor_time().saturating_sub(began);
        let limit = if bytes.len() < SMALL { SLOW_IF_SMALL } else { SLOW };
        assert!(took <= limit, "{} bytes take {took:?}", bytes.len());
    }
}

/// Writes the seeds of each target to a folder of its name.
pub(crate) fn write_seeds(targets: &[Target], folder: &Path) -> io::Result<()> {
    for target in targets {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, seed) in target.seeds.iter().enumerate() {
            fs::write(folder.join(format!("{number:03}")), seed)?;
        }
    }
    Ok(())
}

/// Returns the processor time of the first thread, which feeds; zero if the system does not report it.
fn processor_time() -> Duration {
    let times = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = times.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}
