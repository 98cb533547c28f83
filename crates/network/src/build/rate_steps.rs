//! The rates of a link as a list, for a router outside the network.

use std::sync::Arc;

use airpath_channel::ChannelRate;
use airpath_channel::rates::Changes;
use airpath_model::{Duration, Rate, Timestamp, TrueRate as _};
use airpath_plan::{Fault, Input, Part, Plan, PlanError};

use super::assemble::rate_process;

/// Returns the rate changes of link number `link` of the plan from the start to the end of the run. The rates
/// are the same, from the same random streams, as those of the link in a simulation.
///
/// # Errors
/// If the rate has no steps (it is unlimited or recorded), or if the plan has no such link.
pub fn rate_steps(
    plan: &Plan,
    inputs: &[Arc<Input>],
    seed: u64,
    link: usize,
) -> Result<Vec<(Timestamp, Rate)>, PlanError> {
    let missing = || Fault::new(&format!("links[{link}]"), "there is no such link").of(Part::Run);
    let link = plan.links.get(link).ok_or_else(missing)?;
    let wrong = |fault: Fault| fault.of(Part::link(link));
    let Changes { starts, period } = link.rate.changes().ok_or_else(|| {
        let problem =
            "is unlimited or recorded; accepted for a router of the kernel: constant, steps, sequence, uniform";
        wrong(Fault::new("rate", problem))
    })?;
    let end = plan.duration_ns;
    let period = period.unwrap_or(end).max(1);
    let changes = end.div_ceil(period).saturating_mul(starts.len() as u64);
    if changes > MOST {
        let problem =
            format!("changes {changes} times; accepted for a router of the kernel: at most {MOST} times");
        return Err(wrong(Fault::new("rate", problem)));
    }
    let process = rate_process(link, inputs, seed).map_err(wrong)?;
    let mut rate = ChannelRate::new(&process);
    let rounds = (0..end).step_by(period.try_into().unwrap_or(usize::MAX));
    let instants = rounds.flat_map(|round| starts.iter().map(move |start| round + start));
    let instants = instants.filter(|at| *at < end).map(|at| Timestamp::ZERO + Duration::from_nanos(at));
    Ok(instants.map(|at| (at, rate.rate(at))).collect())
}

/// Limit of rate changes: more than can be made in a router of the kernel.
const MOST: u64 = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(rate: &str) -> Result<Vec<(u64, u64)>, PlanError> {
        let plan = Plan::from_json(&format!(
            r#"{{"format":2,"duration_ns":1000000000,"record":{{"measure_from_ns":0,"interval_ns":100000000,"packets":false,
            "estimate_samples":false,"capture":[]}},"estimators":[],"flows":[],"links":[{{"name":"l","rate":{rate},
            "delay_ns":{{"kind":"constant","value":0}},"jitter_ns":null,"loss":0.0,"bursts":null,"arq":null,
            "queue":{{"kind":"drop-tail","limit_bytes":null,"limit_packets":null}},"record":true}}]}}"#
        ))?;
        let found = rate_steps(&plan, &[], 7, 0)?;
        Ok(found.iter().map(|(at, rate)| (at.as_nanos() / 1_000_000, rate.as_bps())).collect())
    }

    #[test]
    fn each_rate_applies_from_its_instant() {
        assert_eq!(steps(r#"{"kind":"constant","bps":5}"#).unwrap(), [(0, 5)]);
        let two = r#"{"kind":"steps","steps":[[0,10],[200000000,20]],"repeat_after_ns":null}"#;
        assert_eq!(steps(two).unwrap(), [(0, 10), (200, 20)]);
        let again = r#"{"kind":"steps","steps":[[0,10],[200000000,20]],"repeat_after_ns":600000000}"#;
        assert_eq!(steps(again).unwrap(), [(0, 10), (200, 20), (600, 10), (800, 20)]);
        let uniform = r#"{"kind":"uniform","low_bps":10,"high_bps":1000000,"hold_ns":250000000,"initial_bps":7,"stream":null}"#;
        let drawn = steps(uniform).unwrap();
        assert_eq!(drawn.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 250, 500, 750]);
        assert!(drawn[0].1 == 7 && drawn[1..].windows(2).all(|pair| pair[0].1 != pair[1].1), "{drawn:?}");
    }

    #[test]
    fn too_many_steps_are_rejected() {
        for often in [
            r#"{"kind":"uniform","low_bps":10,"high_bps":1000000,"hold_ns":1,"initial_bps":7,"stream":null}"#,
            r#"{"kind":"steps","steps":[[0,10],[1,20]],"repeat_after_ns":2}"#,
        ] {
            let said = steps(often).unwrap_err().to_string();
            assert!(said.starts_with("link l: rate: changes 1000000000 times; accepted"), "{said}");
        }
    }

    #[test]
    fn rate_plans_without_steps_are_rejected() {
        let said = steps(r#"{"kind":"unlimited"}"#).unwrap_err().to_string();
        assert!(said.contains("constant, steps, sequence, uniform"), "{said}");
    }
}
