//! Validity of routers of the kernel.

use crate::validity::{LATE_SHARE_BOUND, SECOND_BOUND};

/// Measurements that show whether a router behaved as configured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RouterRecord {
    /// The index of its link in the plan.
    pub link: usize,
    /// Number of changes of the rate.
    pub changes: u64,
    /// Largest lateness of a change, in seconds.
    pub latest_change_s: f64,
    /// Packets that did not come back although there was space for them.
    pub vanished: u64,
    /// Packets from there that had not been sent there.
    pub strangers: u64,
    /// The largest share of a second's rate that was unused or exceeded, while packets waited during all of
    /// that second; a packet and a full bucket are tolerated.
    pub worst_second: f64,
    /// The largest number of bytes that had left the kernel before their transmission began, which its router
    /// therefore did not see waiting.
    pub early_bytes: u64,
    /// The bound of `early_bytes`.
    pub early_bound: u64,
    /// Intervals of the series at whose end a daemon reported its observations.
    pub observed: u64,
    /// Intervals at whose end it did not.
    pub unobserved: u64,
    /// The operations that the kernel refused, in words; empty if none.
    pub refused: String,
}

/// Largest tolerated lateness of a change of the rate, in seconds: the link has the wrong rate for that time.
const CHANGE_BOUND_S: f64 = 0.01;

impl RouterRecord {
    /// Returns why the results should not be trusted, for a link of that name.
    pub(crate) fn problems(&self, link: &str) -> Vec<String> {
        let mut problems = Vec::new();
        if !self.refused.is_empty() {
            problems.push(format!("router of {link}: {}", self.refused));
        }
        if self.vanished > 0 {
            problems.push(format!(
                "router of {link}: {} packets did not come back from the kernel",
                self.vanished
            ));
        }
        if self.latest_change_s > CHANGE_BOUND_S {
            let late = 1e3 * self.latest_change_s;
            problems.push(format!("router of {link}: a change of its rate came {late:.1} ms late"));
        }
        if self.worst_second > SECOND_BOUND {
            let share = 100.0 * self.worst_second;
            problems.push(format!(
                "router of {link}: in one second the kernel let {share:.1} % more or fewer bytes go than its rate"
            ));
        }
        if self.early_bytes > self.early_bound {
            let Self { early_bytes, .. } = self;
            problems.push(format!("router of {link}: {early_bytes} bytes waited that it did not see"));
        }
        let asked = self.observed + self.unobserved;
        if self.unobserved as f64 > LATE_SHARE_BOUND * asked as f64 {
            let Self { unobserved, .. } = self;
            problems
                .push(format!("router of {link}: its daemon did not answer {unobserved} of {asked} times"));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_is_reported_only_beyond_its_tolerance() {
        let edge = RouterRecord {
            latest_change_s: CHANGE_BOUND_S,
            worst_second: SECOND_BOUND,
            observed: 99,
            unobserved: 1,
            ..RouterRecord::default()
        };
        assert_eq!(edge.problems("l"), Vec::<String>::new());
        let found = |change: fn(&mut RouterRecord), expected: &str| {
            let mut changed = edge.clone();
            change(&mut changed);
            let problems = changed.problems("l");
            assert!(matches!(&problems[..], [one] if one.contains(expected)), "{expected}: {problems:?}");
        };
        found(|r| r.vanished = 3, "router of l: 3 packets did not come back");
        found(|r| r.latest_change_s = 0.02, "came 20.0 ms late");
        found(|r| r.worst_second = 0.05, "let 5.0 % more or fewer bytes go");
        found(|r| r.early_bytes = 1, "1 bytes waited that it did not see");
        found(|r| r.unobserved = 2, "did not answer 2 of 101 times");
        found(|r| "no buffer space".clone_into(&mut r.refused), "no buffer space");
    }
}
