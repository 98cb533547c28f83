//! What the border to a library costs: calls of airpath's own components, built in and as libraries. An item is one call of a
//! controller or an estimator, with the answer read after it, and one packet of a queue or a capacity source (two calls).
#![allow(clippy::unwrap_used, reason = "constant configurations")]

#[path = "../tests/it/examples.rs"]
mod examples;
#[path = "calls/links.rs"]
mod links;

use std::sync::Arc;

use airpath_control::declare::{Components, ControllerFacts};
use airpath_estimate::AckRate;
use airpath_model::declare::{ComponentPlan, Entry};
use airpath_model::{
    AckEvent, AckRateEstimator, Bytes, Controller, Duration, NullProbe, RandomStream, RateSample,
    RttEstimate, SendEvent, Timestamp,
};
use airpath_plugin_host::{FaultSink, Library, LibraryKind};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

/// Items in one measured call, so that the clock's own cost disappears.
const BATCH: u64 = 10_000;
const MSS: Bytes = Bytes::new(1460);
const RTT: Duration = Duration::from_millis(50);

fn main() {
    divan::main();
}

/// Ends the benchmark.
#[derive(Debug)]
struct Ends;

impl FaultSink for Ends {
    fn on_fault(&self, problem: String, _: Option<Timestamp>) {
        panic!("{problem}");
    }
}

/// Returns a component of a library, like those of the registries.
fn entry<K: LibraryKind>(name: &str) -> Entry<K> {
    let faults: Arc<dyn FaultSink> = Arc::new(Ends);
    Library::open(&examples::example(name)).unwrap().entry("library", &faults).unwrap()
}

fn built(mut components: Components, id: &'static str) -> Box<dyn Controller> {
    components.controllers.register(entry("cubic")).unwrap();
    let (initial_window, random) = (MSS * 10, RandomStream::new(1, "bench"));
    let facts = ControllerFacts { initial_window, mss: MSS, handshake_rtt: None, random };
    components.controllers.build(&ComponentPlan::<()>::named(id), &components, facts).unwrap()
}

const KINDS: [&str; 2] = ["cubic", "library"];

/// An acknowledgment of two segments, of a window that the application does not use: the window does not grow, so that
/// all calls are alike.
fn acknowledgment(now: Timestamp) -> AckEvent {
    let mut event = AckEvent::at(now);
    event.acked = MSS * 2;
    event.advance = MSS * 2;
    event.mss = MSS;
    event.in_flight_before = MSS * 10;
    event.in_flight = MSS * 8;
    event.latest_sent_at = Some(now - RTT);
    event.rtt_sample = Some(RTT);
    event.rtt = RttEstimate { latest: RTT, smoothed: RTT, variation: Duration::ZERO, minimum: RTT };
    event.rate = Some(RateSample {
        delivered: MSS * 10,
        lost: Bytes::ZERO,
        interval: RTT,
        prior_delivered: MSS * 10,
        app_limited: true,
    });
    event.window_limited = false;
    event
}

#[divan::bench(args = KINDS)]
fn on_ack(bencher: Bencher<'_, '_>, id: &'static str) {
    let mut controller = built(Components::builtin(), id);
    let mut now = Timestamp::ZERO + RTT;
    bencher.counter(ItemsCount::new(BATCH)).bench_local(move || {
        for _ in 0..BATCH {
            now += Duration::from_micros(10);
            controller.on_ack(black_box(&acknowledgment(now)), &mut NullProbe);
            black_box((controller.control(), controller.next_timer()));
        }
    });
}

#[divan::bench(args = KINDS)]
fn on_sent(bencher: Bencher<'_, '_>, id: &'static str) {
    let mut controller = built(Components::builtin(), id);
    let mut now = Timestamp::ZERO;
    bencher.counter(ItemsCount::new(BATCH)).bench_local(move || {
        for _ in 0..BATCH {
            now += Duration::from_micros(10);
            let mut event = SendEvent::at(now, MSS);
            event.in_flight = MSS * 8;
            controller.on_sent(black_box(&event), &mut NullProbe);
            black_box((controller.control(), controller.next_timer()));
        }
    });
}

fn estimator(mut components: Components, id: &'static str) -> AckRate {
    components.ack_rates.register(entry("estimators")).unwrap();
    components.ack_rates.build(&ComponentPlan::<()>::named(id), &(), ()).unwrap()
}

#[divan::bench(args = ["westwood-plus", "library"])]
fn estimator_on_ack(bencher: Bencher<'_, '_>, id: &'static str) {
    let mut estimator = estimator(Components::builtin(), id);
    let mut now = Timestamp::ZERO + RTT;
    bencher.counter(ItemsCount::new(BATCH)).bench_local(move || {
        for _ in 0..BATCH {
            now += Duration::from_micros(10);
            estimator.on_ack(black_box(&acknowledgment(now)), &mut NullProbe);
            black_box(estimator.bandwidth());
        }
    });
}
