//! A small model for capacity sources: links in series, one packet at a time, and one aggregate of senders
//! that follows XCP's control law. The model is deliberately coarse, in steps of a millisecond.

use std::collections::VecDeque;

use airpath_estimate::{
    Busy, BusyConfig, Ebe, EbeConfig, Maintenance, Monitor, Profile, Qfcp, QfcpConfig, SampledQueue,
    SpareArrivals, XcpB, XcpBConfig,
};
use airpath_model::{Backlog, Bytes, CapacitySource, ControlInterval, Duration, QueueUnit, Rate, Timestamp};

/// Size of every packet, bytes.
pub(crate) const PACKET: u64 = 1000;
/// The round-trip time without queueing, milliseconds.
const BASE_RTT: u64 = 80;

/// A rate in bit/s as a function of the time in seconds.
pub(crate) type TrueRate = fn(f64) -> f64;

/// A packet, represented by the millisecond in which it was sent.
type Sent = u64;

/// A link with a drop-tail buffer.
pub(crate) struct Link {
    rate: TrueRate,
    buffer: u64,
    source: Box<dyn CapacitySource>,
    waiting: VecDeque<Sent>,
    /// The packet in transmission, and its remaining bytes.
    sending: Option<(Sent, f64)>,
    // Since the start of the control interval:
    arrived: u64,
    shortest: u64,
    queue_sum: u64,
}

impl Link {
    pub(crate) fn new(rate: TrueRate, buffer: u64, source: Box<dyn CapacitySource>) -> Self {
        Self {
            rate,
            buffer,
            source,
            waiting: VecDeque::new(),
            sending: None,
            arrived: 0,
            shortest: 0,
            queue_sum: 0,
        }
    }

    fn backlog(&self) -> Backlog {
        let packets = self.waiting.len() as u64;
        Backlog { bytes: Bytes::new(packets * PACKET), packets }
    }

    fn queue(&self) -> u64 {
        self.backlog().bytes.get()
    }

    /// Adds a packet and returns whether it fits.
    fn arrive(&mut self, now: Timestamp, packet: Sent) -> bool {
        self.source.on_arrival(now, Bytes::new(PACKET), self.backlog());
        self.arrived += PACKET;
        let fits = self.queue() + PACKET <= self.buffer;
        if fits {
            self.waiting.push_back(packet);
        }
        fits
    }

    /// Transmits for a millisecond and appends the transmitted packets to `through`.
    fn send(&mut self, now: Timestamp, through: &mut Vec<Sent>) {
        let mut budget = (self.rate)(now.as_secs_f64()) / 8.0 * 1e-3;
        loop {
            let (packet, remaining) = match self.sending.take() {
                Some(sending) => sending,
                None => match self.waiting.pop_front() {
                    Some(packet) => {
                        self.shortest = self.shortest.min(self.queue());
                        let backlog = self.backlog();
                        self.source.on_departure(now, Bytes::new(PACKET), backlog);
                        (packet, PACKET as f64)
                    }
                    None => break,
                },
            };
            if budget < remaining {
                self.sending = Some((packet, remaining - budget));
                break;
            }
            budget -= remaining;
            through.push(packet);
        }
        self.queue_sum += self.queue();
    }

    fn run_timers(&mut self, now: Timestamp) {
        let backlog = self.backlog();
        while self.source.next_timer() <= now {
            self.source.on_timer(now, backlog);
            self.assert_sane(now);
        }
    }

    /// Checks that all results of the source are finite and that its capacity is positive.
    fn assert_sane(&mut self, now: Timestamp) {
        if let Some(capacity) = self.source.capacity(now) {
            assert!(capacity.is_finite() && capacity > 0.0, "capacity {capacity} at {now:?}");
        }
        assert!(self.source.probing() >= 1.0);
        self.source.observe(&mut |name, value| {
            assert!(value.is_finite(), "{name} is {value} at {now:?}");
            if name != "p12" && name != "k2" && name != "spare_bandwidth" {
                assert!(value >= 0.0, "{name} is {value} at {now:?}");
            }
            if name == "k1" {
                assert!(value <= 1.0, "{name} is {value} at {now:?}");
            }
        });
    }

