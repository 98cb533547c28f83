//! Queue disciplines: one packet in and one out, behind a hundred others.

use airpath_estimate::Configured;
use airpath_model::{
    AbcMark, Bytes, CapacitySource, DropReason, Duration, Ecn, LoadCode, LoadWord, PathHeader, Qdisc,
    QueueSink, Rate, Timestamp, XcpHeader,
};
use airpath_queue::{
    Abc, AbcConfig, DropTail, Limit, LoadFactor, LoadFactorConfig, Mpcp, Qfcp, QfcpConfig, Router,
    RouterProtocol, Vcp, Xcp, XcpConfig,
};
use divan::Bencher;
use divan::counter::ItemsCount;

use crate::BATCH;

const BUFFER: Bytes = Bytes::new(1_000_000);

#[derive(Clone, Debug)]
struct Packet {
    flow: u64,
    header: PathHeader,
    ecn: Ecn,
}

impl airpath_model::Packet for Packet {
    fn size(&self) -> Bytes {
        Bytes::new(1500)
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    fn flow(&self) -> u64 {
        self.flow
    }

    fn is_data(&self) -> bool {
        true
    }

    fn path_header(&mut self) -> &mut PathHeader {
        &mut self.header
    }
}

struct NoDrops;

impl QueueSink<Packet> for NoDrops {
    fn on_drop(&mut self, _now: Timestamp, _packet: Packet, _reason: DropReason) {
        panic!("the buffer is large enough");
    }
}

#[divan::bench]
fn drop_tail(bencher: Bencher<'_, '_>) {
    pass(bencher, DropTail::new(Limit::Bytes(BUFFER)), PathHeader::None);
}

#[divan::bench]
fn xcp(bencher: Bencher<'_, '_>) {
    let header = XcpHeader {
        rtt: Duration::from_millis(60),
        inter_packet: Duration::from_micros(500),
        delta_throughput: 100.0,
    };
    pass(bencher, router(Xcp::new(XcpConfig::NS2, source(), BUFFER).unwrap()), PathHeader::Xcp(header));
}

#[divan::bench]
fn qfcp(bencher: Bencher<'_, '_>) {
    let config = QfcpConfig { beta: 0.5, control_interval: Duration::from_millis(200) };
    let header = PathHeader::FairRate(Rate::from_bps(10_000_000));
    pass(bencher, router(Qfcp::new(config, source(), BUFFER).unwrap()), header);
}

#[divan::bench]
fn abc(bencher: Bencher<'_, '_>) {
    let header = PathHeader::Abc(AbcMark::Accelerate);
    pass(bencher, router(Abc::new(AbcConfig::default(), source()).unwrap()), header);
}

#[divan::bench]
fn vcp(bencher: Bencher<'_, '_>) {
    pass(bencher, router(Vcp::new(load_factor())), PathHeader::Load(LoadCode::Low));
}

#[divan::bench]
fn mpcp(bencher: Bencher<'_, '_>) {
    let header = PathHeader::Word(LoadWord { level: 0, digits: 2, digit: 0 });
    pass(bencher, router(Mpcp::new(load_factor())), header);
}

fn source() -> Box<dyn CapacitySource> {
    Box::new(Configured::new(Rate::from_bps(100_000_000)))
}

fn load_factor() -> LoadFactor {
    LoadFactor::new(LoadFactorConfig::default(), source()).unwrap()
}

fn router<T: RouterProtocol<Packet>>(protocol: T) -> Router<Packet, T> {
    Router::new(Limit::Bytes(BUFFER), protocol)
}

/// Measures one packet every 120 µs, with timers when they are due.
fn pass(bencher: Bencher<'_, '_>, mut queue: impl Qdisc<Packet>, header: PathHeader) {
    let mut now = Timestamp::ZERO;
    for flow in 0..100 {
        queue.enqueue(now, Packet { flow, header, ecn: Ecn::Ect0 }, &mut NoDrops);
    }
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for flow in 0..BATCH {
            now += Duration::from_micros(120);
            while queue.next_timer() <= now {
                let due = queue.next_timer();
                queue.on_timer(due, &mut NoDrops);
            }
            queue.enqueue(now, Packet { flow: flow % 100, header, ecn: Ecn::Ect0 }, &mut NoDrops);
            divan::black_box(queue.dequeue(now, &mut NoDrops));
        }
    });
}
