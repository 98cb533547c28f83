//! A second implementation of VCP from the rules of its papers alone: thirty flows over a testbed's two queues.
//!
//! Modelled: 10 Mbit/s and 200 ms each way; in each direction five flows in each of three groups of round trips, which
//! begin within 10 s, UDP of 0.2 Mbit/s and TCP with a fixed window of 16 kB; side links that send at 1 Gbit/s; an
//! acknowledgment of 40 bytes for each packet, which waits in the queue of the other direction and counts for its load.
//! The router tags a data packet with its load when it begins to send it, and the acknowledgment carries the tag back.
//!
//! Left out: retransmissions, timeouts, slow start, pacing, the clocks of real hosts. The only effect of a loss is that
//! the sender detects it a round trip later, halves its window and keeps it for a round trip. That is enough if nothing
//! is dropped, and each line prints the number of drops: none in the twelve cases.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Nanoseconds.
type Time = u64;

const MS: Time = 1_000_000;
const SEEDS: u32 = 10;
/// Interval in which rates are measured. The run ends with it.
const SEEN: std::ops::Range<Time> = 20_000 * MS..50_000 * MS;

const LINK: f64 = 10e6;
const SIDE_LINK: f64 = 1e9;
const ONE_WAY: Time = 200 * MS;
const BUFFER: usize = 1000;
const UDP: f64 = 0.2e6;
const TCP_WINDOW: u64 = 16_000;
/// Header bytes of a data packet, and the size of an acknowledgment.
const HEADER: u64 = 40;
const FLOWS_OF_A_GROUP: u64 = 5;
/// Interval in which flows start.
const STARTS: Time = 10_000 * MS;
const FIRST_WINDOW: f64 = 2.0;

const T_RHO: Time = 200 * MS;
const T_RHO_SECONDS: f64 = 0.2;
const T_Q: Time = 10 * MS;
const WEIGHT: f64 = 0.25;
const KAPPA_Q: f64 = 0.5;
const GAMMA_L: f64 = 0.98;
/// Load factor below which the load is low; a sender then assumes this value.
const LOW: f64 = 0.8;
const KAPPA: f64 = 0.25;
const BETA: f64 = 0.875;
/// The freeze ends with a tick of the sender's clock.
const TICK: Time = 10 * MS;
/// The longest round trip that steps are scaled to, in seconds.
const CAP: f64 = 0.5;

/// The behaviour after the freeze that follows a multiplicative decrease.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// Additive increase for a round trip, regardless of the codes.
    Author,
    /// The same, but only while a decrease removes more than a round trip adds.
    Guarded,
    /// As `Author`, with an alpha of 0.25 in place of 1.
    SmallAlpha,
    /// The codes are obeyed again at once.
    Obey,
}

const RULES: [(Rule, &str); 4] = [
    (Rule::Author, "author"),
    (Rule::Guarded, "guarded"),
    (Rule::SmallAlpha, "alpha 0.25"),
    (Rule::Obey, "obey"),
];

#[derive(Clone, Copy)]
struct Case {
    /// Bytes on the wire.
    packet: u64,
    rule: Rule,
    /// The additive step grows with the round trip to this power, 1 or 2.
    power: i32,
    /// Each group's round trip in excess of 400 ms, in ms.
    extra: [u64; 3],
    /// Spread of the round trips of a group, in ms.
    spread: u64,
}

/// The router's code.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Load {
    #[default]
    Low,
    High,
    Overload,
}

#[derive(Clone, Copy)]
enum Phase {
    /// Follows the codes.
    Obeys,
    Frozen(Time),
    Adds(Time),
}

/// The window of a VCP sender, in packets.
struct Vcp {
    case: Case,
    window: f64,
    smoothed: f64,
    phase: Phase,
    /// Time until which the window stays constant after a loss.
    held: Time,
}

impl Vcp {
    /// Returns the smoothed round trip in units of t_rho, at most the cap.
    fn scale(&self) -> f64 {
        self.smoothed.min(CAP) / T_RHO_SECONDS
    }

    /// Returns the growth of the window in a round trip of additive increase.
    fn step(&self) -> f64 {
        let alpha = if self.case.rule == Rule::SmallAlpha { 0.25 } else { 1.0 };
        alpha * self.scale().powi(self.case.power)
    }

