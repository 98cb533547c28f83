//! Bursty losses: the fast process against the exact probabilities and against the walk through every bit, chains clocked by
//! packets and by time against their means.
#![allow(clippy::similar_names, reason = "loss is the probability, lost the count")]

use crate::air::{Point, arrives, fading, points, stream};
use airpath_channel::{
    AirChain, AirErrors, Antennas, BitClock, CodeRate, Coding, ErrorProcess, GilbertElliott, InvalidChannel,
    PacketBursts, Psk, State, StepByStep, TimedBursts, TwoStateFading, linear_snr,
};
use airpath_model::config::ConfigError;
use airpath_model::{Bytes, Duration, RandomStream, Timestamp};

fn count_lost(errors: &mut impl ErrorProcess, packets: u32, bytes: u64) -> f64 {
    (0..packets).map(|_| f64::from(u8::from(!arrives(errors, bytes, Timestamp::ZERO)))).sum()
}

#[test]
fn both_processes_have_the_exact_loss_rate() {
    for (index, point) in points().into_iter().enumerate() {
        let outcomes = point.outcomes();
        let Point { air, coding, bytes } = point;
        let loss = outcomes.loss(air.chain.stationary());
        assert!((0.01..0.9).contains(&loss), "point {index} has an unsuitable loss rate: {loss}");
        let seed = index as u64;
        let counts = [
            (20_000, count_lost(&mut AirErrors::new(air, coding, stream(seed)), 20_000, bytes)),
            (3_000, count_lost(&mut StepByStep::new(air, coding, stream(seed + 100)), 3_000, bytes)),
        ];
        // Losses of successive packets are correlated through the state: the variance is that of a chain of losses.
        let correlation = loss_correlation(&outcomes.arrived, &outcomes.lost, loss);
        let inflation = (1.0 + 2.0 * correlation).max(1.0);
        let [fast, exact] = counts.map(|(packets, lost)| lost / f64::from(packets));
        let error = (loss * (1.0 - loss) * inflation * (1.0 / 20_000.0 + 1.0 / 3_000.0)).sqrt();
        assert!((fast - exact).abs() < 3.0 * error, "point {index}: {fast} and bit by bit {exact}");
        for (packets, lost) in counts {
            let packets = f64::from(packets);
            let error = (packets * loss * (1.0 - loss) * inflation).sqrt();
            assert!(
                (lost - packets * loss).abs() < 3.0 * error,
                "point {index}: {lost} of {packets}, exact {loss}"
            );
        }
    }
}

/// The sum of the autocorrelations of losses over all lags, for the two-state chain between packets.
fn loss_correlation(arrived: &[[f64; 2]; 2], lost: &[[f64; 2]; 2], loss: f64) -> f64 {
    let any = |from: usize, to: usize| arrived[from][to] + lost[from][to];
    let stay = any(0, 0) + any(1, 1) - 1.0;
    let bad = any(0, 1) / (any(0, 1) + any(1, 0));
    // Between a loss and one a packet later: the state after the loss, less the stationary one, times what it changes.
    let after_loss = (1.0 - bad) * lost[0][1] + bad * lost[1][1] - loss * bad;
    let change = lost[1][0] + lost[1][1] - lost[0][0] - lost[0][1];
    after_loss * change / (1.0 - stay) / (loss * (1.0 - loss))
}

/// How often a loss follows a loss: what a draw from the stationary state for each packet would get wrong.
#[test]
fn losses_of_adjacent_packets_correlate_as_bit_by_bit() {
    // States last for 1000 bits, packets for 800.
    let Point { air, coding, bytes } = points().pop().unwrap();
    let pairs = |errors: &mut dyn FnMut() -> bool, packets: u32| {
        let (mut before, mut both) = (false, 0.0);
        for _ in 0..packets {
            let lost = errors();
            both += f64::from(u8::from(lost && before));
            before = lost;
        }
        both / f64::from(packets)
    };
    let (mut fast, mut exact) =
        (AirErrors::new(air, coding, stream(1)), StepByStep::new(air, coding, stream(2)));
    let fast = pairs(&mut || !arrives(&mut fast, bytes, Timestamp::ZERO), 100_000);
    let exact = pairs(&mut || !arrives(&mut exact, bytes, Timestamp::ZERO), 20_000);
    let loss = air.uncoded(bytes).loss(air.chain.stationary());
    // Three standard errors of the smaller sample; neighbours share terms, so twice the binomial variance.
    let error = (2.0 * exact * (1.0 - exact) / 20_000.0).sqrt();
    assert!((fast - exact).abs() < 3.0 * error, "{fast} and {exact}");
    assert!(fast > loss * loss + 10.0 * error, "neighbours appear independent: {fast} at a loss of {loss}");
}

