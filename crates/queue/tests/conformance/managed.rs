//! Queues with active management, with parameters that make them act within a few packets.

use airpath_model::{Bytes, Duration, Qdisc, RandomStream, Rate};
use airpath_queue::{Limit, QueueUnit, Red, RedConfig, Rem, RemConfig, RemResponse};

use crate::Discipline;
use crate::packet::TestPacket;

type Boxed = Box<dyn Qdisc<TestPacket>>;

pub(crate) fn disciplines() -> Vec<Discipline> {
    vec![
        ("red", Limit::Packets(5), |limit| red(limit, RED)),
        ("red that drops, in bytes", Limit::Bytes(Bytes::new(9000)), |limit| {
            red(limit, RedConfig { unit: QueueUnit::Bytes, ecn: false, wait: true, ..RED })
        }),
        ("adaptive red without gentleness", Limit::Unlimited, |limit| {
            red(limit, RedConfig { adaptive: true, gentle: false, ..RED })
        }),
        ("rem that marks", Limit::Packets(5), |limit| rem(limit, REM)),
        ("rem that only marks, in bytes", Limit::Bytes(Bytes::new(9000)), |limit| {
            rem(limit, RemConfig { unit: QueueUnit::Bytes, response: RemResponse::MarkOnly, ..REM })
        }),
        ("rem that drops", Limit::Unlimited, |limit| {
            rem(limit, RemConfig { response: RemResponse::Drop, ..REM })
        }),
    ]
}

fn stream() -> RandomStream {
    RandomStream::new(1, "queue")
}

const RED: RedConfig = RedConfig {
    unit: QueueUnit::Packets,
    minimum: 0.5,
    maximum: 2.0,
    max_probability: 0.5,
    weight: 0.5,
    gentle: true,
    wait: false,
    adaptive: false,
    ecn: true,
    mark_limit: 0.8,
    packet: Bytes::new(1500),
    packet_time: Duration::from_millis(10),
};

fn red(limit: Limit, config: RedConfig) -> Boxed {
    Box::new(Red::new(limit, config, stream()).expect("the parameters are in range"))
}

const REM: RemConfig = RemConfig {
    unit: QueueUnit::Packets,
    capacity: Rate::from_bps(100_000),
    interval: Duration::from_millis(20),
    gamma: 0.5,
    alpha: 0.5,
    phi: 1.5,
    target: 1.0,
    response: RemResponse::Mark,
    packet: Bytes::new(1500),
};

fn rem(limit: Limit, config: RemConfig) -> Boxed {
    Box::new(Rem::new(limit, config, stream()).expect("the parameters are in range"))
}
