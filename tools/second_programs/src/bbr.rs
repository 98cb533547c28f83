//! BBR of s2n-quic behind `Sender`.

use crate::link::{PACKET, Sender};
use core::time::Duration;
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random;
use s2n_quic_core::recovery::RttEstimator;
use s2n_quic_core::recovery::bbr::BbrCongestionController;
use s2n_quic_core::recovery::congestion_controller::{CongestionController, PathPublisher};
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};
use s2n_quic_core::{event, path};
use std::collections::BTreeMap;

type Info = <BbrCongestionController as CongestionController>::PacketInfo;

/// A sender controlled by s2n-quic's controller and its pacer.
pub struct Bbr {
    control: BbrCongestionController,
    rtt: RttEstimator,
    random: random::testing::Generator,
    publisher: event::testing::Publisher,
    infos: BTreeMap<u64, (f64, Info)>,
    last_lost: Option<u64>,
}

impl Bbr {
    pub fn new(seed: u8) -> Self {
        Self {
            control: BbrCongestionController::new(PACKET as u16, Default::default()),
            rtt: RttEstimator::new(Duration::from_millis(333)),
            random: random::testing::Generator(seed),
            publisher: event::testing::Publisher::no_snapshot(),
            infos: BTreeMap::new(),
            last_lost: None,
        }
    }
}

fn at(now: f64) -> Timestamp {
    NoopClock.get_time() + Duration::from_secs_f64(now + 1.0)
}

impl Sender for Bbr {
    fn next(&self, now: f64) -> Option<f64> {
        if self.control.is_congestion_limited() && !self.control.requires_fast_retransmission() {
            return None;
        }
        let departs = self.control.earliest_departure_time();
        Some(departs.map_or(now, |time| {
            let now_at = at(now);
            if time <= now_at { now } else { now + (time - now_at).as_secs_f64().max(1e-6) }
        }))
    }
    fn on_sent(&mut self, now: f64, sequence: u64) {
        let mut publisher = PathPublisher::new(&mut self.publisher, path::Id::test_id());
        let info = self.control.on_packet_sent(at(now), PACKET, Some(false), &self.rtt, &mut publisher);
        self.infos.insert(sequence, (now, info));
    }

    fn on_ack(&mut self, now: f64, sequence: u64, rtt: f64) {
        let (sent, info) = self.infos.remove(&sequence).unwrap();
        self.rtt.update_rtt(
            Duration::ZERO,
            Duration::from_secs_f64(rtt),
            at(now),
            true,
            PacketNumberSpace::ApplicationData,
        );
        let mut publisher = PathPublisher::new(&mut self.publisher, path::Id::test_id());
        self.control.on_rtt_update(at(sent), at(now), &self.rtt, &mut publisher);
        self.control.on_ack(at(sent), PACKET, info, &self.rtt, &mut self.random, at(now), &mut publisher);
    }
    fn on_lost(&mut self, now: f64, sequence: u64) {
        let (_, info) = self.infos.remove(&sequence).unwrap();
        let new_burst = self.last_lost.is_none_or(|last| last + 1 != sequence);
        self.last_lost = Some(sequence);
        let mut publisher = PathPublisher::new(&mut self.publisher, path::Id::test_id());
        self.control.on_packet_lost(
            PACKET as u32,
            info,
            false,
            new_burst,
            &mut self.random,
            at(now),
            &mut publisher,
        );
    }
}