    /// Returns XCP's aggregate feedback F for the interval that ends, byte/s (docs/reference/schemes/xcp.md).
    fn feedback(&mut self, now: Timestamp, milliseconds: u64) -> f64 {
        let length = Duration::from_millis(milliseconds);
        let seconds = length.as_secs_f64();
        let shortest = self.shortest as f64;
        let probing = self.source.probing();
        let spare = self.source.spare(&ControlInterval {
            now,
            length,
            input_rate: self.arrived as f64 / seconds,
            probing,
            mean_rtt: length,
            queue: shortest,
            shortest_queue: shortest,
            mean_queue: self.queue_sum as f64 / milliseconds as f64,
            last_queue: self.queue() as f64,
            buffer: self.buffer as f64,
        });
        (self.arrived, self.queue_sum, self.shortest) = (0, 0, self.queue());
        self.assert_sane(now);
        0.4 * spare.bandwidth - 0.226 * spare.queue / seconds
    }
}

/// The aggregate of all senders: a window changed by feedback, halved at most once per control interval with
/// drops, and decayed while it is not used.
#[derive(Default)]
struct Senders {
    /// Packets.
    window: f64,
    in_flight: u64,
    /// Bytes of application data that may be sent.
    credit: f64,
    /// Pairs of the time at which the packet is acknowledged or found lost, in milliseconds, and the time at
    /// which it was sent, ordered by the former.
    returning: VecDeque<(u64, Sent)>,
    /// Milliseconds.
    rtt: u64,
    // Since the start of the control interval:
    most_in_flight: u64,
    dropped: bool,
}

impl Senders {
    /// Appends the packets sent in this millisecond to `packets`.
    fn send(&mut self, millisecond: u64, limit: f64, packets: &mut Vec<Sent>) {
        while self.returning.front().is_some_and(|(at, _)| *at <= millisecond) {
            let (_, sent) = self.returning.pop_front().expect("seen");
            self.in_flight -= 1;
            self.rtt = millisecond - sent;
        }
        self.credit = (self.credit + limit / 8.0 * 1e-3).min(limit.max(8.0 * PACKET as f64));
        while self.in_flight < self.window as u64 && self.credit >= PACKET as f64 {
            self.credit -= PACKET as f64;
            self.in_flight += 1;
            packets.push(millisecond);
        }
        self.most_in_flight = self.most_in_flight.max(self.in_flight);
    }

    /// Schedules the acknowledgment or the detection of the loss one base round trip later.
    fn return_later(&mut self, millisecond: u64, packets: impl Iterator<Item = Sent>) {
        self.returning.extend(packets.map(|sent| (millisecond + BASE_RTT, sent)));
    }

    /// Processes the end of a control interval with `feedback` in byte/s.
    fn control(&mut self, feedback: f64) {
        self.window += feedback * self.rtt as f64 / 1e3 / PACKET as f64;
        if self.dropped {
            self.window /= 2.0;
        }
        let used = self.most_in_flight as f64;
        if used < (0.9 * self.window).floor() {
            self.window = 0.5 * self.window + 0.5 * used;
        }
        self.window = self.window.clamp(1.0, 1e6);
        (self.dropped, self.most_in_flight) = (false, 0);
    }
}

/// State of one millisecond.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Seconds.
    pub(crate) time: f64,
    /// Capacity estimate of the first link, bit/s; `None` for a source without one.
    pub(crate) estimate: Option<f64>,
    /// True rate of the first link, bit/s.
    pub(crate) truth: f64,
    /// Data that passed the last link, bits.
    pub(crate) delivered: f64,
}

/// Runs links in series for `seconds`; the senders have `limit` bit/s of data at a time in seconds. Checks
/// that all results of the sources are finite, and capacities positive.
pub(crate) fn run(mut links: Vec<Link>, seconds: u64, limit: fn(f64) -> f64) -> Vec<Moment> {
    let mut senders = Senders { window: 1.0, rtt: BASE_RTT, ..Senders::default() };
    // Feedback takes effect one control interval later.
    let mut under_way = 0.0;
    let (mut began, mut ends) = (0, BASE_RTT);
    let mut moments = Vec::new();
    // Their memory is reused, because a window may be a million packets.
    let (mut packets, mut dropped) = (Vec::new(), Vec::new());
    for millisecond in 1..=seconds * 1000 {
        let now = Timestamp::ZERO + Duration::from_millis(millisecond);
        let time = now.as_secs_f64();
        packets.clear();
        senders.send(millisecond, limit(time), &mut packets);
        for link in &mut links {
            for packet in packets.drain(..) {
                if !link.arrive(now, packet) {
                    dropped.push(packet);
                }
            }
            senders.dropped |= !dropped.is_empty();
            senders.return_later(millisecond, dropped.drain(..));
            link.send(now, &mut packets);
            link.run_timers(now);
        }
        senders.return_later(millisecond, packets.iter().copied());
        if millisecond == ends {
            senders.control(under_way);
            let length = ends - began;
            under_way = links.iter_mut().map(|link| link.feedback(now, length)).fold(f64::INFINITY, f64::min);
            assert!(under_way.is_finite());
            (began, ends) = (ends, ends + senders.rtt.min(1000));
        }
        let first = &mut links[0];
        moments.push(Moment {
            time,
            estimate: first.source.capacity(now).map(|capacity| capacity * 8.0),
            truth: (first.rate)(time),
            delivered: packets.len() as f64 * PACKET as f64 * 8.0,
        });
    }
    moments
}

