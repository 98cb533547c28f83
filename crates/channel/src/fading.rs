//! Symbol error rates of phase-shift keying over fading channels.

use core::f64::consts::{FRAC_PI_2, PI};

use airpath_model::config::{ConfigError, check};

use crate::GilbertElliott;

/// Phase-shift keying with M points on a circle, received over flat fading by maximum-ratio combining (MRC) of
/// independent branches with equal mean signal-to-noise ratios, with perfect knowledge of the channel.
///
/// Source: M. K. Simon, M.-S. Alouini, *Digital Communication over Fading Channels*, the form by the
/// moment-generating function of the signal-to-noise ratio. Signal-to-noise ratios are those of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub enum Psk {
    /// Two points.
    #[default]
    #[cfg_attr(feature = "declare", serde(rename = "bpsk"))]
    Bpsk,
    /// Four points.
    #[cfg_attr(feature = "declare", serde(rename = "qpsk"))]
    Qpsk,
    /// Eight points.
    #[cfg_attr(feature = "declare", serde(rename = "8psk"))]
    Eight,
    /// Sixteen points.
    #[cfg_attr(feature = "declare", serde(rename = "16psk"))]
    Sixteen,
    /// Thirty-two points.
    #[cfg_attr(feature = "declare", serde(rename = "32psk"))]
    ThirtyTwo,
    /// Sixty-four points.
    #[cfg_attr(feature = "declare", serde(rename = "64psk"))]
    SixtyFour,
}

impl Psk {
    /// All modulations, by the number of points.
    pub const ALL: [Self; 6] =
        [Self::Bpsk, Self::Qpsk, Self::Eight, Self::Sixteen, Self::ThirtyTwo, Self::SixtyFour];

    /// Returns the number of bits per symbol.
    pub const fn bits(self) -> u32 {
        self as u32 + 1
    }

    /// Returns M, the number of points.
    pub const fn points(self) -> u32 {
        1 << self.bits()
    }

    /// Returns the bit error probability for which the bits of a symbol, wrong independently of each other,
    /// are all right as often as the symbol is.
    ///
    /// Data that is lost with its first wrong bit (a byte, a packet) is then lost as if its symbols were
    /// sampled, regardless of which bits of a wrong symbol are wrong.
    pub fn bit_error(self, symbol_error: f64) -> f64 {
        match self {
            Self::Bpsk => symbol_error,
            _ => -libm::expm1(libm::log1p(-symbol_error) / f64::from(self.bits())),
        }
    }

    /// Returns the symbol error rate over Rayleigh fading with `branches` branches (from 1) at a mean SNR of
    /// `snr` for each (linear, finite, from 0).
    ///
    /// With th = snr sin²(pi/M): (1/pi) times the integral of (1 + th/sin² x)^-N from 0 to (M-1) pi/M. The part up to
    /// pi/2 (all of it for M = 2) is the closed form q^N sum C(N-1+k, k) (1-q)^k over k < N, with
    /// q = 1 / (2 (1+th) (1+r)) and r = sqrt(th/(1+th)); the usual (1-r)/2 for q loses all digits at high SNR.
    pub fn rayleigh(self, branches: u32, snr: f64) -> f64 {
        let threshold = snr * self.least_sine_squared();
        let transform = |sine_squared: f64| power(sine_squared / (sine_squared + threshold), branches);
        binary_rayleigh(branches, threshold) + self.beyond_half_pi(transform)
    }