#[test]
fn a_packet_clock_has_the_mean_loss_and_geometric_bursts() {
    let (loss, burst) = (0.05, 4.0);
    let chain = GilbertElliott::from_means(loss, burst).unwrap();
    let mut errors = PacketBursts::new(chain, stream(5));
    let packets = 400_000;
    let mut lengths = Vec::new();
    let mut length = 0_u32;
    for _ in 0..packets {
        if arrives(&mut errors, 1500, Timestamp::ZERO) {
            if length > 0 {
                lengths.push(length);
            }
            length = 0;
        } else {
            length += 1;
        }
    }
    let bursts = lengths.len() as f64;
    let lost = f64::from(lengths.iter().sum::<u32>());
    // Variance of the share: that of independent losses times (1 + c) / (1 - c), c = stay_good + stay_bad - 1.
    let c = 1.0 - loss / (burst * (1.0 - loss)) - 1.0 / burst;
    let error = (loss * (1.0 - loss) / f64::from(packets) * (1.0 + c) / (1.0 - c)).sqrt();
    assert!((lost / f64::from(packets) - loss).abs() < 3.0 * error, "{lost}");
    // Geometric with parameter 1/4: standard deviation sqrt(12).
    assert!((lost / bursts - burst).abs() < 3.0 * (12.0 / bursts).sqrt(), "{}", lost / bursts);
    // Chi-square over lengths 1 to 9 and longer: 9 degrees of freedom, 27.88 is passed once in a thousand.
    let chi_square: f64 = (1..=10_u32)
        .map(|length| {
            let observed =
                lengths.iter().filter(|&&l| if length < 10 { l == length } else { l >= 10 }).count() as f64;
            let tail = libm::pow(0.75, f64::from(length) - 1.0);
            let expected = bursts * if length < 10 { 0.25 * tail } else { tail };
            (observed - expected) * (observed - expected) / expected
        })
        .sum();
    assert!(chi_square < 27.88, "{chi_square}");
}

#[test]
fn netem_in_its_own_parameters() {
    let chain = GilbertElliott::netem(0.01, 0.25, 0.8, 0.001).unwrap();
    let share = 0.01 / 0.26;
    assert!((chain.share_bad() - share).abs() < 1e-15);
    assert!((chain.mean_error() - (0.8 * share + 0.001 * (1.0 - share))).abs() < 1e-15);
    let packets = 400_000;
    let lost = count_lost(&mut PacketBursts::new(chain, stream(6)), packets, 1500);
    let loss = chain.mean_error();
    // The autocovariance at lag n is share (1-share) (0.799)² 0.74^n.
    let covariance = share * (1.0 - share) * 0.799 * 0.799 * 0.74 / 0.26;
    let error = (f64::from(packets) * (loss * (1.0 - loss) + 2.0 * covariance)).sqrt();
    assert!((lost - f64::from(packets) * loss).abs() < 3.0 * error, "{lost}");
}

fn timed(seed: u64) -> TimedBursts {
    let chain = GilbertElliott::from_means(0.1, 20.0).unwrap();
    let states = RandomStream::new(seed, "link/radio/loss-states");
    TimedBursts::new(chain, Duration::from_millis(1), states, stream(seed)).unwrap()
}

