//! Queues and capacity sources. An item is one packet, which arrives and leaves.

use airpath_estimate::declare::{LinkTruth, SourceFacts};
use airpath_model::declare::ComponentPlan;
use airpath_model::{
    Backlog, Bytes, CapacitySource, DropReason, Duration, Ecn, Packet, PathHeader, Qdisc, QueueSink,
    RandomStream, Timestamp, TrueRate,
};
use airpath_queue::Limit;
use airpath_queue::declare::QueueFacts;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

use crate::{BATCH, entry};

const SIZE: Bytes = Bytes::new(1500);

#[derive(Debug)]
struct Data(PathHeader);

impl Packet for Data {
    fn size(&self) -> Bytes {
        SIZE
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn set_ecn(&mut self, _ecn: Ecn) {}

    fn flow(&self) -> u64 {
        1
    }

    fn is_data(&self) -> bool {
        true
    }

    fn path_header(&mut self) -> &mut PathHeader {
        &mut self.0
    }
}

/// Ignores drops and marks.
struct Nowhere;

impl QueueSink<Data> for Nowhere {
    fn on_drop(&mut self, _now: Timestamp, _packet: Data, _reason: DropReason) {}
}

fn queue(id: &'static str) -> Box<dyn Qdisc<Data>> {
    let mut queues = airpath_queue::registry::queues();
    queues.register(entry("codel")).unwrap();
    let facts = QueueFacts {
        limit: Limit::Packets(100),
        buffer: SIZE * 100,
        flows: 1,
        flow_sources: &[],
        random: RandomStream::new(1, "bench"),
    };
    let plan = ComponentPlan::<()>::named(id).with("packet", SIZE.get());
    queues.build(&plan, &(), facts).unwrap()
}

/// Ten packets wait, for less time than the target of `CoDel`.
#[divan::bench(args = ["codel", "library"])]
fn queue_of_codel(bencher: Bencher<'_, '_>, id: &'static str) {
    let mut queue = queue(id);
    let mut now = Timestamp::ZERO;
    for _ in 0..10 {
        queue.enqueue(now, Data(PathHeader::None), &mut Nowhere);
    }
    bencher.counter(ItemsCount::new(BATCH)).bench_local(move || {
        for _ in 0..BATCH {
            now += Duration::from_micros(10);
            queue.enqueue(now, Data(PathHeader::None), &mut Nowhere);
            black_box(queue.dequeue(now, &mut Nowhere));
            black_box(queue.next_timer());
        }
    });
}

/// No source here reads it.
#[derive(Debug)]
struct Unknown;

impl LinkTruth for Unknown {
    fn averaged_over(&self, _averaging: Duration) -> Box<dyn TrueRate> {
        unimplemented!("no source reads the true rate")
    }
}

fn source(id: &'static str) -> Box<dyn CapacitySource> {
    let mut sources = airpath_estimate::registry::capacity_sources();
    sources.register(entry("estimators")).unwrap();
    let facts = SourceFacts { buffer: SIZE * 100, truth: &Unknown, xcp_alpha: Some(0.4) };
    let mut plan = ComponentPlan::<()>::named(id).with("capacity", 10_000_000);
    if id == "ebe" {
        let bounds = plan.with("min_capacity", 40_000).with("max_capacity", 8_000_000_000_000_u64);
        plan = bounds.with("upsilon", 1.4).with("packet", 1000);
    }
    sources.build(&plan, &(), facts).unwrap()
}

#[divan::bench(args = ["ebe", "library"])]
fn source_of_ebe(bencher: Bencher<'_, '_>, id: &'static str) {
    let mut source = source(id);
    let mut now = Timestamp::ZERO;
    let backlog = Backlog { bytes: SIZE * 10, packets: 10 };
    bencher.counter(ItemsCount::new(BATCH)).bench_local(move || {
        for _ in 0..BATCH {
            now += Duration::from_micros(10);
            source.on_arrival(now, SIZE, backlog);
            source.on_departure(now, SIZE, backlog);
            if source.next_timer() <= now {
                source.on_timer(now, backlog);
            }
            black_box(source.capacity(now));
        }
    });
}