    /// Returns the symbol error rate over Rician fading with factor `k` (power of the direct path over the
    /// mean power of the scattered ones, from 0; 0 is Rayleigh fading), otherwise as
    /// [`rayleigh`](Self::rayleigh).
    ///
    /// The integrand is ((1+K) sin² x / ((1+K) sin² x + th) exp(-K th / ((1+K) sin² x + th)))^N. Its integral
    /// up to pi/2 is computed as a trapezoid sum, which converges geometrically for a periodic function. The
    /// relative error is below 1e-9 if th / (1+K) is above 1e-4.
    pub fn rician(self, branches: u32, snr: f64, k: f64) -> f64 {
        /// Number of steps of the trapezoid sum over a quarter of the circle.
        const STEPS: u32 = 4096;
        let threshold = snr * self.least_sine_squared();
        let transform = |sine_squared: f64| {
            let scattered = (1.0 + k) * sine_squared;
            let total = scattered + threshold;
            if total <= 0.0 {
                return 1.0;
            }
            power(scattered / total * libm::exp(-k * threshold / total), branches)
        };
        let width = FRAC_PI_2 / f64::from(STEPS);
        let inner: f64 = (1..STEPS)
            .map(|step| {
                let sine = libm::sin(width * f64::from(step));
                transform(sine * sine)
            })
            .sum();
        let to_half_pi = width * (inner + f64::midpoint(transform(0.0), transform(1.0))) / PI;
        to_half_pi + self.beyond_half_pi(transform)
    }

    fn least_sine_squared(self) -> f64 {
        if self == Self::Bpsk {
            return 1.0; // exact, unlike the square of a rounded sine
        }
        let sine = libm::sin(PI / f64::from(self.points()));
        sine * sine
    }

    /// Returns the part of the integral from pi/2 to (M-1) pi/M, by symmetry that from pi/M to pi/2.
    fn beyond_half_pi(self, transform: impl Fn(f64) -> f64) -> f64 {
        if self == Self::Bpsk {
            return 0.0;
        }
        gauss_legendre(PI / f64::from(self.points()), FRAC_PI_2, |x| {
            let sine = libm::sin(x);
            transform(sine * sine)
        }) / PI
    }
}

/// A link of phase-shift keying over fading whose mean signal-to-noise ratio has two values, one for each state of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct TwoStateFading {
    /// Phase-shift keying with 2, 4, 8, 16, 32 or 64 points.
    #[cfg_attr(feature = "declare", serde(default))]
    pub modulation: Psk,
    /// Mean signal-to-noise ratio of a symbol for each receive antenna in the good state, dB.
    #[cfg_attr(feature = "declare", serde(rename = "snr"), schemars(range(min = -30, max = 100), example = 80.0))]
    pub snr_db: f64,
    /// Reduction of the signal-to-noise ratio in the bad state, dB.
    #[cfg_attr(feature = "declare", serde(rename = "bad_snr_drop", default = "default::bad_snr_drop"))]
    #[cfg_attr(feature = "declare", schemars(range(min = 0, max = 100)))]
    pub bad_snr_drop_db: f64,
    /// Transmit x receive antennas.
    #[cfg_attr(feature = "declare", serde(default))]
    pub antennas: Antennas,
    /// Power of the direct path over the mean power of the scattered ones; 0 is Rayleigh fading.
    #[cfg_attr(feature = "declare", serde(default), schemars(range(min = 0, max = 100)))]
    pub rician_k: f64,
}

#[cfg(feature = "declare")]
airpath_model::declare::defaults! {
    bad_snr_drop: f64 = 10.0;
}

impl TwoStateFading {
    /// Returns the chain that corrupts a bit with the error probability of its state. SNRs are from -30 to
    /// 100 dB in both states, and the Rician factor from 0 to 100.
    ///
    /// # Errors
    /// A parameter is outside its range; see [`GilbertElliott::new`] for `gamma` and `beta`.
    pub fn chain(&self, gamma: f64, beta: f64) -> Result<GilbertElliott, ConfigError> {
        let Self { snr_db: snr, bad_snr_drop_db: drop, rician_k, .. } = *self;
        check((-30.0..=100.0).contains(&snr), "snr", "from -30 to 100", snr)?;
        check((0.0..=100.0).contains(&drop), "bad_snr_drop", "from 0 to 100", drop)?;
        check(snr - drop >= -30.0, "bad_snr_drop", "at most \"snr\" plus 30", drop)?;
        check((0.0..=100.0).contains(&rician_k), "rician_k", "from 0 to 100", rician_k)?;
        let error = |db| {
            let symbol = self.antennas.symbol_error(self.modulation, linear_snr(db), self.rician_k);
            self.modulation.bit_error(symbol)
        };
        GilbertElliott::new(gamma, beta, error(snr), error(snr - drop))
    }
}