#[test]
fn a_time_clock_has_the_mean_loss_and_mean_burst_duration() {
    let mut errors = timed(7);
    let (probes, spacing) = (2_000_000_u64, Duration::from_micros(500));
    let (mut lost, mut bursts, mut before) = (0.0, 0.0, true);
    for probe in 0..probes {
        let arrived = arrives(&mut errors, 1500, Timestamp::ZERO + spacing * probe);
        lost += f64::from(u8::from(!arrived));
        bursts += f64::from(u8::from(before && !arrived));
        before = arrived;
    }
    // 5000 cycles of 200 ms; time in bursts has the variance of a renewal process: 2 (0.18 s)² (0.02 s)² / (0.2 s)³ per s.
    let time = probes as f64 * spacing.as_secs_f64();
    let share_error = (2.0 * (0.18 * 0.02 * 0.18 * 0.02) / (0.2 * 0.2 * 0.2) / time).sqrt();
    assert!((lost / probes as f64 - 0.1).abs() < 3.0 * share_error, "{lost}");
    // Seen every 0.5 ms: bursts between two probes are missed, and gaps too, both a share of at most 0.5 / 20.
    let mean = lost * spacing.as_secs_f64() / bursts;
    let error = 0.02 / libm::sqrt(bursts);
    assert!(mean > 0.02 - 3.0 * error && mean < 0.02 * (1.0 + 0.5 / 20.0) + 3.0 * error, "{mean}");
}

#[test]
fn a_time_clock_does_not_depend_on_traffic() {
    let (mut every, mut some) = (timed(8), timed(8));
    let mut losses = 0;
    for millisecond in 0..100_000_u64 {
        let at = Timestamp::ZERO + Duration::from_millis(1) * millisecond;
        let arrived = arrives(&mut every, 1500, at);
        if millisecond % 97 == 0 {
            assert_eq!(arrives(&mut some, 40, at), arrived, "{millisecond} ms");
            losses += u32::from(!arrived);
        }
    }
    assert!(losses > 10, "{losses}");
}

#[test]
fn equal_seeds_produce_equal_losses() {
    let Point { air, coding, bytes } = points().swap_remove(3);
    let losses = |seed| {
        let mut errors = AirErrors::new(air, coding, stream(seed));
        (0..500).map(|_| arrives(&mut errors, bytes, Timestamp::ZERO)).collect::<Vec<_>>()
    };
    assert_eq!(losses(1), losses(1));
    assert_ne!(losses(1), losses(2));
}

#[test]
fn acknowledgments_have_a_code_of_their_own() {
    let half = CodeRate::new(1, 2).unwrap();
    let coding = Coding { acks: Some(half), small: Bytes::new(60), ..Coding::default() };
    assert_eq!(coding.of(Bytes::new(60)), Some(half));
    assert_eq!(coding.of(Bytes::new(61)), None);
    let takes = |parity_takes_time| Coding { parity_takes_time, ..coding };
    let on_link = |coding: Coding| [60, 61].map(|size| coding.size_on_link(Bytes::new(size)).get());
    assert_eq!((on_link(takes(false)), on_link(takes(true))), ([60, 61], [120, 61]));
    let air = fading(Antennas::OneByOne, 10.0, 0.91667, BitClock::Bit);
    let mut errors = AirErrors::new(air, coding, stream(3));
    let (large, small) = (count_lost(&mut errors, 500, 1040), count_lost(&mut errors, 500, 40));
    assert!(large > 499.0 && small < 60.0, "{large} and {small} of 500");
}

/// More antennas lose less, at every size and SNR of interest: 1x1, 2x1, 1x2, 2x2.
#[test]
fn antennas_are_in_order() {
    let order = [Antennas::OneByOne, Antennas::TwoByOne, Antennas::OneByTwo, Antennas::TwoByTwo];
    for snr in [5.0, 10.0, 20.0, 30.0] {
        let errors = order.map(|antennas| antennas.bpsk_error(linear_snr(snr), 0.0));
        assert!(errors.windows(2).all(|pair| pair[0] > pair[1]), "{errors:?}");
        // A direct path helps.
        for (antennas, rayleigh) in order.into_iter().zip(errors) {
            assert!(antennas.bpsk_error(linear_snr(snr), 5.0) < rayleigh, "{antennas:?} at {snr} dB");
        }
    }
}

