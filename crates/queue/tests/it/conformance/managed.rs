//! Queues with active management, with parameters that make them act within a few packets.

use airpath_model::{Bytes, Duration, Ecn, Qdisc, RandomStream, Rate};
use airpath_queue::{
    Avq, AvqConfig, Classifier, Codel, CodelConfig, Drr, DualPi2, DualPi2Config, FqCodel, FqCodelConfig,
    Limit, Pie, PieConfig, PieDelay, Policer, PolicerConfig, Priority, QueueUnit, Red, RedConfig, Rem,
    RemConfig, Unmarkable,
};

use super::Discipline;
use crate::packet::TestPacket;

type Boxed = Box<dyn Qdisc<TestPacket>>;

const BYTES: Limit = Limit::Bytes(Bytes::new(9000));

pub(crate) fn disciplines() -> Vec<Discipline> {
    vec![
        Discipline::new("red", Limit::Packets(5), |limit| red(limit, RED)),
        Discipline::new("red that drops, in bytes", BYTES, |limit| {
            red(limit, RedConfig { unit: QueueUnit::Bytes, ecn: false, wait: true, ..RED })
        }),
        Discipline::new("adaptive red without gentleness", Limit::Unlimited, |limit| {
            red(limit, RedConfig { adaptive: true, gentle: false, ..RED })
        }),
        Discipline::new("rem that marks", Limit::Packets(5), |limit| rem(limit, REM)),
        Discipline::new("rem that only marks, in bytes", BYTES, |limit| {
            rem(limit, RemConfig { unit: QueueUnit::Bytes, unmarkable: Unmarkable::Pass, ..REM })
        }),
        Discipline::new("rem that drops", Limit::Unlimited, |limit| {
            rem(limit, RemConfig { ecn: false, ..REM })
        }),
        Discipline::new("avq", BYTES, |limit| avq(limit, true)),
        Discipline::new("avq that drops", Limit::Packets(5), |limit| avq(limit, false)),
        Discipline::new("codel", Limit::Packets(5), |limit| codel(limit, true)),
        Discipline::new("codel that drops", Limit::Unlimited, |limit| codel(limit, false)),
        Discipline::new("fq-codel", Limit::Packets(5), |limit| fq_codel(limit, true)),
        Discipline::new("fq-codel that drops", BYTES, |limit| fq_codel(limit, false)),
        Discipline::new("fq-codel without limit", Limit::Unlimited, |limit| fq_codel(limit, false)),
        Discipline::new("pie", Limit::Packets(8), |limit| pie(limit, PIE)),
        Discipline::new("pie by departure rate", Limit::Unlimited, |limit| {
            pie(limit, PieConfig { delay: PieDelay::DepartureRate, derandomise: false, ecn: false, ..PIE })
        }),
        Discipline { lane: ecn_lane, ..Discipline::new("dual-pi2", Limit::Packets(8), dual_pi2) },
        Discipline {
            lane: ecn_lane,
            ..Discipline::new("dual-pi2 without limit", Limit::Unlimited, dual_pi2)
        },
        Discipline::new("priority", Limit::Packets(5), priority),
        Discipline::new("priority in bytes", BYTES, priority),
        Discipline::new("drr", Limit::Packets(5), |limit| {
            drr(limit, Classifier::Hash { queues: 2, perturbation: 1 })
        }),
        Discipline::new("weighted drr", Limit::Packets(5), |limit| drr(limit, classes())),
        Discipline::new("weighted drr in bytes", BYTES, |limit| drr(limit, classes())),
        Discipline::new("policer", Limit::Packets(5), policer),
        Discipline::new("policer without limit", Limit::Unlimited, policer),
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
    capacity: Rate::from_bps(1_200_000),
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
    ecn: true,
    unmarkable: Unmarkable::Drop,
    packet: Bytes::new(1500),
};

fn rem(limit: Limit, config: RemConfig) -> Boxed {
    Box::new(Rem::new(limit, config, stream()).expect("the parameters are in range"))
}

fn avq(limit: Limit, ecn: bool) -> Boxed {
    let config = AvqConfig {
        capacity: Rate::from_bps(1_000_000),
        buffer: Bytes::new(9000),
        alpha: 0.15,
        gamma: 0.98,
        initial_share: 0.8,
        ecn,
    };
    Box::new(Avq::new(limit, config).expect("the parameters are in range"))
}

const fn codel_config(ecn: bool) -> CodelConfig {
    CodelConfig {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(20),
        packet: Bytes::new(100),
        ecn,
    }
}

fn codel(limit: Limit, ecn: bool) -> Boxed {
    Box::new(Codel::new(limit, codel_config(ecn)).expect("the parameters are in range"))
}

fn fq_codel(limit: Limit, ecn: bool) -> Boxed {
    let config = FqCodelConfig { codel: codel_config(ecn), quantum: Bytes::new(700), queues: 2 };
    Box::new(FqCodel::new(limit, config, stream()).expect("the parameters are in range"))
}

const PIE: PieConfig = PieConfig {
    target: Duration::from_millis(5),
    update_interval: Duration::from_millis(5),
    alpha: 10.0,
    beta: 100.0,
    max_burst: Duration::from_millis(10),
    delay: PieDelay::Timestamps,
    derandomise: true,
    ecn: true,
    mark_limit: 0.5,
    packet: Bytes::new(100),
};

fn pie(limit: Limit, config: PieConfig) -> Boxed {
    Box::new(Pie::new(limit, config, stream()).expect("the parameters are in range"))
}

fn dual_pi2(limit: Limit) -> Boxed {
    let config = DualPi2Config {
        target: Duration::from_millis(5),
        update_interval: Duration::from_millis(5),
        alpha: 5.0,
        beta: 20.0,
        coupling: 2.0,
        step: Duration::from_millis(1),
        classic_share: 0.1,
        packet: Bytes::new(100),
    };
    Box::new(DualPi2::new(limit, config, stream()).expect("the parameters are in range"))
}

/// A flow that changes its ECN field changes its queue, so order is kept only within each queue (RFC 9332,
/// section 2.3).
fn ecn_lane(packet: &TestPacket) -> u64 {
    packet.flow << 1 | u64::from(matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce))
}

fn classes() -> Classifier {
    Classifier::Table { queues: 2, of_flow: Box::new([0, 1]) }
}

fn priority(limit: Limit) -> Boxed {
    Box::new(Priority::new(limit, classes()).expect("there are classes"))
}

fn drr(limit: Limit, classifier: Classifier) -> Boxed {
    let quanta = [Bytes::new(500), Bytes::new(1500)];
    Box::new(Drr::new(limit, classifier, &quanta).expect("the parameters are in range"))
}

fn policer(limit: Limit) -> Boxed {
    let config = PolicerConfig { rate: Rate::from_bps(1_000_000), burst: Bytes::new(6000) };
    Box::new(Policer::new(limit, config).expect("the parameters are in range"))
}
