//! Properties for every input: of f1, and of every capacity source for any order of calls.

use airpath_estimate::{Configured, EbeConfig, Oracle, TransientMean};
use airpath_model::{Backlog, Bytes, CapacitySource, ControlInterval, Duration, Rate, Timestamp, TrueRate};
use proptest::prelude::*;

use crate::support::every_source;

fn rate() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), (-3.0..6.0f64).prop_map(|exponent| libm::pow(10.0, exponent))]
}

/// Rates that are similar or very different.
fn rates() -> impl Strategy<Value = (f64, f64)> {
    prop_oneof![
        (rate(), rate()),
        (rate(), -1e-3..1e-3f64).prop_map(|(rate, apart)| (rate, rate * (1.0 + apart)))
    ]
}

fn queue() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..3.0f64, 0.0..6000.0f64, (0u32..6000).prop_map(f64::from)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Identities of the mean and its derivatives. Tolerances: df1/dx1 is half a difference of two numbers
    /// with a relative error of 2e-14.
    #[test]
    fn f1_is_a_mean_queue(queue in queue(), (lambda, mu) in rates(), tau in 0.001..1.0f64) {
        let mut f1 = TransientMean::new();
        let t = f1.transition(queue, lambda, mu, tau);
        prop_assert!(t.queue >= 0.0 && t.queue.is_finite());
        prop_assert!((0.0..=1.0).contains(&t.idle));
        let rounding = 1e-13 * (queue + t.queue + 1.0);
        prop_assert!((-rounding..=1.0 + rounding).contains(&t.by_queue), "df1/dx1 = {}", t.by_queue);
        // The idle fraction closes the balance.
        let balance = t.queue - queue - (lambda - mu) * tau;
        let scale = queue + t.queue + (lambda + mu) * tau;
        prop_assert!((balance - t.idle * mu * tau).abs() <= 1e-12 * (1.0 + scale), "{balance} {}", t.idle);
        // Never below the fluid limit, never above queue plus arrivals.
        prop_assert!(t.queue >= queue + (lambda - mu) * tau - 1e-12 * (1.0 + scale));
        prop_assert!(t.queue <= queue + lambda * tau + 1e-12 * (1.0 + scale));
        // More arrivals give a longer queue, and each arrival adds at most itself.
        let roughness = 1e-12 * (1.0 + t.queue) / (0.02 * lambda.max(1e-300));
        prop_assert!(t.by_arrival_rate >= -roughness && t.by_arrival_rate <= tau + roughness);
    }

    #[test]
    fn f1_is_increasing_and_convex_in_the_queue(n in 0u32..3000, (lambda, mu) in rates(), tau in 0.001..1.0f64) {
        let mut f1 = TransientMean::new();
        let mut at = |queue: f64| f1.mean(queue, lambda, mu, tau);
        let n = f64::from(n);
        let [low, middle, half, high] = [at(n), at(n + 1.0), at(n + 1.5), at(n + 2.0)];
        let rounding = 1e-13 * (1.0 + high);
        prop_assert!(low <= middle + rounding && middle <= high + rounding);
        prop_assert!(high - middle >= middle - low - 4.0 * rounding);
        prop_assert!((half - 0.5 * (middle + high)).abs() <= rounding);
    }
}

/// One call of a driver.
#[derive(Clone, Copy, Debug)]
enum Call {
    Wait(u64),
    /// Run the timers that are due, which are late by up to the last wait; do nothing if none is due.
    Timer,
    Arrival(u64),
    Departure,
    Spare(f64),
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        3 => (0u64..30_000_000).prop_map(Call::Wait),
        1 => (0u64..100_000_000_000).prop_map(Call::Wait),
        4 => Just(Call::Timer),
        6 => (0u64..100_000).prop_map(Call::Arrival),
        6 => Just(Call::Departure),
        1 => (0.0..1e12f64).prop_map(Call::Spare),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_source_accepts_calls_in_any_order(calls in prop::collection::vec(call(), 1..300)) {
        for (name, mut source) in sources() {
            drive(&name, source.as_mut(), &calls);
        }
    }
}

