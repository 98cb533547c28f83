//! A controller whose connection is logged: the stack's notifications about packets, stored by packet number.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use airpath_model::Timestamp;
use airpath_network::{Transmission, Transmissions};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::clock::{Instant, Origin};

/// The senders' view of the packets of one flow, over all its connections.
#[derive(Clone, Debug)]
pub(crate) struct FlowPackets(Arc<Mutex<Kept>>);

#[derive(Debug)]
struct Kept {
    next: u64,
    transmissions: Transmissions,
}

impl FlowPackets {
    pub(crate) fn new(transmissions: Transmissions) -> Self {
        Self(Arc::new(Mutex::new(Kept { next: 0, transmissions })))
    }

    fn push(&self, now: Timestamp, what: Transmission) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).transmissions.push(now, what);
    }

    fn number(&self) -> u64 {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.next += 1;
        kept.next - 1
    }

    /// Takes the transmissions so far.
    pub(crate) fn take(&self) -> Transmissions {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).transmissions)
    }
}

/// Passes quinn the controller of another factory, and logs its calls.
pub(crate) struct LoggedFactory {
    pub(crate) of: Arc<dyn ControllerFactory + Send + Sync>,
    pub(crate) origin: Origin,
    pub(crate) packets: FlowPackets,
}

impl ControllerFactory for LoggedFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let log = ConnectionLog {
            packets: self.packets.clone(),
            outstanding: VecDeque::new(),
            acknowledging: false,
        };
        Box::new(LoggedController {
            of: Arc::clone(&self.of).build(now, current_mtu),
            origin: self.origin,
            log: Arc::new(Mutex::new(log)),
        })
    }
}

/// The packets of one connection. Quinn identifies packets by the time at which they were sent, not by
/// number: those of the same time are indistinguishable.
#[derive(Debug)]
struct ConnectionLog {
    packets: FlowPackets,
    outstanding: VecDeque<Outstanding>,
    acknowledging: bool,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    at: Timestamp,
    packet: u64,
    bytes: u64,
}

/// Largest number of packets that are neither acknowledged nor lost; handshakes leave some behind.
const MOST_OUTSTANDING: usize = 1 << 17;

impl ConnectionLog {
    fn on_sent(&mut self, at: Timestamp, bytes: u64) {
        let packet = self.packets.number();
        let size = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.packets.push(at, Transmission::Sent { packet, bytes: size, again: false });
        if self.outstanding.len() == MOST_OUTSTANDING {
            self.outstanding.pop_front();
        }
        self.outstanding.push_back(Outstanding { at, packet, bytes });
    }

    fn on_acked(&mut self, now: Timestamp, sent_at: Timestamp) {
        if !std::mem::replace(&mut self.acknowledging, true) {
            self.packets.push(now, Transmission::Acknowledgment { bytes: None });
        }
        let place = self.outstanding.partition_point(|packet| packet.at < sent_at);
        if self.outstanding.get(place).is_some_and(|packet| packet.at == sent_at)
            && let Some(packet) = self.outstanding.remove(place)
        {
            self.packets.push(now, Transmission::Acknowledged { packet: packet.packet });
        }
    }

    /// Records the loss of `bytes`, the newest packet of which was sent at `newest_sent_at`. Earlier packets
    /// that have not arrived are lost, too.
    fn on_lost(&mut self, now: Timestamp, newest_sent_at: Timestamp, bytes: u64) {
        let end = self.outstanding.partition_point(|packet| packet.at <= newest_sent_at);
        let (mut first, mut sum) = (end, 0);
        while first > 0 && sum < bytes {
            first -= 1;
            sum += self.outstanding[first].bytes;
        }
        for lost in self.outstanding.drain(first..end) {
            self.packets.push(now, Transmission::Lost { packet: lost.packet });
        }
    }
}

/// A controller, and the log of its connection.
struct LoggedController {
    of: Box<dyn Controller>,
    origin: Origin,
    log: Arc<Mutex<ConnectionLog>>,
}

impl LoggedController {
    fn log(&self, work: impl FnOnce(&mut ConnectionLog)) {
        work(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Controller for LoggedController {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.log(|log| log.on_sent(self.origin.timestamp(now), bytes));
        self.of.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.log(|log| log.on_acked(self.origin.timestamp(now), self.origin.timestamp(sent)));
        self.of.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.log(|log| log.acknowledging = false);
        self.of.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        // A loss of zero bytes is a congestion mark.
        self.log(|log| log.on_lost(self.origin.timestamp(now), self.origin.timestamp(sent), lost_bytes));
        self.of.on_congestion_event(now, sent, persistent, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.of.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.of.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.of.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { of: self.of.clone_box(), origin: self.origin, log: Arc::clone(&self.log) })
    }

    fn initial_window(&self) -> u64 {
        self.of.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.of.into_any()
    }
}
