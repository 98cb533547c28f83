//! The bandwidth of a flow over time, and as a single number.

use super::bootstrap::mean_interval;

/// With fewer full bins there is only a lower bound of the bandwidth.
const FEWEST_FULL: usize = 3;
/// Width of the blocks of the bootstrap, in seconds.
const BLOCK_S: f64 = 5.0;
/// The smallest half-width of intervals, as a share of the rate.
pub(super) const LEAST_HALF_WIDTH: f64 = 0.03;

/// The delivered rate in a time bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// The start, in nanoseconds since the first packet of the capture.
    pub from_ns: u64,
    /// The end, in nanoseconds since the first packet of the capture.
    pub to_ns: u64,
    /// Payload delivered, bytes.
    pub bytes: u64,
    /// The delivered rate, bit/s.
    pub rate_bps: f64,
    /// Lower end of the 95 % interval of the rate, bit/s. For a lower bound it is 3 % below the rate: only
    /// its time is uncertain.
    pub low_bps: f64,
    /// Upper end of the interval, bit/s.
    pub high_bps: f64,
    /// Whether the link was full, so that the rate is the available bandwidth. Otherwise the rate is a lower
    /// bound.
    pub full: bool,
}

impl Bin {
    fn seconds(&self) -> f64 {
        self.to_ns.saturating_sub(self.from_ns) as f64 * 1e-9
    }
}

/// The bandwidth as a single number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Headline {
    /// Whether it is the available bandwidth, measured while the link was full. Otherwise it is a lower
    /// bound.
    pub full: bool,
    /// The bandwidth, or the lower bound, bit/s of payload.
    pub rate_bps: f64,
    /// Lower end of the 95 % interval of the mean, bit/s; for a lower bound, of the largest bin.
    pub low_bps: f64,
    /// Upper end of the interval, bit/s.
    pub high_bps: f64,
    /// The smallest rate of the bins used, bit/s.
    pub least_bps: f64,
    /// The largest rate of the bins used, bit/s.
    pub most_bps: f64,
    /// The share of time in which the link was full, 0 to 1.
    pub full_share: f64,
}

/// The bandwidth of a flow, or of all flows of a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The time bins.
    pub bins: Vec<Bin>,
    /// The bandwidth as a single number; `None` if nothing was delivered.
    pub headline: Option<Headline>,
}

/// Returns the bandwidth of these bins as a single number; `None` without bins.
pub(super) fn headline(bins: &[Bin]) -> Option<Headline> {
    let time =
        |bins: &mut dyn Iterator<Item = &Bin>| bins.map(Bin::seconds).fold(0.0, |sum, time| sum + time);
    let full: Vec<Bin> = bins.iter().copied().filter(|bin| bin.full).collect();
    let full_share = time(&mut full.iter()) / time(&mut bins.iter()).max(1e-9);
    let extremes = |bins: &[Bin]| {
        bins.iter().fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), bin| {
            (least.min(bin.rate_bps), most.max(bin.rate_bps))
        })
    };
    if full.len() < FEWEST_FULL {
        let best = bins.iter().max_by(|a, b| a.rate_bps.total_cmp(&b.rate_bps))?;
        let (least_bps, most_bps) = extremes(bins);
        let bound_bps = (1.0 - LEAST_HALF_WIDTH) * best.rate_bps;
        return Some(Headline {
            full: false,
            rate_bps: bound_bps,
            low_bps: bound_bps,
            high_bps: best.high_bps,
            least_bps,
            most_bps,
            full_share,
        });
    }
    let rates: Vec<f64> = full.iter().map(|bin| bin.rate_bps).collect();
    let weights: Vec<f64> = full.iter().map(Bin::seconds).collect();
    let total: f64 = weights.iter().sum();
    let rate_bps = full.iter().map(|bin| bin.bytes as f64 * 8.0).sum::<f64>() / total;
    let block = (BLOCK_S / (total / full.len() as f64)).round().max(1.0) as usize; // at most 5 s
    let (low, high) = mean_interval(&rates, &weights, block)?;
    let least = LEAST_HALF_WIDTH * rate_bps;
    let (low_bps, high_bps) = (low.min(rate_bps - least), high.max(rate_bps + least));
    let (least_bps, most_bps) = extremes(&full);
    Some(Headline { full: true, rate_bps, low_bps, high_bps, least_bps, most_bps, full_share })
}