    fn on_ack(&mut self, now: Time, rtt: f64, load: Load) {
        self.smoothed = if self.smoothed == 0.0 { rtt } else { self.smoothed + (rtt - self.smoothed) / 8.0 };
        if now < self.held {
            return;
        }
        self.end_phase(now);
        match (self.phase, load) {
            (Phase::Frozen(_), _) => {}
            (Phase::Adds(_), _) | (Phase::Obeys, Load::High) => self.window += self.step() / self.window,
            (Phase::Obeys, Load::Low) => {
                let xi = KAPPA * (1.0 - LOW) / LOW;
                self.window += (1.0 + xi).powf(self.scale()) - 1.0;
            }
            (Phase::Obeys, Load::Overload) => {
                self.window = (self.window * BETA).max(1.0);
                self.phase = Phase::Frozen((now + T_RHO).next_multiple_of(TICK));
            }
        }
    }

    fn end_phase(&mut self, now: Time) {
        if let Phase::Frozen(until) = self.phase
            && now >= until
        {
            let adds = Phase::Adds(until + (self.smoothed * 1e9) as Time);
            self.phase = if self.case.rule == Rule::Obey { Phase::Obeys } else { adds };
        }
        if let Phase::Adds(until) = self.phase {
            let too_much = self.case.rule == Rule::Guarded && (1.0 - BETA) * self.window <= self.step();
            if now >= until || too_much {
                self.phase = Phase::Obeys;
            }
        }
    }

    fn on_lost(&mut self, now: Time) {
        if now >= self.held {
            self.window = (self.window / 2.0).max(1.0);
            self.held = now + (self.smoothed * 1e9) as Time;
        }
    }
}

#[derive(Default)]
struct Flow {
    direction: usize,
    group: usize,
    /// One-way delay between a host and its router, equal on both sides.
    side: Time,
    /// Time at which the sender's side link is free, initially the start of the flow.
    free_at: Time,
    flying: u64,
    /// `None` for TCP with its fixed window.
    vcp: Option<Vcp>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    /// `None` for UDP.
    flow: Option<usize>,
    ack: bool,
    bytes: u64,
    /// `None` for packets other than VCP's.
    load: Option<Load>,
    sent: Time,
}

#[derive(Default)]
struct Router {
    load: Load,
    queue: VecDeque<Packet>,
    /// Bytes that arrived since the last measurement.
    arrived: u64,
    /// Samples of the queued bytes since then.
    looks: Vec<u64>,
    mean: f64,
}

impl Router {
    /// Samples the queue every t_q, and measures the load every t_rho.
    fn look(&mut self) {
        self.looks.push(self.queue.iter().map(|packet| packet.bytes).sum());
        if (self.looks.len() as u64) < T_RHO / T_Q {
            return;
        }
        let queue = self.looks.iter().sum::<u64>() as f64 / self.looks.len() as f64;
        self.mean = WEIGHT * queue + (1.0 - WEIGHT) * self.mean;
        let most = GAMMA_L * LINK / 8.0 * T_RHO_SECONDS;
        self.load = match (self.arrived as f64 + KAPPA_Q * self.mean) / most {
            ..LOW => Load::Low,
            ..1.0 => Load::High,
            _ => Load::Overload,
        };
        self.arrived = 0;
        self.looks.clear();
    }
}

/// Returns a random number from 0 to 1 (SplitMix64).
fn draw(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Start(usize),
    Udp(usize),
    AtRouter(usize, Packet),
    Transmitted(usize),
    AtReceiver(usize, Packet),
    /// An acknowledgment, or a lost data packet whose loss the sender detects.
    AtSender(usize, Packet),
    Look,
}

/// Bits of both directions that left the routers in the measured interval.
#[derive(Default)]
struct Seen {
    groups: [u64; 3],
    all: u64,
    drops: u64,
}

#[derive(Default)]
struct Testbed {
    packet: u64,
    now: Time,
    pushed: u64,
    events: BinaryHeap<Reverse<(Time, u64, What)>>,
    flows: Vec<Flow>,
    routers: [Router; 2],
    seen: Seen,
}

