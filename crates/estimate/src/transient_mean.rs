//! The mean queue of an M/M/1 server a given time after it was observed: f1 of EBE's filter.

use crate::skellam::Skellam;

/// Above this number of packets in one interval, the traffic is treated as a fluid (40 Tbit/s of 1000-byte
/// packets at 200 ms): the table would be too large, and the difference is negligible.
const FLUID: f64 = 1e9;

/// f1, the transition function of EBE's first state (EBE-J eqs. 11–13, corrected: exponent n of rho is the
/// *old* queue, the arguments of Q restored; docs/reference/sources/ebe.md), and its derivatives (EBE-J
/// eqs. 15–18).
///
/// f1 = E[N(τ) | N(0) = n] of the M/M/1 queue. It is evaluated as a sum of positive terms, accurate to 2e-14 for
/// every load: with Z = Poisson(λτ) − Poisson(μτ),
/// f1 = E[(n + Z)⁺] + Σ_{K≥1} ρ^K P(Z ≤ −(n+K+1)).
///
/// The tables are reused: nothing is allocated after the highest rates have occurred.
#[derive(Clone, Debug, Default)]
pub struct TransientMean {
    /// The requested load.
    load: Load,
    /// 1 % more and 1 % fewer arrivals, for the derivative.
    more: Load,
    fewer: Load,
}

/// The change of the queue over one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    /// f1: the mean queue at the end, packets; not negative.
    pub queue: f64,
    /// The mean fraction of the interval that the server is idle: (f1 − x1 − (λ − μ)τ)/(μτ), in [0, 1].
    pub idle: f64,
    /// ∂f1/∂x1 by differences of one packet (EBE-J eq. 18; the lower point clamped at an empty queue). The
    /// probability that the server never idles, so in [0, 1] up to rounding.
    pub by_queue: f64,
    /// ∂f1/∂λ by differences of 1 % (EBE-J eq. 18, the element (1,2)), seconds; zero when λ is zero.
    pub by_arrival_rate: f64,
}

impl TransientMean {
    /// Creates the function with empty tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns f1 for a queue of `queue` packets, `arrival_rate` and `service_rate` in packets/s, `interval`
    /// in seconds.
    ///
    /// A fractional queue is interpolated between its two whole neighbours (exact if the start is random on
    /// these two). Negative and NaN arguments count as zero.
    pub fn mean(&mut self, queue: f64, arrival_rate: f64, service_rate: f64, interval: f64) -> f64 {
        self.load.set(arrival_rate, service_rate, interval);
        tabulate([&mut self.load]);
        self.load.between(queue.max(0.0)).queue
    }

    /// Returns f1 with idle time and both derivatives; arguments as in [`TransientMean::mean`].
    pub fn transition(
        &mut self,
        queue: f64,
        arrival_rate: f64,
        service_rate: f64,
        interval: f64,
    ) -> Transition {
        let queue = queue.max(0.0);
        let arrival_rate = arrival_rate.max(0.0);
        self.load.set(arrival_rate, service_rate, interval);
        self.more.set(arrival_rate * 1.01, service_rate, interval);
        self.fewer.set(arrival_rate * 0.99, service_rate, interval);
        tabulate([&mut self.load, &mut self.more, &mut self.fewer]);

        let whole = libm::floor(queue);
        let part = queue - whole;
        let [below, here, above, above_next] = self.load.at(whole - 1.0);
        let middle = here.interpolate(above, part);
        let upper = above.interpolate(above_next, part);
        let (lower, width) =
            if whole >= 1.0 { (below.interpolate(here, part), 2.0) } else { (here, queue + 1.0) };
        Transition {
            queue: middle.queue,
            idle: self.load.idle(middle),
            by_queue: (upper.queue - lower.queue) / width,
            by_arrival_rate: if arrival_rate > 0.0 {
                (self.more.between(queue).queue - self.fewer.between(queue).queue) / (0.02 * arrival_rate)
            } else {
                0.0
            },
        }
    }
}

/// Computes the required tables of several loads with one service rate, interleaved.
fn tabulate<const N: usize>(mut loads: [&mut Load; N]) {
    if loads.iter().all(|load| load.needs_table()) {
        let (arrivals, services) = (core::array::from_fn(|i| loads[i].arrivals), loads[0].services);
        Skellam::tabulate(loads.map(|load| &mut load.skellam), arrivals, services);
    } else {
        for load in loads.iter_mut().filter(|load| load.needs_table()) {
            Skellam::tabulate([&mut load.skellam], [load.arrivals], load.services);
        }
    }
}

/// The arrivals at a server and its possible services over one interval.
#[derive(Clone, Debug, Default)]
struct Load {
    /// a = λτ.
    arrivals: f64,
    /// b = μτ.
    services: f64,
    skellam: Skellam,
}

impl Load {
    fn set(&mut self, arrival_rate: f64, service_rate: f64, interval: f64) {
        let interval = interval.max(0.0);
        // The smallest arrival rate is above zero, so that ratios exist.
        self.arrivals = (arrival_rate.max(0.0) * interval).clamp(1e-300, 1e30);
        self.services = (service_rate.max(0.0) * interval).clamp(0.0, 1e30);
    }

