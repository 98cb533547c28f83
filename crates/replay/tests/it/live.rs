//! Compares estimates from a capture with the live estimates of the sender.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use crate::common::estimators::{every_estimator, options};
use airpath_estimate::AckRate;
use airpath_model::{
    AckEvent, AckRateEstimator, Bytes, CongestionEvent, Control, Controller, Duration, NullProbe, Pacing,
    Phase, Probe, RandomStream, Rate, Timestamp,
};
use airpath_replay::{AckObserver, Analysis, Vantage, analyse_observed};
use airpath_trace::capture::{CaptureWriter, PacketDescription, PacketKind, TcpDescription, TcpFlags};
use airpath_transport::{Acknowledgment, Receiver, ReceiverConfig, Segment, Sender, SenderConfig};

const MSS: u32 = 1448;
const HEADERS: u64 = 52;

/// The estimates after one acknowledgment, byte/s, and its time.
type Row = (Timestamp, Vec<Option<f64>>);

/// A controller that halves its window at losses, with every estimator alongside.
#[derive(Debug)]
struct Live {
    window: u64,
    estimators: Vec<AckRate>,
    rows: Arc<Mutex<Vec<Row>>>,
}

impl Controller for Live {
    fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn Probe) {
        if !event.in_recovery {
            self.window += u64::from(MSS) * event.acked.get() / self.window;
        }
        for estimator in &mut self.estimators {
            estimator.on_ack(event, &mut NullProbe);
        }
        let row = self.estimators.iter().map(AckRateEstimator::bandwidth).collect();
        self.rows.lock().unwrap().push((event.now, row));
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        self.window = (event.flight_size.get() / 2).max(2 * u64::from(MSS));
        for estimator in &mut self.estimators {
            estimator.on_congestion(event);
        }
    }

    fn control(&self) -> Control {
        Control { window: Bytes::new(self.window), pacing: Pacing::Off, quantum: Bytes::MAX }
    }

    fn phase(&self) -> Phase {
        Phase::CongestionAvoidance
    }
}

/// The next event on the path.
enum Event {
    DataArrives(Segment),
    AckArrives(Acknowledgment),
    ReceiverTimer,
    SenderTimer,
}

/// A path: 8 Mbit/s with a queue of 30 packets and losses, 25 ms forward, 25 ms reverse and up to `jitter`
/// more.
struct Path {
    sender: Sender,
    receiver: Receiver,
    events: BTreeMap<(Timestamp, u64), Event>,
    order: u64,
    link_free: Timestamp,
    ack_free: Timestamp,
    random: RandomStream,
    loss: f64,
    jitter: Duration,
    at_sender: CaptureWriter<Vec<u8>>,
    at_receiver: CaptureWriter<Vec<u8>>,
}

const RATE: Rate = Rate::from_bps(8_000_000);
const ONE_WAY: Duration = Duration::from_millis(25);
const QUEUE: Duration = Duration::from_millis(45);

fn run(seconds: u64, loss: f64, jitter: Duration) -> (Vec<Row>, Vec<u8>, Vec<u8>) {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let tick = Some(Duration::from_millis(1));
    let estimators = every_estimator().iter().map(|estimator| estimator.estimator(tick)).collect();
    let live = Live { window: 20 * u64::from(MSS), estimators, rows: Arc::clone(&rows) };
    let mut sender = Sender::new(SenderConfig::default(), Box::new(live)).unwrap();
    sender.offer(Bytes::MAX);
    let mut path = Path {
        sender,
        receiver: Receiver::new(ReceiverConfig::default()),
        events: BTreeMap::new(),
        order: 0,
        link_free: Timestamp::ZERO,
        ack_free: Timestamp::ZERO,
        random: RandomStream::new(7, "path"),
        loss,
        jitter,
        at_sender: CaptureWriter::new(Vec::new(), &["sender"]).unwrap(),
        at_receiver: CaptureWriter::new(Vec::new(), &["receiver"]).unwrap(),
    };
    path.send(Timestamp::ZERO);
    let end = Timestamp::ZERO + Duration::from_secs(seconds);
    while let Some(((now, _), event)) = path.events.pop_first().filter(|((now, _), _)| *now < end) {
        path.step(now, &event);
    }
    drop(path.sender);
    let rows = std::mem::take(&mut *rows.lock().unwrap());
    (rows, path.at_sender.into_inner(), path.at_receiver.into_inner())
}

