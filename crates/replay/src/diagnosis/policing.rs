//! Detection of policed flows, from all flows to one host together.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::confidence::POLICED;
use super::label::Label;
use super::policer::{Policer, policed};
use super::result::Diagnosis;
use super::transmissions::Transmission;
use crate::result::FlowResult;

/// Records the policers that limited flows of a capture, and frees the transmissions.
pub(crate) fn note_policers(flows: &mut [FlowResult]) {
    let mut hosts: BTreeMap<IpAddr, Vec<&mut Diagnosis>> = BTreeMap::new();
    for flow in flows.iter_mut() {
        if flow.diagnosis.may_be_policed {
            hosts.entry(flow.destination.ip()).or_default().push(&mut flow.diagnosis);
        }
    }
    for mut members in hosts.into_values() {
        if !note_policer(&mut members) && members.len() > 1 {
            for member in members {
                note_policer(&mut [member]);
            }
        }
    }
    for flow in flows {
        flow.diagnosis.transmissions = Vec::new();
    }
}

/// Tests flows together. Returns whether a policer limits them.
pub(crate) fn note_policer(members: &mut [&mut Diagnosis]) -> bool {
    let mut sent: Vec<Transmission> =
        members.iter().flat_map(|one| one.transmissions.iter().copied()).collect();
    sent.sort_by_key(|one| one.at_ns);
    let round_trip = members.iter().map(|one| one.round_trip_ns).max().unwrap_or(0);
    let Some(policer) = policed(&sent, round_trip) else { return false };
    for one in members {
        one.note(policer);
    }
    true
}

impl Diagnosis {
    /// Relabels windows from the first policed loss on whose limit was losses or unknown: the policer is
    /// their limit.
    fn note(&mut self, policer: Policer) {
        let from = self.windows.partition_point(|window| window.to_ns <= policer.from_ns);
        let mut noted = false;
        for window in &mut self.windows[from..] {
            let lossy = matches!(window.label, Label::RandomLoss | Label::Overflow | Label::Stall);
            if lossy || matches!(window.label, Label::SenderWindow | Label::StartUp) {
                (window.label, window.confidence, window.margin) =
                    (Label::Policer, POLICED, policer.score.max(0.0));
                noted = true;
            }
        }
        if noted {
            self.policers.push(policer);
            self.answer = self.delivery.renewed(&self.windows);
        }
    }
}