/// Returns the delivered data over the capacity of the first link, from `from` to `to` seconds.
pub(crate) fn utilisation(moments: &[Moment], from: f64, to: f64) -> f64 {
    let part = || moments.iter().filter(|moment| moment.time > from && moment.time <= to);
    part().map(|moment| moment.delivered).sum::<f64>() / part().map(|moment| moment.truth * 1e-3).sum::<f64>()
}

/// Returns the median of |estimate − truth|/truth from `from` to `to` seconds.
pub(crate) fn median_error(moments: &[Moment], from: f64, to: f64) -> f64 {
    let mut errors: Vec<f64> = moments
        .iter()
        .filter(|moment| moment.time > from && moment.time <= to)
        .map(|moment| (moment.estimate.expect("a source with a capacity") / moment.truth - 1.0).abs())
        .collect();
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

/// Creates EBE with a buffer of that size, with bounds far from every link of the tests.
pub(crate) fn ebe(buffer: u64, change: impl FnOnce(&mut EbeConfig)) -> Box<dyn CapacitySource> {
    let mut config = EbeConfig {
        min_capacity: Rate::from_bps(8000),
        max_capacity: Rate::from_bps(1_000_000_000),
        buffer: Bytes::new(buffer),
        ..EbeConfig::default()
    };
    change(&mut config);
    Box::new(Ebe::new(config).expect("valid"))
}

/// One part of EBE that differs from the default.
type Switch = fn(&mut EbeConfig);

/// Returns every estimating source in every variant, with a buffer of that size.
pub(crate) fn every_source(buffer: u64) -> Vec<(String, Box<dyn CapacitySource>)> {
    let mut sources: Vec<(String, Box<dyn CapacitySource>)> = Vec::new();
    for profile in [Profile::Icc, Profile::Journal, Profile::Counting, Profile::Linear, Profile::None] {
        for monitor in [Monitor::Plain, Monitor::IdleCorrected, Monitor::Hold] {
            for maintenance in [Maintenance::Latch, Maintenance::Off] {
                let source = ebe(buffer, |config| {
                    (config.profile, config.monitor, config.maintainer) = (profile, monitor, maintenance);
                });
                sources.push((format!("ebe {profile:?} {monitor:?} {maintenance:?}"), source));
            }
        }
    }
    let switches: [(&str, Switch); 7] = [
        ("BelowThreshold", |config| config.maintainer = Maintenance::BelowThreshold),
        ("Normalised", |config| config.profile = Profile::Normalised),
        ("Strict", |config| config.maintainer = Maintenance::Strict),
        ("Minimum", |config| config.sampled_queue = SampledQueue::Minimum),
        ("Last", |config| config.sampled_queue = SampledQueue::Last),
        ("Packets", |config| config.unit = QueueUnit::Packets),
        ("Estimator", |config| config.spare_arrivals = SpareArrivals::Estimator),
    ];
    for (name, switch) in switches {
        sources.push((format!("ebe {name}"), ebe(buffer, switch)));
    }
    for (name, poll_ms) in [("busy", None), ("busy polled", Some(10))] {
        let config =
            BusyConfig { poll_interval: poll_ms.map(Duration::from_millis), ..BusyConfig::default() };
        sources.push((name.into(), Box::new(Busy::new(config).expect("valid"))));
    }
    sources.push(("qfcp".into(), Box::new(Qfcp::new(QfcpConfig::default()).expect("valid"))));
    for signal in [
        airpath_estimate::QueueSignal::Minimum,
        airpath_estimate::QueueSignal::Mean,
        airpath_estimate::QueueSignal::Last,
    ] {
        let config = XcpBConfig { signal, ..XcpBConfig::default() };
        sources.push((format!("xcp-b {signal:?}"), Box::new(XcpB::new(config).expect("valid"))));
    }
    sources
}
