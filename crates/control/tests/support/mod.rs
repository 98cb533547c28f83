//! Shared by the suites: every controller of the crate by name, and a driver that works in rounds.
#![allow(dead_code, reason = "each suite is a crate of its own and uses a part")]

use airpath_control::{
    Cubic, CubicConfig, Fixed, HystartPlusPlus, NewReno, SlowStart, StandardSlowStart, WindowRule, Windowed,
};
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Controller, Duration, NullProbe, Rate, RttEstimate,
    SendEvent, Timestamp,
};

/// The largest payload of one packet, in all suites.
pub(crate) const MSS: Bytes = Bytes::new(1448);

/// A name and how to build it.
pub(crate) type Constructor = (&'static str, fn() -> Box<dyn Controller>);

/// Every controller, started with ten segments. A new one is added here and nowhere else.
pub(crate) const CONTROLLERS: [Constructor; 8] = [
    ("newreno", || windowed(NewReno::default(), StandardSlowStart::default())),
    ("newreno-hystart++", || windowed(NewReno::default(), HystartPlusPlus::default())),
    ("cubic", || windowed(cubic(CubicConfig::RFC9438), StandardSlowStart::default())),
    ("cubic-hystart++", || windowed(cubic(CubicConfig::RFC9438), HystartPlusPlus::default())),
    ("cubic-2008", || windowed(cubic(CubicConfig::LINUX2008), StandardSlowStart::default())),
    ("cubic-2008-hystart++", || windowed(cubic(CubicConfig::LINUX2008), HystartPlusPlus::default())),
    ("fixed", || fixed(None)),
    ("fixed-paced", || fixed(Some(Rate::from_bps(5_000_000)))),
];

fn windowed<S, W>(rule: W, slow_start: S) -> Box<dyn Controller>
where
    S: SlowStart + 'static,
    W: WindowRule + 'static,
{
    Box::new(Windowed::new(rule, slow_start, MSS * 10, MSS).expect("ten segments are a window"))
}

/// The rule with parameters known to be in range.
pub(crate) fn cubic(config: CubicConfig) -> Cubic {
    Cubic::new(config).expect("the parameters are in range")
}

fn fixed(pacing: Option<Rate>) -> Box<dyn Controller> {
    Box::new(Fixed::new(MSS * 10, pacing, MSS).expect("ten segments are a window"))
}

/// What happens to the packets of one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    /// All arrive.
    Delivered,
    /// The application has only so many packets.
    Limited(u64),
    /// The first is lost, and recovery takes the next round.
    Lost,
    /// All are lost.
    TimedOut,
}

/// Drives a controller by rounds over a path that carries `capacity` packets in a round trip of `base_rtt`. More
/// in flight makes the round trip longer, up to twice; losses come as scripted and not by overflow.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) controller: Box<dyn Controller>,
    now: Timestamp,
    number: u64,
    base_rtt: Duration,
    capacity: u64,
    in_recovery: bool,
}

impl Rounds {
    pub(crate) fn new(controller: Box<dyn Controller>, base_rtt: Duration, capacity: u64) -> Self {
        Self { controller, now: Timestamp::ZERO, number: 0, base_rtt, capacity, in_recovery: false }
    }

    /// The window, in packets.
    pub(crate) fn window(&self) -> f64 {
        self.controller.control().window.as_f64() / MSS.as_f64()
    }

    /// One round: a window leaves at its start, the acknowledgments come evenly over the round trip after.
    pub(crate) fn round(&mut self, fate: Fate) {
        self.number += 1;
        let allowed = (self.controller.control().window.get() / MSS.get()).max(1);
        let packets = if let Fate::Limited(count) = fate { allowed.min(count) } else { allowed };
        let rtt = self.base_rtt.mul_f64((packets as f64 / self.capacity as f64).clamp(1.0, 2.0));
        for sent in 1..=packets {
            let mut event = SendEvent::at(self.now, MSS);
            event.mss = MSS;
            event.in_flight = MSS * sent;
            self.controller.on_sent(&event, &mut NullProbe);
        }
        match fate {
            Fate::TimedOut => {
                self.now += Duration::from_secs(1);
                self.signal(CongestionSignal::Timeout, packets, rtt);
                self.in_recovery = false;
            }
            Fate::Lost => {
                self.now += rtt;
                self.signal(CongestionSignal::Loss, packets, rtt);
                self.in_recovery = true;
            }
            Fate::Delivered | Fate::Limited(_) => {
                self.acknowledge(packets, packets < allowed, rtt);
                self.in_recovery = false;
            }
        }
    }

    fn signal(&mut self, signal: CongestionSignal, packets: u64, rtt: Duration) {
        let mut event = CongestionEvent::at(self.now, signal);
        event.mss = MSS;
        event.flight_size = MSS * packets;
        event.rtt = self.estimate(rtt);
        event.consecutive = u32::from(signal == CongestionSignal::Timeout);
        self.controller.on_congestion(&event, &mut NullProbe);
    }

    fn acknowledge(&mut self, packets: u64, limited: bool, rtt: Duration) {
        let start = self.now;
        for packet in 1..=packets {
            self.now = start + rtt.mul_f64(packet as f64 / packets as f64);
            let mut event = AckEvent::at(self.now);
            event.acked = MSS;
            event.mss = MSS;
            event.in_flight_before = MSS * (packets - packet + 1);
            event.in_flight = MSS * (packets - packet);
            event.rtt_sample = Some(rtt);
            event.rtt = self.estimate(rtt);
            event.round = self.number;
            event.window_limited = !limited;
            event.in_recovery = self.in_recovery;
            self.controller.on_ack(&event, &mut NullProbe);
        }
    }

    fn estimate(&self, rtt: Duration) -> RttEstimate {
        RttEstimate { latest: rtt, smoothed: rtt, variation: Duration::ZERO, minimum: self.base_rtt }
    }
}