/// Transmit and receive antennas of a link, with maximum-ratio combining at the receiver and Alamouti's space-time block
/// code over two transmit antennas, which share the transmit power.
///
/// SNRs are means for each receive antenna.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub enum Antennas {
    /// One transmit and one receive antenna.
    #[default]
    #[cfg_attr(feature = "declare", serde(rename = "1x1"))]
    OneByOne,
    /// Two transmit antennas, one receive antenna.
    #[cfg_attr(feature = "declare", serde(rename = "2x1"))]
    TwoByOne,
    /// One transmit antenna, two receive antennas.
    #[cfg_attr(feature = "declare", serde(rename = "1x2"))]
    OneByTwo,
    /// Two transmit and two receive antennas.
    #[cfg_attr(feature = "declare", serde(rename = "2x2"))]
    TwoByTwo,
}

impl Antennas {
    /// Returns the number of independent branches that the receiver combines: transmit times receive
    /// antennas.
    pub const fn branches(self) -> u32 {
        match self {
            Self::OneByOne => 1,
            Self::TwoByOne | Self::OneByTwo => 2,
            Self::TwoByTwo => 4,
        }
    }

    /// Returns the mean SNR of each branch (linear) at a mean SNR of `snr` for each receive antenna.
    pub fn branch_snr(self, snr: f64) -> f64 {
        match self {
            Self::OneByOne | Self::OneByTwo => snr,
            Self::TwoByOne | Self::TwoByTwo => snr / 2.0,
        }
    }

    /// Returns the symbol error rate over Rayleigh fading, or Rician fading with factor `k` above 0, at a
    /// mean SNR of `snr` (linear) for each receive antenna.
    pub fn symbol_error(self, modulation: Psk, snr: f64, k: f64) -> f64 {
        let (branches, snr) = (self.branches(), self.branch_snr(snr));
        if k > 0.0 { modulation.rician(branches, snr, k) } else { modulation.rayleigh(branches, snr) }
    }

    /// Returns the bit error rate of BPSK, otherwise as [`symbol_error`](Self::symbol_error).
    pub fn bpsk_error(self, snr: f64, k: f64) -> f64 {
        self.symbol_error(Psk::Bpsk, snr, k)
    }
}

/// Converts a ratio in dB to a linear one.
pub fn linear_snr(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

/// Returns the error rate of BPSK over Rayleigh fading with MRC at a mean SNR of `snr` for each branch; every
/// term is positive.
fn binary_rayleigh(branches: u32, snr: f64) -> f64 {
    let r = libm::sqrt(snr / (1.0 + snr));
    let q = 1.0 / (2.0 * (1.0 + snr) * (1.0 + r));
    let (mut sum, mut term) = (0.0, 1.0);
    for k in 0..branches {
        sum += term;
        // C(N+k, k+1) / C(N-1+k, k) = (N+k) / (k+1).
        term *= (1.0 - q) * f64::from(branches + k) / f64::from(k + 1);
    }
    power(q, branches) * sum
}

fn power(base: f64, exponent: u32) -> f64 {
    libm::pow(base, f64::from(exponent))
}

/// Returns the integral of `f` from `low` to `high` by Gauss-Legendre quadrature with 48 points.
fn gauss_legendre(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    const POINTS: u32 = 48;
    let (middle, half) = (f64::midpoint(low, high), (high - low) / 2.0);
    let mut sum = 0.0;
    for index in 0..POINTS {
        // The roots of the Legendre polynomial by Newton's method from the classical initial guess.
        let mut x = libm::cos(PI * (f64::from(index) + 0.75) / (f64::from(POINTS) + 0.5));
        for _ in 0..6 {
            let (value, slope) = legendre(POINTS, x);
            x -= value / slope;
        }
        let (_, slope) = legendre(POINTS, x);
        sum += 2.0 / ((1.0 - x * x) * slope * slope) * f(middle + half * x);
    }
    half * sum
}

/// Returns the Legendre polynomial of this degree and its derivative, by Bonnet's recursion.
fn legendre(degree: u32, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for n in 2..=degree {
        let n = f64::from(n);
        (before, value) = (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * before) / n);
    }
    (value, f64::from(degree) * (x * value - before) / (x * x - 1.0))
}