fn transmission(bytes: u64, rate: f64) -> Time {
    (bytes as f64 * 8.0 / rate * 1e9).round() as Time
}

impl Testbed {
    fn run(case: &Case, seed: u32) -> Seen {
        let mut testbed = Self { packet: case.packet, ..Self::default() };
        let mut random = u64::from(seed) * 7919 + 12345;
        for _ in 0..10 {
            draw(&mut random);
        }
        (0..2).for_each(|direction| testbed.populate(*case, direction, &mut random));
        testbed.push(T_Q, What::Look);
        while let Some(Reverse((now, _, what))) = testbed.events.pop()
            && now < SEEN.end
        {
            testbed.now = now;
            testbed.step(what);
        }
        testbed.seen
    }

    fn populate(&mut self, case: Case, direction: usize, random: &mut u64) {
        for (group, extra) in case.extra.into_iter().enumerate() {
            for number in 0..FLOWS_OF_A_GROUP {
                let vcp = Vcp { case, window: FIRST_WINDOW, smoothed: 0.0, phase: Phase::Obeys, held: 0 };
                let free_at = (draw(random) * STARTS as f64) as Time;
                let side = (extra * MS + number * case.spread * MS / (FLOWS_OF_A_GROUP - 1)) / 4;
                self.add(Flow { direction, group, side, free_at, flying: 0, vcp: Some(vcp) });
            }
        }
        self.add(Flow { direction, ..Flow::default() });
        self.push((draw(random) * transmission(case.packet, UDP) as f64) as Time, What::Udp(direction));
    }

    fn add(&mut self, flow: Flow) {
        self.push(flow.free_at, What::Start(self.flows.len()));
        self.flows.push(flow);
    }

    fn push(&mut self, at: Time, what: What) {
        self.pushed += 1;
        self.events.push(Reverse((at, self.pushed, what)));
    }

    fn step(&mut self, what: What) {
        match what {
            What::Start(flow) => self.send(flow),
            What::Udp(direction) => {
                let (bytes, sent) = (self.packet, self.now);
                self.arrive(direction, Packet { flow: None, ack: false, bytes, load: None, sent });
                self.push(sent + transmission(bytes, UDP), what);
            }
            What::AtRouter(direction, packet) => self.arrive(direction, packet),
            What::Transmitted(direction) => self.transmitted(direction),
            What::AtReceiver(flow, packet) => {
                let ack = Packet { ack: true, bytes: HEADER, ..packet };
                let Flow { direction, side, .. } = self.flows[flow];
                self.push(self.now + side, What::AtRouter(1 - direction, ack));
            }
            What::AtSender(flow, packet) => {
                let rtt = (self.now - packet.sent) as f64 * 1e-9;
                match (&mut self.flows[flow].vcp, packet.load) {
                    (Some(vcp), Some(load)) if packet.ack => vcp.on_ack(self.now, rtt, load),
                    (Some(vcp), Some(_)) => vcp.on_lost(self.now),
                    _ => {}
                }
                self.flows[flow].flying -= 1;
                self.send(flow);
            }
            What::Look => {
                self.routers.iter_mut().for_each(Router::look);
                self.push(self.now + T_Q, what);
            }
        }
    }

    /// Sends as many packets as the window permits.
    fn send(&mut self, number: usize) {
        let (bytes, sent) = (self.packet, self.now);
        let flow = &self.flows[number];
        let tcp = TCP_WINDOW / (bytes - HEADER);
        let window = flow.vcp.as_ref().map_or(tcp, |vcp| (vcp.window + 1e-9) as u64);
        let load = flow.vcp.as_ref().map(|_| Load::Low);
        for _ in flow.flying..window {
            let flow = &mut self.flows[number];
            flow.flying += 1;
            flow.free_at = flow.free_at.max(sent) + transmission(bytes, SIDE_LINK);
            let packet = Packet { flow: Some(number), ack: false, bytes, load, sent };
            let (at, direction) = (flow.free_at + flow.side, flow.direction);
            self.push(at, What::AtRouter(direction, packet));
        }
    }