/// Three bytes are eight symbols of 8-PSK: they arrive where all of these are right.
#[test]
fn bit_error_rates_match_symbol_error_rates() {
    let link = |modulation| TwoStateFading {
        modulation,
        snr_db: 20.0,
        bad_snr_drop_db: 0.0, // both states are one
        antennas: Antennas::OneByTwo,
        rician_k: 0.0,
    };
    for (modulation, bytes, symbols) in [
        (Psk::Bpsk, 1, 8),
        (Psk::Qpsk, 1, 4),
        (Psk::Eight, 3, 8),
        (Psk::Sixteen, 1, 2),
        (Psk::SixtyFour, 3, 4),
    ] {
        let symbol = Antennas::OneByTwo.symbol_error(modulation, linear_snr(20.0), 0.0);
        let expected = 1.0 - libm::pow(1.0 - symbol, f64::from(symbols));
        let chain = link(modulation).chain(0.99875, 0.875).unwrap();
        let loss = AirChain { chain, clock: BitClock::Bit }.uncoded(bytes).loss(chain.stationary());
        assert!((loss - expected).abs() < 1e-12, "{modulation:?}: {loss}, {expected}");
    }
    let errors = Psk::ALL.map(|psk| psk.bit_error(psk.rayleigh(2, linear_snr(20.0))));
    assert!(errors.windows(2).all(|pair| pair[0] < pair[1]), "more points err more: {errors:?}");
}

/// With a strong direct path Rician fading approaches the channel without fading, Q(sqrt(2 snr)).
#[test]
fn rician_fading_approaches_no_fading() {
    for db in [0.0, 4.0, 8.0] {
        let snr = linear_snr(db);
        let without = 0.5 * libm::erfc(libm::sqrt(snr));
        // The relative difference falls as 1/K.
        let [near, nearer] = [1e3, 1e4].map(|k| Antennas::OneByOne.bpsk_error(snr, k) / without - 1.0);
        assert!(near > 0.0 && nearer > 0.0 && near < 0.1, "{near} and {nearer} at {db} dB");
        assert!((near / nearer - 10.0).abs() < 1.0, "{near} and {nearer} at {db} dB");
    }
}

/// The power over N Rician branches is that over N + j Rayleigh branches, each with the scattered part of the mean, j of a Poisson
/// distribution with mean N K (the noncentral chi-square distribution is such a mixture of central ones). So what follows from the
/// closed form of Rayleigh fading must follow from the integral of Rician fading, for any K.
#[test]
fn rician_fading_is_a_mixture_of_rayleigh_fading_with_more_branches() {
    for (modulation, branches, db, k) in [
        (Psk::Bpsk, 1, 5.0, 0.5),
        (Psk::Bpsk, 1, 15.0, 6.0),
        (Psk::Bpsk, 2, 10.0, 3.0),
        (Psk::Qpsk, 2, 12.0, 10.0),
        (Psk::Eight, 1, 20.0, 2.0),
        (Psk::SixtyFour, 2, 25.0, 4.0),
    ] {
        let snr = linear_snr(db);
        let mean = f64::from(branches) * k;
        let (mut mixture, mut weight) = (0.0, libm::exp(-mean));
        for more in 0..200 {
            mixture += weight * modulation.rayleigh(branches + more, snr / (1.0 + k));
            weight *= mean / f64::from(more + 1);
        }
        let integrated = modulation.rician(branches, snr, k);
        let what = format!("{modulation:?}, {branches} branches, {db} dB, K {k}");
        assert!((integrated / mixture - 1.0).abs() < 1e-9, "{what}: {integrated}, {mixture}");
        if branches == 1 {
            let taken = Antennas::OneByOne.symbol_error(modulation, snr, k);
            assert!((taken / mixture - 1.0).abs() < 1e-9, "{what}: {taken}, {mixture}");
        }
    }
}

/// The ends of what is accepted: bursts of one step, which never follow each other, and a code without parity.
#[test]
fn single_errors_are_bursts_and_rate_one_is_a_code() {
    let single = GilbertElliott::from_means(0.25, 1.0).unwrap();
    assert!((single.mean_sojourn(State::Bad) - 1.0).abs() < 1e-12);
    assert!((single.mean_error() - 0.25).abs() < 1e-12);
    let uncoded = CodeRate::new(1, 1).unwrap();
    let words: Vec<(u32, u32)> = uncoded.codewords(510).map(|word| (word.data, word.corrects)).collect();
    assert_eq!(words, [(255, 0), (255, 0)]);
}