/// Checks the names, because the simulator's test of completeness reads this list.
#[test]
fn the_list_of_sources_is_that_of_the_suite() {
    let names: Vec<_> = sources().into_iter().map(|(name, _)| name).collect();
    let listed = include_str!("../../../../golden/suites/sources.txt");
    assert_eq!(names, listed.lines().collect::<Vec<_>>());
}

/// Sources that measure, and sources with a known capacity.
fn sources() -> Vec<(String, Box<dyn CapacitySource>)> {
    let mut all = every_source(50_000);
    all.push(("configured".into(), Box::new(Configured::new(Rate::from_bps(1)))));
    all.push(("oracle".into(), Box::new(Oracle::new(Box::new(Steady), Duration::ZERO))));
    all
}

/// A link with a constant rate.
#[derive(Debug)]
struct Steady;

impl TrueRate for Steady {
    fn rate(&mut self, _now: Timestamp) -> Rate {
        Rate::from_bps(1_000_000)
    }
}

fn drive(name: &str, source: &mut dyn CapacitySource, calls: &[Call]) {
    let mut now = Timestamp::ZERO;
    let mut waiting = std::collections::VecDeque::new();
    let backlog = |waiting: &std::collections::VecDeque<u64>| Backlog {
        bytes: Bytes::new(waiting.iter().sum()),
        packets: waiting.len() as u64,
    };
    for call in calls {
        match *call {
            Call::Wait(nanos) => now += Duration::from_nanos(nanos),
            Call::Timer => {
                // A driver calls until no timer is due, so the loop must end at once.
                for _ in 0..3 {
                    if source.next_timer() <= now {
                        source.on_timer(now, backlog(&waiting));
                    }
                }
                assert!(source.next_timer() > now, "{name} still wants a timer");
            }
            Call::Arrival(size) => {
                source.on_arrival(now, Bytes::new(size), backlog(&waiting));
                waiting.push_back(size);
            }
            Call::Departure => {
                if let Some(size) = waiting.pop_front() {
                    source.on_departure(now, Bytes::new(size), backlog(&waiting));
                }
            }
            Call::Spare(input_rate) => {
                let queue = backlog(&waiting).bytes.as_f64();
                let spare = source.spare(&ControlInterval {
                    now,
                    length: Duration::from_nanos(now.as_nanos() % 1_000_000_000),
                    input_rate,
                    probing: 1.4,
                    mean_rtt: Duration::from_millis(100),
                    queue,
                    shortest_queue: queue,
                    mean_queue: queue,
                    last_queue: queue,
                    buffer: 50_000.0,
                });
                assert!(spare.bandwidth.is_finite() && spare.queue.is_finite(), "{name}: {spare:?}");
            }
        }
        if let Some(capacity) = source.capacity(now) {
            assert!(capacity.is_finite() && capacity > 0.0, "{name}: capacity {capacity}");
        }
        source.observe(&mut |quantity, value| assert!(value.is_finite(), "{name}: {quantity} = {value}"));
    }
}

#[test]
fn impossible_parameters_are_rejected_by_name() {
    type Change = fn(&mut EbeConfig);
    let cases: [(&str, Change); 9] = [
        ("threshold", |config| config.threshold = 0.0),
        ("threshold", |config| config.threshold = f64::NAN),
        ("upsilon", |config| config.upsilon = 0.9),
        ("min_capacity", |config| config.min_capacity = Rate::ZERO),
        ("capacity", |config| config.capacity = Rate::from_bps(1)),
        ("max_capacity", |config| config.max_capacity = Rate::UNLIMITED),
        ("packet", |config| config.packet = Bytes::ZERO),
        ("measurement_interval", |config| config.measurement_interval = Duration::ZERO),
        ("estimation_interval", |config| config.estimation_interval = Duration::from_millis(9)),
    ];
    for (parameter, change) in cases {
        let mut config = EbeConfig::default();
        change(&mut config);
        let error = airpath_estimate::Ebe::new(config).expect_err(parameter);
        assert_eq!(error.parameter, parameter);
    }
    assert!(airpath_estimate::Ebe::new(EbeConfig::default()).is_ok());
}
