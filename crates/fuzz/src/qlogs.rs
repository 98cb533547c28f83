//! QUIC logs: the reader, and the replay into every estimator.

use crate::target::Target;

use crate::captures::common::qlog_damage;

/// Logs in the dialects of several stacks.
const SEEDS: [&[u8]; 6] = [
    include_bytes!("../../replay/tests/it/qlog/quiche-0.3.sqlog"),
    include_bytes!("../../replay/tests/it/qlog/ngtcp2-0.3.sqlog"),
    include_bytes!("../../replay/tests/it/qlog/quic-go-draft-02.qlog"),
    include_bytes!("../../replay/tests/it/qlog/picoquic-draft-00.qlog"),
    include_bytes!("../../replay/tests/it/qlog/events-14.sqlog"),
    include_bytes!("../../replay/tests/it/qlog/client-0.4.qlog"),
];

pub(crate) fn target() -> Target {
    let parse = |bytes: &[u8]| qlog_damage::is_readable(bytes.to_vec());
    let seeds = SEEDS.iter().map(|seed| seed.to_vec()).collect();
    Target { name: "qlogs", seeds, parse: Box::new(parse) }
}