    fn needs_table(&self) -> bool {
        !self.never_serves() && !self.is_fluid()
    }

    fn never_serves(&self) -> bool {
        self.services < 1e-290
    }

    fn is_fluid(&self) -> bool {
        self.arrivals > FLUID || self.services > FLUID
    }

    fn between(&self, queue: f64) -> Mean {
        let whole = libm::floor(queue);
        let [here, above] = self.at(whole);
        here.interpolate(above, queue - whole)
    }

    /// Returns the means for `N` whole numbers of packets from `first` on; meaningless for negative numbers.
    fn at<const N: usize>(&self, first: f64) -> [Mean; N] {
        let queues: [f64; N] = core::array::from_fn(|i| first + i as f64);
        let kind = self.kind(queues[0]);
        if N > 1 && kind != self.kind(queues[N - 1]) {
            return queues.map(|queue| {
                let [mean] = self.at(queue);
                mean
            });
        }
        let unserved = queues.map(|queue| self.unserved(queue));
        let numbers = queues.map(|queue| queue as i64);
        match kind {
            Kind::NeverEmpty => unserved.map(|queue| Mean { queue, missed: 0.0 }),
            Kind::Fluid => unserved.map(|left| Mean { queue: left.max(0.0), missed: (-left).max(0.0) }),
            Kind::MoreComes => {
                let (shortfall, reflected) = (self.shortfall(numbers), self.reflected(numbers));
                core::array::from_fn(|i| {
                    let missed = shortfall[i] + reflected[i];
                    Mean { queue: unserved[i] + missed, missed }
                })
            }
            Kind::MoreIsServed => {
                let (surplus, reflected) = (self.surplus(numbers), self.reflected(numbers));
                core::array::from_fn(|i| {
                    let queue = surplus[i] + reflected[i];
                    Mean { queue, missed: queue - unserved[i] }
                })
            }
        }
    }

    /// Returns the final queue if the server were never idle, packets; negative if it must have been idle.
    fn unserved(&self, queue: f64) -> f64 {
        queue + (self.arrivals - self.services)
    }

    fn kind(&self, queue: f64) -> Kind {
        let b = self.services;
        // The queue cannot become empty: relative error below 1e-22.
        if self.never_serves() || queue >= b + 9.0 * libm::sqrt(b) + 30.0 {
            Kind::NeverEmpty
        } else if self.is_fluid() {
            Kind::Fluid
        } else if self.unserved(queue) >= 0.0 {
            Kind::MoreComes
        } else {
            Kind::MoreIsServed
        }
    }

    /// Returns E[(−n − Z)⁺] for each n.
    fn shortfall<const N: usize>(&self, queues: [i64; N]) -> [f64; N] {
        let from = queues.map(|n| (-n - 1).min(self.skellam.highest()));
        let short = core::array::from_fn(|i| (-queues[i] - from[i]) as f64);
        weighted(from.map(|from| self.skellam.downwards(from)), short, |short| short + 1.0)
    }

    /// Returns E[(n + Z)⁺] for each n.
    fn surplus<const N: usize>(&self, queues: [i64; N]) -> [f64; N] {
        let from = queues.map(|n| (1 - n).max(self.skellam.lowest()));
        let over = core::array::from_fn(|i| (queues[i] + from[i]) as f64);
        weighted(from.map(|from| self.skellam.upwards(from)), over, |over| over + 1.0)
    }

    /// Returns Σ_{K≥1} ρ^K P(Z ≤ −(n+K+1)) for each n.
    fn reflected<const N: usize>(&self, queues: [i64; N]) -> [f64; N] {
        let rho = self.arrivals / self.services;
        if self.arrivals <= self.services {
            self.reflected_below(queues, rho)
        } else {
            self.reflected_above(queues, rho)
        }
    }

    /// For ρ ≤ 1: Σ_{j≥n+2} P(Z = −j) g(j−n−1), g(m) = ρ (1 + g(m−1)).
    fn reflected_below<const N: usize>(&self, queues: [i64; N], rho: f64) -> [f64; N] {
        let from = queues.map(|n| (n + 2).max(-self.skellam.highest()));
        let step = |g| rho * (1.0 + g);
        let weights = core::array::from_fn(|i| settle(from[i] - queues[i] - 1, step));
        weighted(from.map(|from| self.skellam.downwards(-from)), weights, step)
    }

    /// For ρ > 1, where P(Z = −j) = ρ^−j P(Z = j): ρ^−(n+1) Σ_{j≥n+2} P(Z = j) h(j−n−1), h(m) = 1 + h(m−1)/ρ.
    fn reflected_above<const N: usize>(&self, queues: [i64; N], rho: f64) -> [f64; N] {
        let from = queues.map(|n| (n + 2).max(self.skellam.lowest()));
        let step = |h| 1.0 + h / rho;
        let weights = core::array::from_fn(|i| settle(from[i] - queues[i] - 1, step));
        let sums = weighted(from.map(|from| self.skellam.upwards(from)), weights, step);
        core::array::from_fn(|i| libm::pow(rho, -((queues[i] + 1) as f64)) * sums[i])
    }