impl Path {
    fn step(&mut self, now: Timestamp, event: &Event) {
        match event {
            Event::DataArrives(segment) => {
                self.at_receiver.packet(0, now.as_nanos(), &data(segment)).unwrap();
                self.receiver.on_segment(now, segment);
                self.acknowledge(now);
            }
            Event::ReceiverTimer => {
                if self.receiver.next_timer() <= now {
                    self.receiver.on_timer(now);
                    self.acknowledge(now);
                }
            }
            Event::AckArrives(ack) => {
                self.at_sender.packet(0, now.as_nanos(), &acknowledgment(ack)).unwrap();
                self.sender.on_ack(now, ack, &mut NullProbe);
                self.send(now);
            }
            Event::SenderTimer => {
                if self.sender.next_timer() <= now {
                    self.sender.on_timer(now, &mut NullProbe);
                    self.send(now);
                }
            }
        }
    }

    fn send(&mut self, now: Timestamp) {
        while let Some(segment) = self.sender.poll_transmit(now, &mut NullProbe) {
            self.at_sender.packet(0, now.as_nanos(), &data(&segment)).unwrap();
            let start = self.link_free.max(now);
            if start.since(now) > QUEUE || self.random.chance(self.loss) {
                continue;
            }
            self.link_free = start + RATE.time_for(Bytes::new(u64::from(segment.payload) + HEADERS));
            self.schedule(self.link_free + ONE_WAY, Event::DataArrives(segment));
        }
        let timer = self.sender.next_timer();
        if timer.is_scheduled() {
            self.schedule(timer, Event::SenderTimer);
        }
    }

    fn acknowledge(&mut self, now: Timestamp) {
        while let Some(ack) = self.receiver.poll_ack(now) {
            self.at_receiver.packet(0, now.as_nanos(), &acknowledgment(&ack)).unwrap();
            let more = self.random.uniform_duration(Duration::ZERO, self.jitter);
            self.ack_free = self.ack_free.max(now + ONE_WAY + more);
            self.schedule(self.ack_free, Event::AckArrives(ack));
        }
        let timer = self.receiver.next_timer();
        if timer.is_scheduled() {
            self.schedule(timer, Event::ReceiverTimer);
        }
    }

    fn schedule(&mut self, at: Timestamp, event: Event) {
        self.order += 1;
        self.events.insert((at, self.order), event);
    }
}

fn milliseconds(time: Timestamp) -> u32 {
    (time.as_nanos() / 1_000_000) as u32
}

fn data(segment: &Segment) -> PacketDescription {
    PacketDescription {
        source: [10, 0, 0, 1],
        destination: [10, 0, 0, 2],
        source_port: 5000,
        destination_port: 80,
        payload_length: segment.payload,
        kind: PacketKind::Tcp(TcpDescription {
            sequence: segment.sequence as u32,
            acknowledgment: 1,
            flags: TcpFlags { ack: true, ..TcpFlags::default() },
            window: 1000,
            timestamps: segment
                .timestamp
                .map(|sent| (milliseconds(sent), segment.timestamp_echo.map_or(0, milliseconds))),
            sack: [None; 3],
            opening: None,
        }),
        ecn: 0,
    }
}

