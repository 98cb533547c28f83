//! Processor time of this process and of all others, from `/proc` (`proc_stat(5)`, `proc_pid_stat(5)`).

use std::collections::BTreeMap;
use std::fs;

/// Processor time since boot, in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProcessorTime {
    /// Time of all processors in all states, including idle.
    total: u64,
    /// User and system time of all processes.
    processes: u64,
    /// Time in which the hypervisor ran other guests.
    stolen: u64,
    /// User and system time of this process and its descendants.
    own: u64,
    processors: u64,
}

/// Usage between two readings, in processors: 1.0 is one processor during the whole time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Usage {
    pub(crate) others: f64,
    pub(crate) stolen: f64,
}

impl ProcessorTime {
    /// Reads the current values; `None` if `/proc` does not contain them.
    pub(crate) fn now() -> Option<Self> {
        // The own time is read first, so that processor time between the two readings counts as own at the
        // end, not at the start.
        let own = own_ticks(std::process::id(), &processes());
        Self::parse(&fs::read_to_string("/proc/stat").ok()?, own)
    }

    fn parse(stat: &str, own: u64) -> Option<Self> {
        let fields = |line: &str| -> Vec<u64> {
            line.split_whitespace().skip(1).map_while(|field| field.parse().ok()).collect()
        };
        let all = fields(stat.lines().find(|line| line.starts_with("cpu "))?);
        // user, nice, system, idle, iowait, irq, softirq, steal; the following guest time is part of user and
        // nice.
        let [user, nice, system, _, _, _, _, stolen] = *all.first_chunk()?;
        let processors = stat.lines().filter(|line| line.starts_with("cpu")).count() as u64 - 1;
        let total = all[..8].iter().sum();
        Some(Self { total, processes: user + nice + system, stolen, own, processors })
    }

    /// Returns the usage since `before`; `None` if no tick has passed.
    pub(crate) fn since(&self, before: &Self) -> Option<Usage> {
        let elapsed = (self.total - before.total) as f64 / self.processors as f64;
        let own = self.own.saturating_sub(before.own);
        let others = self.processes.saturating_sub(before.processes).saturating_sub(own);
        let stolen = self.stolen.saturating_sub(before.stolen);
        (elapsed > 0.0).then(|| Usage { others: others as f64 / elapsed, stolen: stolen as f64 / elapsed })
    }
}

/// A process: its parent, and its processor time including that of the children for which it has waited.
type Processes = BTreeMap<u32, (u32, u64)>;

fn processes() -> Processes {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let process = |entry: fs::DirEntry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        Some((id, parse_process(&fs::read_to_string(entry.path().join("stat")).ok()?)?))
    };
    entries.filter_map(process).collect()
}

/// Parses `PID (NAME) STATE PARENT …`. The name may contain blanks and parentheses.
fn parse_process(stat: &str) -> Option<(u32, u64)> {
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    // utime, stime, cutime and cstime are fields 14 to 17, counted from 1 with PID and NAME.
    let times = fields.get(11..15)?.iter().map(|field| field.parse::<u64>());
    Some((fields.get(1)?.parse().ok()?, times.sum::<Result<_, _>>().ok()?))
}

/// Returns the processor time of `process` and its descendants.
fn own_ticks(process: u32, processes: &Processes) -> u64 {
    let is_own = |mut id: u32| {
        while id != process {
            match processes.get(&id) {
                Some(&(parent, _)) if parent != id => id = parent,
                _ => return false,
            }
        }
        true
    };
    processes.iter().filter(|(id, _)| is_own(**id)).map(|(_, (_, ticks))| ticks).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(user: u64, system: u64, idle: u64, stolen: u64) -> String {
        format!("cpu  {user} 0 {system} {idle} 0 5 5 {stolen} 0 0\ncpu0 1 2\ncpu1 1 2\nintr 7\n")
    }

    #[test]
    fn usage_is_in_processors_and_excludes_our_own() {
        let before = ProcessorTime::parse(&stat(100, 50, 1000, 3), 40).unwrap();
        // 200 ticks of two processors: 100 ticks of time.
        let after = ProcessorTime::parse(&stat(150, 60, 1130, 13), 80).unwrap();
        assert_eq!(after.since(&before), Some(Usage { others: 0.2, stolen: 0.1 }));
        assert_eq!(before.since(&before), None);
        assert_eq!(ProcessorTime::parse("cpu 1 2\n", 0), None);
    }

    #[test]
    fn descendants_count_as_our_own() {
        let processes: Processes =
            [(1, (0, 1000)), (10, (1, 1)), (11, (10, 2)), (12, (11, 4)), (20, (1, 500)), (21, (99, 500))]
                .into();
        assert_eq!(own_ticks(10, &processes), 7);
    }

    #[test]
    fn a_name_may_contain_anything() {
        let line = "7 (a) R 1 (b) S 3 7 7 0 -1 4194560 1 2 3 4 10 20 30 40 20 0";
        assert_eq!(parse_process(line), Some((3, 100)));
        assert_eq!(parse_process(""), None);
    }

    #[test]
    fn this_system_reports_processor_times() {
        assert!(ProcessorTime::now().is_some());
    }
}
