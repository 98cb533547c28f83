//! Conditions of a host that make the feedback of routers wrong.

use std::io;

use super::Device;
use crate::offloads::Offloads;

/// The kernel setting for TCP's negotiation of ECN.
const ECN: &str = "/proc/sys/net/ipv4/tcp_ecn";
/// Its values with which connections request ECN, classic or accurate.
const ASKS_FOR_ECN: [&str; 3] = ["1", "3", "4"];

/// Returns one sentence for each condition found at these devices and in their network namespaces, with its
/// remedy. Devices that no longer exist are skipped.
pub(super) fn hazards(devices: &[Device]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for device in devices {
        let looked: io::Result<_> =
            device.within(|| Ok((Offloads::of(&device.name)?, std::fs::read_to_string(ECN)?)));
        let Ok((offloads, ecn)) = looked else { continue };
        let name = &device.name;
        let inside = device
            .namespace
            .as_ref()
            .map_or_else(String::new, |path| format!("nsenter --net={} ", path.display()));
        if offloads.joins {
            found.push(format!(
                "device {device}: segments are joined as they come in (gro), and XCP's feedback on all but one is lost; \
                 \"{inside}ethtool -K {name} gro off\" mends it"
            ));
        }
        if offloads.sends_trains {
            found.push(format!(
                "device {device}: segments leave in trains (tso, gso) with one option for all, so that XCP's feedback counts \
                 wrong; \"{inside}ethtool -K {name} tso off gso off\" mends it"
            ));
        }
        let ecn = ecn.trim();
        if ASKS_FOR_ECN.contains(&ecn) {
            found.push(format!(
                "net.ipv4.tcp_ecn = {ecn}{}: connections negotiate ECN, and the kernel takes VCP's overload for a mark; \
                 \"{inside}sysctl -w net.ipv4.tcp_ecn=2\" mends it",
                device.namespace.as_ref().map_or_else(String::new, |path| format!(" of {}", path.display()))
            ));
        }
    }
    // Devices may share a network namespace.
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|sentence| seen.insert(sentence.clone()));
    found
}
