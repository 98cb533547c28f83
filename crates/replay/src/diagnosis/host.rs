//! Totals of the flows of a host, which share a link.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::answer::Answer;
use super::delivery::Delivery;
use super::window::PARTS;
use crate::result::FlowResult;

/// The link of a host counts as full while a flow with at least this share of the bytes is limited by it.
const LARGE_SHARE: f64 = 0.2;

/// The flows received, or sent, by one host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSum {
    /// The host.
    pub host: IpAddr,
    /// Whether the host received the data. Otherwise it sent them.
    pub down: bool,
    /// The flows, as indices into the results.
    pub flows: Vec<usize>,
    /// The bandwidth of all flows together.
    pub answer: Answer,
}

/// Returns the hosts that at least two flows have in common, with the direction; the one with the most
/// payload first. Each flow counts for one host only.
pub fn sums_of_hosts(flows: &[FlowResult]) -> Vec<HostSum> {
    let mut left: Vec<usize> = (0..flows.len()).collect();
    let mut sums = Vec::new();
    loop {
        let mut groups: BTreeMap<(IpAddr, bool), Vec<usize>> = BTreeMap::new();
        for &flow in &left {
            groups.entry((flows[flow].source.ip(), false)).or_default().push(flow);
            groups.entry((flows[flow].destination.ip(), true)).or_default().push(flow);
        }
        let bytes = |members: &[usize]| members.iter().map(|flow| flows[*flow].bytes).sum::<u64>();
        let largest = groups
            .into_iter()
            .filter(|(_, members)| members.len() >= 2)
            .max_by_key(|(_, members)| (members.len(), bytes(members)));
        let Some(((host, down), members)) = largest else { break };
        left.retain(|flow| !members.contains(flow));
        let deliveries: Vec<&Delivery> =
            members.iter().map(|flow| &flows[*flow].diagnosis.delivery).collect();
        let answer = sum(&deliveries).answer();
        sums.push((bytes(&members), HostSum { host, down, flows: members, answer }));
    }
    sums.sort_by_key(|(bytes, sum)| (std::cmp::Reverse(*bytes), sum.host));
    sums.into_iter().map(|(_, sum)| sum).collect()
}

/// Returns the combined delivery of these flows.
fn sum(flows: &[&Delivery]) -> Delivery {
    let mut width_ns = flows.iter().map(|flow| flow.width_ns).max().unwrap_or(1);
    let from_ns = flows.iter().map(|flow| flow.from_ns).min().unwrap_or(0);
    let to_ns = flows.iter().map(|flow| flow.to_ns).max().unwrap_or(0).max(from_ns);
    while (to_ns - from_ns) / width_ns >= MOST_WINDOWS {
        width_ns *= 2;
    }
    let flows: Vec<Delivery> = flows.iter().map(|flow| flow.widened(width_ns)).collect();
    let first = flows.iter().map(|flow| flow.first).min().unwrap_or(0);
    let end = flows.iter().map(|flow| flow.first + flow.parts.len() as u64).max().unwrap_or(0);
    let length = end.saturating_sub(first) as usize; // bounded: MOST_WINDOWS, and those at the ends
    let mut total = Delivery {
        width_ns,
        first,
        parts: vec![[0; PARTS]; length],
        acks: vec![0; length],
        full: vec![false; length],
        from_ns,
        to_ns,
    };
    let place = |flow: &Delivery, window: usize| (flow.first - first) as usize + window;
    for flow in &flows {
        for window in 0..flow.parts.len() {
            let at = place(flow, window);
            total.acks[at] = total.acks[at].saturating_add(flow.acks[window]);
            total.parts[at].iter_mut().zip(flow.parts[window]).for_each(|(sum, bytes)| *sum += bytes);
        }
    }
    let bytes = |parts: &[u64; PARTS]| parts.iter().sum::<u64>() as f64;
    for flow in &flows {
        for window in 0..flow.parts.len() {
            let at = place(flow, window);
            let is_large = bytes(&flow.parts[window]) >= LARGE_SHARE * bytes(&total.parts[at]);
            total.full[at] |= flow.full[window] && is_large;
        }
    }
    total
}

/// Maximum number of windows of a total. They are widened if its flows are far apart in time.
const MOST_WINDOWS: u64 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(first: u64, bytes: &[u64], full: bool) -> Delivery {
        Delivery {
            width_ns: 1_000_000_000,
            first,
            parts: bytes.iter().map(|bytes| [bytes / 5; PARTS]).collect(),
            acks: vec![30; bytes.len()],
            full: vec![full; bytes.len()],
            from_ns: first * 1_000_000_000,
            to_ns: (first + bytes.len() as u64) * 1_000_000_000,
        }
    }

    #[test]
    fn rates_add_and_a_large_full_flow_fills_the_link() {
        let total = sum(&[&flow(2, &[100, 100, 100, 100], true), &flow(4, &[900, 50, 900], false)]);
        let rates: Vec<f64> = total.answer().bins.iter().map(|bin| bin.rate_bps).collect();
        assert_eq!(rates, [800.0, 800.0, 8_000.0, 1_200.0, 7_200.0]);
        assert_eq!(total.full, [true, true, false, true, false]);
    }
}
