//! What one packet costs on each kind of channel: whether it arrives. One "item" is one packet.
#![expect(clippy::unwrap_used, reason = "a bench that cannot begin fails")]

use airpath_channel::{
    AirChain, AirErrors, Antennas, Bernoulli, BitClock, CodeRate, Coding, ErrorProcess, GilbertElliott,
    NoErrors, PacketBursts, TimedBursts, linear_snr,
};
use airpath_model::{Bytes, Duration, RandomStream, Timestamp, Transmission};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

const PACKETS: u64 = 10_000;

fn stream(part: &str) -> RandomStream {
    RandomStream::new(1, part)
}

/// Packets of 1500 bytes, each millisecond, between acknowledgments of 40 bytes.
fn measure(bencher: Bencher<'_, '_>, errors: &(impl ErrorProcess + Clone + Sync)) {
    bencher.counter(ItemsCount::new(PACKETS)).with_inputs(|| errors.clone()).bench_local_values(
        |mut errors| {
            let mut arrived = 0_u64;
            for packet in 0..PACKETS {
                let start = Timestamp::ZERO + Duration::from_micros(500) * packet;
                let size = Bytes::new(if packet % 2 == 0 { 1500 } else { 40 });
                let transmission = Transmission { start, size, continues: false };
                arrived += u64::from(errors.arrives(divan::black_box(&transmission), start));
            }
            arrived
        },
    );
}

#[divan::bench]
fn none(bencher: Bencher<'_, '_>) {
    measure(bencher, &NoErrors);
}

#[divan::bench]
fn independent(bencher: Bencher<'_, '_>) {
    measure(bencher, &Bernoulli::new(0.01, stream("loss")).unwrap());
}

#[divan::bench]
fn bursts_by_packet(bencher: Bencher<'_, '_>) {
    let chain = GilbertElliott::from_means(0.02, 5.0).unwrap();
    measure(bencher, &PacketBursts::new(chain, stream("loss")));
}

#[divan::bench]
fn bursts_by_time(bencher: Bencher<'_, '_>) {
    let chain = GilbertElliott::from_means(0.02, 5.0).unwrap();
    let step = Duration::from_millis(1);
    measure(bencher, &TimedBursts::new(chain, step, stream("states"), stream("loss")).unwrap());
}

#[divan::bench]
fn bursts_by_bit(bencher: Bencher<'_, '_>) {
    measure(bencher, &AirErrors::new(fading(BitClock::Bit), Coding::default(), stream("loss")));
}

#[divan::bench]
fn bursts_by_bit_coded(bencher: Bencher<'_, '_>) {
    measure(bencher, &AirErrors::new(fading(BitClock::Bit), coded(), stream("loss")));
}

#[divan::bench]
fn bursts_by_symbol_coded(bencher: Bencher<'_, '_>) {
    measure(bencher, &AirErrors::new(fading(BitClock::Symbol), coded(), stream("loss")));
}

fn fading(clock: BitClock) -> AirChain {
    let error = |db| Antennas::TwoByOne.bpsk_error(linear_snr(db), 0.0);
    AirChain { chain: GilbertElliott::new(0.998_75, 0.875, error(20.0), error(10.0)).unwrap(), clock }
}

/// Codes for both sizes; the outcomes of each are computed with its first packet.
fn coded() -> Coding {
    let rate = |data, all| Some(CodeRate::new(data, all).unwrap());
    Coding { data: rate(93, 100), acks: rate(1, 2), small: Bytes::new(100), parity_takes_time: false }
}