/// Codewords carry a packet byte by byte, in no more of them than needed, of which none is more than a byte longer.
#[test]
fn codewords_contain_each_byte_once() {
    for (numerator, denominator) in [(1, 1), (1, 2), (9, 10), (1, 255)] {
        let code = CodeRate::new(numerator, denominator).unwrap();
        let most = u64::from(255 * numerator / denominator);
        for size in 1..=1100 {
            let lengths: Vec<u64> = code.codewords(size).map(|word| u64::from(word.data)).collect();
            let (longest, shortest) = (lengths[0], lengths[lengths.len() - 1]);
            assert_eq!(lengths.iter().sum::<u64>(), size, "{numerator}/{denominator}, {size} bytes");
            assert_eq!(lengths.len() as u64, size.div_ceil(most), "{numerator}/{denominator}, {size} bytes");
            assert!(
                longest <= most && longest - shortest <= 1 && lengths.is_sorted_by(|one, next| one >= next)
            );
        }
    }
}

#[test]
fn invalid_chains_are_rejected() {
    let refused = |chain: Result<GilbertElliott, ConfigError>| chain.unwrap_err().parameter;
    assert_eq!(refused(GilbertElliott::new(0.5, 1.0, 0.0, 1.0)), "beta");
    assert_eq!(refused(GilbertElliott::new(0.5, 0.5, 0.0, 1.1)), "eps_bad");
    assert_eq!(refused(GilbertElliott::new(f64::NAN, 0.5, 0.0, 1.0)), "gamma");
    for loss in [0.0, 1.0, 1.5, f64::NAN] {
        assert_eq!(refused(GilbertElliott::from_means(loss, 4.0)), "mean_loss", "{loss}");
    }
    // The last two begin a burst with a probability above 1, and with one of which 1 - 1e-13 has three digits.
    for (loss, burst) in [(0.1, 0.5), (0.1, f64::INFINITY), (0.9, 2.0), (1e-13, 2.0)] {
        assert_eq!(refused(GilbertElliott::from_means(loss, burst)), "mean_burst", "{loss} {burst}");
    }
    // The shortest bursts with these losses, whose quotient is above 1 by rounding.
    for (loss, burst) in [(0.8, 4.0), (0.9, 9.0)] {
        let chain = GilbertElliott::from_means(loss, burst).unwrap();
        assert!((chain.mean_error() - loss).abs() < 1e-9, "{loss} {burst}");
    }
    assert!(GilbertElliott::netem(0.0, 0.5, 1.0, 0.0).is_ok(), "a chain that stays good");
    assert_eq!(refused(GilbertElliott::netem(0.5, 1e-13, 1.0, 0.0)), "r");
    assert!(GilbertElliott::from_means(1e-9, 100.0).is_ok());
    for (numerator, denominator) in [(0, 1), (2, 1), (1, 0), (0, 0), (1, 256)] {
        assert!(CodeRate::new(numerator, denominator).is_err(), "{numerator}/{denominator}");
    }
    let chain = GilbertElliott::from_means(0.1, 2.0).unwrap();
    let short = TimedBursts::new(chain, Duration::from_nanos(10), stream(1), stream(2));
    assert!(matches!(short, Err(InvalidChannel::ShortSojourn)));
}

#[test]
fn invalid_fading_parameters_are_rejected() {
    let chain = |snr_db: f64, bad_snr_drop_db: f64, rician_k: f64| {
        let antennas = Antennas::OneByOne;
        let link = TwoStateFading { modulation: Psk::Bpsk, snr_db, bad_snr_drop_db, antennas, rician_k };
        link.chain(0.99, 0.9)
    };
    let refused = |snr, drop, k| chain(snr, drop, k).unwrap_err().parameter;
    assert!(chain(20.0, 10.0, 0.0).is_ok() && chain(20.0, 0.0, 100.0).is_ok());
    for snr in [-31.0, 101.0, f64::NAN] {
        assert_eq!(refused(snr, 0.0, 0.0), "snr", "{snr}");
    }
    for drop in [-1.0, 51.0] {
        assert_eq!(refused(20.0, drop, 0.0), "bad_snr_drop", "{drop}");
    }
    for k in [-5.0, 101.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(20.0, 10.0, k), "rician_k", "{k}");
    }
}