fn acknowledgment(ack: &Acknowledgment) -> PacketDescription {
    let mut sack = [None; 3];
    for (slot, (left, right)) in sack.iter_mut().zip(ack.sack_ranges()) {
        *slot = Some((left as u32, right as u32));
    }
    PacketDescription {
        source: [10, 0, 0, 2],
        destination: [10, 0, 0, 1],
        source_port: 80,
        destination_port: 5000,
        payload_length: 0,
        kind: PacketKind::Tcp(TcpDescription {
            sequence: 1,
            acknowledgment: ack.cumulative as u32,
            flags: TcpFlags { ack: true, ..TcpFlags::default() },
            window: 65_535,
            timestamps: ack
                .timestamp
                .map(|clock| (milliseconds(clock), ack.timestamp_echo.map_or(0, milliseconds))),
            sack,
            opening: None,
        }),
        ecn: 0,
    }
}

/// Records the replayed estimates.
#[derive(Default)]
struct Replayed(Vec<Row>);

impl AckObserver for Replayed {
    fn on_ack(&mut self, _: SocketAddr, _: SocketAddr, event: &AckEvent, estimates: &[Option<f64>]) {
        self.0.push((event.now, estimates.to_vec()));
    }
}

fn replay(capture: Vec<u8>) -> (Vec<Row>, Analysis) {
    let mut replayed = Replayed::default();
    let analysis = analyse_observed(Cursor::new(capture), &options(), &mut replayed).unwrap();
    assert_eq!(analysis.report.stopped, None);
    assert_eq!(analysis.flows.len(), 1);
    (replayed.0, analysis)
}

/// Returns for each estimator the largest difference of the two lists, relative to the live estimate.
fn distances(live: &[Row], replayed: &[Row]) -> Vec<(String, f64)> {
    every_estimator()
        .iter()
        .enumerate()
        .map(|(k, estimator)| {
            let worst =
                live.iter().zip(replayed).map(|((_, live), (_, replayed))| match (live[k], replayed[k]) {
                    (None, None) => 0.0,
                    (Some(live), Some(replayed)) if live > 0.0 => (live - replayed).abs() / live,
                    (Some(live), Some(replayed)) => (live - replayed).abs(),
                    _ => f64::INFINITY,
                });
            (estimator.name().to_owned(), worst.fold(0.0, f64::max))
        })
        .collect()
}

#[test]
fn a_capture_at_the_sender_reproduces_the_senders_estimates() {
    for (loss, jitter_ms) in [(0.0, 0), (0.005, 0), (0.02, 8)] {
        let (live, at_sender, _) = run(30, loss, Duration::from_millis(jitter_ms));
        let (replayed, analysis) = replay(at_sender);
        assert_eq!(analysis.flows[0].vantage, Vantage::Sender);
        assert_eq!(live.len(), replayed.len());
        assert!(live.iter().zip(&replayed).all(|(live, replayed)| live.0 == replayed.0), "the same instants");
        assert!(live.len() > 2_000);
        for (name, distance) in distances(&live, &replayed) {
            assert!(distance <= ROUNDING, "{name} is {distance} away with {loss} losses");
        }
    }
}

#[test]
fn a_capture_at_the_receiver_reproduces_the_estimates_from_the_receivers_clock() {
    let (live, _, at_receiver) = run(30, 0.005, Duration::from_millis(8));
    let (replayed, analysis) = replay(at_receiver);
    assert_eq!(analysis.flows[0].vantage, Vantage::Receiver);
    // The last acknowledgments had not arrived at the sender when the run ended.
    assert!(live.len() <= replayed.len() && replayed.len() < live.len() + 100);
    let distances: BTreeMap<String, f64> = distances(&live, &replayed).into_iter().collect();
    assert!(distances["sarbe"] <= ROUNDING, "{distances:?}");
    // The others need the arrivals at the sender, which this endpoint cannot observe.
    assert!(distances["westwood"] > 0.01 && distances["westwood-zoh"] > 0.01, "{distances:?}");
}

/// Both sides compute in the same order; only the last bit may differ.
const ROUNDING: f64 = 1e-12;
