//! Fuzz targets: parsers of external data with valid inputs, which `make fuzz` gives to libFuzzer; see
//! `docs/development/fuzzing.md`.
#![allow(clippy::unwrap_used, reason = "a tool for developers")]

mod captures;
#[cfg(feature = "daemon")]
mod daemon;
mod link_logs;
mod packets;
mod plans;
mod qlogs;
mod target;
mod traces;

pub use target::{Parse, Target, write_seeds};

/// Returns all targets.
pub fn targets() -> Vec<Target> {
    let mut targets =
        vec![captures::target(), traces::target(), link_logs::target(), qlogs::target(), packets::network()];
    #[cfg(target_os = "linux")]
    targets.push(packets::tcp_info());
    targets.extend(plans::targets());
    #[cfg(feature = "daemon")]
    targets.extend(daemon::targets());
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_accepts_a_seed_and_truncated_seeds_do_not_fail() {
        for mut target in targets() {
            let seeds = target.seeds.clone();
            let accepted = seeds.iter().filter(|seed| (target.parse)(seed)).count();
            assert!(accepted > 0, "{} accepts none of {} seeds", target.name, seeds.len());
            for seed in seeds {
                (target.parse)(&seed[..seed.len() / 2]);
            }
        }
    }
}
