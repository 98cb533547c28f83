//! Speed of reading a capture, and of reading and replaying it into every estimator, in MB/s of file.
//!
//! The capture is an upload over Wi-Fi with 128 bytes of each packet, a common snap length.

#[path = "../tests/it/common/mod.rs"]
mod common;

use std::io::Cursor;

use airpath_replay::analyse;
use airpath_trace::capture::CaptureReader;
use common::{CONTAINERS, Link, capture, conversation, estimators};
use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

fn file() -> Vec<u8> {
    capture(CONTAINERS[0], Link::Ethernet, false, 128, &conversation(100_000, 20))
}

#[divan::bench]
fn read(bencher: Bencher<'_, '_>) {
    let file = file();
    bencher.counter(BytesCount::new(file.len())).with_inputs(|| Cursor::new(file.clone())).bench_values(
        |file| {
            let mut reader = CaptureReader::new(file).expect("a capture");
            let mut packets = 0_u64;
            while reader.next_packet().is_some() {
                packets += 1;
            }
            packets
        },
    );
}

#[divan::bench]
fn replay_into_every_estimator(bencher: Bencher<'_, '_>) {
    let file = file();
    bencher
        .counter(BytesCount::new(file.len()))
        .with_inputs(|| Cursor::new(file.clone()))
        .bench_values(|file| analyse(file, &estimators::options()));
}
