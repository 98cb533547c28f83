//! Channels: the departure time of one packet, and whether it arrives.

use std::sync::Arc;

use airpath_channel::{
    AirChain, AirErrors, Bernoulli, BitClock, Coding, ErrorProcess, GilbertElliott, LinkChannel, NoErrors,
    Opportunities, PacketBursts, RateProcess, TimedBursts, TraceEnd, UniformRate,
};
use airpath_model::{Bytes, Channel, Duration, RandomStream, Rate, Timestamp, Transmission};
use divan::Bencher;
use divan::counter::ItemsCount;

use crate::BATCH;

const RATE: Rate = Rate::from_bps(100_000_000);

fn stream() -> RandomStream {
    RandomStream::new(1, "bench")
}

fn chain() -> GilbertElliott {
    GilbertElliott::from_means(0.01, 5.0).unwrap()
}

#[divan::bench]
fn steady(bencher: Bencher<'_, '_>) {
    transmit(bencher, RateProcess::constant(RATE).unwrap(), NoErrors);
}

#[divan::bench]
fn uniform(bencher: Bencher<'_, '_>) {
    let hold = Duration::from_millis(100);
    let rate = UniformRate::new(Rate::from_bps(50_000_000), RATE, hold, None, stream()).unwrap();
    transmit(bencher, rate.into(), NoErrors);
}

#[divan::bench]
fn opportunities(bencher: Bencher<'_, '_>) {
    let instants: Arc<[u64]> = (1..=10_000).map(|number| number * 120_000).collect();
    let rate = Opportunities::new(instants, Bytes::new(1500), TraceEnd::Repeat).unwrap();
    transmit(bencher, rate.into(), NoErrors);
}

#[divan::bench]
fn bernoulli(bencher: Bencher<'_, '_>) {
    lossy(bencher, Bernoulli::new(0.01, stream()).unwrap());
}

#[divan::bench]
fn bursts_by_packet(bencher: Bencher<'_, '_>) {
    lossy(bencher, PacketBursts::new(chain(), stream()));
}

#[divan::bench]
fn bursts_by_time(bencher: Bencher<'_, '_>) {
    lossy(bencher, TimedBursts::new(chain(), Duration::from_millis(1), stream(), stream()).unwrap());
}

#[divan::bench]
fn bursts_by_bit(bencher: Bencher<'_, '_>) {
    let chain = GilbertElliott::new(0.999_999, 0.999, 1e-9, 0.01).unwrap();
    let coding = Coding { small: Bytes::new(100), ..Coding::default() };
    lossy(bencher, AirErrors::new(AirChain { chain, clock: BitClock::Bit }, coding, stream()));
}

fn lossy(bencher: Bencher<'_, '_>, errors: impl ErrorProcess) {
    transmit(bencher, RateProcess::constant(RATE).unwrap(), errors);
}

fn transmit(bencher: Bencher<'_, '_>, rate: RateProcess, errors: impl ErrorProcess) {
    let mut channel = LinkChannel::new(rate, errors);
    let mut start = Timestamp::ZERO;
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for _ in 0..BATCH {
            let passage = channel.transmit(&Transmission { start, size: Bytes::new(1500), continues: true });
            start = passage.departs;
            divan::black_box(passage.arrives);
        }
    });
}