    fn idle(&self, mean: Mean) -> f64 {
        if self.never_serves() { 0.0 } else { (mean.missed / self.services).clamp(0.0, 1.0) }
    }
}

/// The method by which a mean is computed.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// The server is busy throughout, regardless of the arrivals.
    NeverEmpty,
    /// Too many packets to tabulate.
    Fluid,
    /// Queue plus arrivals are at least the possible services on average.
    MoreComes,
    MoreIsServed,
}

/// Returns Σ of entries times weights for each of `N` lists of entries, each with its own first weight. Each
/// weight and each sum depend on the previous one. Interleaving the lists overlaps these latencies.
fn weighted<const N: usize>(
    mut entries: [impl Iterator<Item = f64>; N],
    mut weights: [f64; N],
    next: impl Fn(f64) -> f64,
) -> [f64; N] {
    let mut sums = [0.0; N];
    loop {
        let mut ended = true;
        for ((entries, weight), sum) in entries.iter_mut().zip(&mut weights).zip(&mut sums) {
            if let Some(entry) = entries.next() {
                *sum += entry * *weight;
                *weight = next(*weight);
                ended = false;
            }
        }
        if ended {
            return sums;
        }
    }
}

/// A mean queue, and the services that the idle server did not use; both in packets.
#[derive(Clone, Copy)]
struct Mean {
    queue: f64,
    missed: f64,
}

impl Mean {
    fn interpolate(self, next: Self, part: f64) -> Self {
        Self {
            queue: (1.0 - part) * self.queue + part * next.queue,
            missed: (1.0 - part) * self.missed + part * next.missed,
        }
    }
}

/// Applies `step` to zero `times` times, or until the value no longer changes.
fn settle(times: i64, step: impl Fn(f64) -> f64) -> f64 {
    let mut value = 0.0;
    for _ in 0..times {
        let next = step(value);
        if next <= value {
            break;
        }
        value = next;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference values computed independently, with 60 digits.
    #[test]
    fn anchor_values_are_reproduced() {
        let mut f1 = TransientMean::new();
        for (n, lambda, mu, expected) in [
            (0.0, 900.0, 1000.0, 7.651_807_186_700_45),
            (1.0, 900.0, 1000.0, 7.660_375_221_950_141),
            (40.0, 900.0, 1000.0, 22.221_808_461_675_185),
            (0.0, 5e5, 5e5, 356.325_046_246_138_47),
            (5000.0, 4.75e5, 5e5, 185.316_753_022_652_65),
            (5000.0, 1.0, 1e5, 1.000_010_000_1e-5),
            (10.0, 5e5, 500.0, 99_910.0),
        ] {
            let value = f1.mean(n, lambda, mu, 0.2);
            assert!((value / expected - 1.0).abs() < 1e-12, "f1({n}, {lambda}, {mu}) = {value}");
        }
    }

    #[test]
    fn during_an_outage_arrivals_add_to_the_queue() {
        let transition = TransientMean::new().transition(2.5, 100.0, 0.0, 0.2);
        assert!((transition.queue - 22.5).abs() < 1e-12);
        assert!((transition.by_queue - 1.0).abs() < 1e-12 && (transition.by_arrival_rate - 0.2).abs() < 1e-9);
    }

    /// The exact value and the fluid limit that replaces it are close at the threshold.
    #[test]
    fn the_fluid_limit_is_close_to_the_exact_value() {
        let mut f1 = TransientMean::new();
        for (lambda, mu) in [(4.9e8, 4e8), (4e8, 4.9e8)] {
            let below = f1.mean(0.0, lambda, mu, 2.0) / 2.0;
            let beyond = f1.mean(0.0, 2.0 * lambda, 2.0 * mu, 2.0) / 4.0;
            assert!((below - beyond).abs() < 1e-7 * lambda, "{below} {beyond}");
        }
    }

    #[test]
    fn invalid_arguments_return_a_number() {
        let mut f1 = TransientMean::new();
        for queue in [f64::NAN, -1.0, 1e300, 0.3] {
            for rate in [f64::NAN, -1.0, 0.0, 1e-300, 1e-9, 1e9, 1e300, f64::INFINITY] {
                let transition = f1.transition(queue, rate, 1000.0, 0.2);
                assert!(transition.queue >= 0.0 && transition.queue.is_finite(), "{queue} {rate}");
                let transition = f1.transition(queue, 1000.0, rate, 0.2);
                assert!(transition.queue >= 0.0 && transition.queue.is_finite(), "{queue} {rate}");
                assert!((0.0..=1.0).contains(&transition.idle), "{queue} {rate}");
            }
        }
    }

    /// Above 1e9 packets a server is idle only because of missing fluid.
    #[test]
    fn the_fluid_server_is_idle_for_the_missing_share() {
        let mut f1 = TransientMean::new();
        assert!((f1.transition(0.0, 8e8, 1e9, 2.0).idle - 0.2).abs() < 1e-12);
        assert!(f1.transition(0.0, 1e9, 8e8, 2.0).idle.abs() < 1e-12);
    }
}
