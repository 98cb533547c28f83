//! Estimators: capacity sources, which process packets; the EKF's cycle; ACK-rate estimators, which process
//! acknowledgments.

use airpath_estimate::{
    AckRate, AckRateConfig, Ebe, EbeConfig, FilterConfig, Measured, Monitor, Predictor, Profile, Qfcp,
    QfcpConfig, SamplerConfig, Start, VirtualSamples, XcpB, XcpBConfig,
};
use airpath_model::{
    AckEvent, AckRateEstimator, Backlog, Bytes, CapacitySource, Duration, NullProbe, RttEstimate, Timestamp,
};
use divan::Bencher;
use divan::counter::ItemsCount;

use crate::BATCH;

#[divan::bench(args = [Monitor::Plain, Monitor::Hold])]
fn ebe(bencher: Bencher<'_, '_>, monitor: Monitor) {
    source(bencher, Ebe::new(EbeConfig { monitor, ..EbeConfig::default() }).unwrap());
}

#[divan::bench]
fn qfcp(bencher: Bencher<'_, '_>) {
    source(bencher, Qfcp::new(QfcpConfig::default()).unwrap());
}

#[divan::bench]
fn xcp_b(bencher: Bencher<'_, '_>) {
    source(bencher, XcpB::new(XcpBConfig::default()).unwrap());
}

/// Measures one arrival and one departure every 120 µs; the queue oscillates between 0 and 99 packets.
fn source(bencher: Bencher<'_, '_>, mut source: impl CapacitySource) {
    let (mut now, mut packets) = (Timestamp::ZERO, 0_u64);
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for _ in 0..BATCH {
            now += Duration::from_micros(120);
            packets = (packets + 1) % 100;
            let backlog = Backlog { bytes: Bytes::new(1000 * packets), packets };
            while source.next_timer() <= now {
                let due = source.next_timer();
                source.on_timer(due, backlog);
            }
            source.on_arrival(now, Bytes::new(1000), backlog);
            source.on_departure(now, Bytes::new(1000), backlog);
        }
        divan::black_box(source.capacity(now));
    });
}

/// Measures one prediction and update of EBE's filter.
#[divan::bench(args = [Profile::Icc, Profile::Journal, Profile::Counting, Profile::Linear])]
fn ekf_cycle(bencher: Bencher<'_, '_>, profile: Profile) {
    let mut predictor = Predictor::new(profile, 1000.0);
    let mut turn = 0.0;
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for _ in 0..BATCH {
            turn = (turn + 1.0) % 17.0;
            divan::black_box(predictor.step(&Measured {
                queue: 20.0 + turn,
                queue_variance: 10.0,
                last_queue: 25.0,
                arrival_rate: 990.0 + turn,
                service_rate: 1010.0,
                interval: 0.2,
            }));
        }
    });
}

fn filtered(sampler: SamplerConfig, filter: FilterConfig) -> AckRateConfig {
    AckRateConfig::Filtered { sampler, filter }
}

fn bilinear() -> FilterConfig {
    let tau = Duration::from_secs(1);
    FilterConfig::Bilinear { tau, virtual_samples: VirtualSamples::Zero, start: Start::First }
}

#[divan::bench]
fn westwood(bencher: Bencher<'_, '_>) {
    ack_rate(bencher, filtered(SamplerConfig::PerAck, bilinear()));
}

#[divan::bench]
fn westwood_aa(bencher: Bencher<'_, '_>) {
    ack_rate(bencher, filtered(SamplerConfig::RoundTrip, bilinear()));
}

#[divan::bench]
fn westwood_plus(bencher: Bencher<'_, '_>) {
    ack_rate(bencher, AckRateConfig::WestwoodPlus { ticks_per_second: 1000 });
}

#[divan::bench]
fn sarbe(bencher: Bencher<'_, '_>) {
    let sampler = SamplerConfig::ReceiverClock { resolution: Duration::from_millis(1) };
    ack_rate(bencher, filtered(sampler, FilterConfig::Stability { beta: 0.8, window: 8 }));
}

/// Measures an acknowledgment of two segments every 240 µs.
fn ack_rate(bencher: Bencher<'_, '_>, config: AckRateConfig) {
    let mut estimator = AckRate::new(config).unwrap();
    let mut now = Timestamp::ZERO;
    let rtt = Duration::from_millis(60);
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for _ in 0..BATCH {
            now += Duration::from_micros(240);
            let mut event = AckEvent::at(now);
            (event.acked, event.advance) = (Bytes::new(2920), Bytes::new(2920));
            event.latest_sent_at = Some(now - rtt);
            event.receiver_time = Some(now - rtt / 2);
            event.rtt_sample = Some(rtt);
            event.rtt =
                RttEstimate { latest: rtt, smoothed: rtt, variation: Duration::from_millis(1), minimum: rtt };
            estimator.on_ack(&event, &mut NullProbe);
        }
        divan::black_box(estimator.bandwidth());
    });
}