    fn arrive(&mut self, direction: usize, packet: Packet) {
        let router = &mut self.routers[direction];
        router.arrived += packet.bytes;
        if router.queue.len() < BUFFER {
            router.queue.push_back(packet);
            if router.queue.len() == 1 {
                self.transmit(direction);
            }
            return;
        }
        self.seen.drops += 1;
        if let Some(flow) = packet.flow {
            // A lost acknowledgment only frees its place in the window.
            let load = packet.load.filter(|_| !packet.ack);
            let at = self.now + 2 * (ONE_WAY + self.flows[flow].side);
            self.push(at, What::AtSender(flow, Packet { load, ..packet }));
        }
    }

    /// Tags the next packet and starts its transmission; it stays in the queue until the transmission ends.
    fn transmit(&mut self, direction: usize) {
        let router = &mut self.routers[direction];
        let Some(packet) = router.queue.front_mut() else { return };
        if !packet.ack {
            packet.load = packet.load.map(|load| load.max(router.load));
        }
        let at = self.now + transmission(packet.bytes, LINK);
        self.push(at, What::Transmitted(direction));
    }

    fn transmitted(&mut self, direction: usize) {
        let packet = self.routers[direction].queue.pop_front().expect("a packet that has left");
        self.count(&packet);
        if let Some(flow) = packet.flow {
            let at = self.now + ONE_WAY + self.flows[flow].side;
            self.push(at, if packet.ack { What::AtSender } else { What::AtReceiver }(flow, packet));
        }
        self.transmit(direction);
    }

    fn count(&mut self, packet: &Packet) {
        if SEEN.contains(&self.now) {
            self.seen.all += packet.bytes * 8;
            if let (Some(flow), Some(_), false) = (packet.flow, packet.load, packet.ack) {
                self.seen.groups[self.flows[flow].group] += packet.bytes * 8;
            }
        }
    }
}

/// Prints the twelve cases, or the selected one.
pub fn print(arguments: &[String]) {
    if let Some(case) = parse(arguments) {
        return show(&case);
    }
    println!("VCP, Mbit/s of each group from 20 to 50 s, means of both directions and {SEEDS} runs");
    for packet in [1500, 1040] {
        for rule in [Rule::Author, Rule::Guarded, Rule::SmallAlpha] {
            for extra in [[0, 100, 150], [0, 200, 300]] {
                show(&Case { packet, rule, power: 1, extra, spread: 10 });
            }
        }
    }
}

/// Parses a case such as `obey 2 1500 0 100 150 10`: rule, power, packet, extra round trips, spread.
fn parse(arguments: &[String]) -> Option<Case> {
    let (name, numbers) = arguments.split_first()?;
    let (rule, _) = RULES.into_iter().find(|(_, known)| name == known).expect("a rule's name");
    let numbers: Vec<u64> = numbers.iter().map(|number| number.parse().expect("a whole number")).collect();
    let [power, packet, a, b, c, spread] = numbers[..] else { panic!("six numbers after the rule") };
    Some(Case { packet, rule, power: power as i32, extra: [a, b, c], spread })
}

fn show(case: &Case) {
    let runs: Vec<_> = (1..=SEEDS).map(|seed| Testbed::run(case, seed)).collect();
    let bits = 2.0 * (SEEN.end - SEEN.start) as f64 * 1e-9;
    let rates = [0, 1, 2].map(|group| {
        let (mean, error) = mean(runs.iter().map(|seen| seen.groups[group] as f64 / bits / 1e6));
        format!("{mean:.3} +- {error:.3}")
    });
    let (used, _) = mean(runs.iter().map(|seen| seen.all as f64 / bits / LINK));
    let drops: u64 = runs.iter().map(|seen| seen.drops).sum();
    let Case { packet, rule, extra, .. } = case;
    let (_, name) = RULES.into_iter().find(|(known, _)| known == rule).expect("every rule");
    let (extra, rates) = (extra.map(|ms| ms.to_string()).join("/"), rates.join(", "));
    println!("  {packet} bytes, {name}, {extra} ms: {rates}; {used:.3} of the link, {drops} drops");
}

/// Returns the mean and its standard error.
fn mean(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = f64::from(SEEDS);
    let mean = values.clone().sum::<f64>() / count;
    let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}
