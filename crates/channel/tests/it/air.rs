//! Ten points at which channels are checked.

use airpath_channel::{
    AirChain, Antennas, BitClock, CodeRate, Coding, ErrorProcess, GilbertElliott, PacketOutcomes, linear_snr,
};
use airpath_model::{Bytes, RandomStream, Timestamp, Transmission};

pub(crate) fn stream(seed: u64) -> RandomStream {
    RandomStream::new(seed, "link/radio/loss")
}

pub(crate) fn arrives(errors: &mut impl ErrorProcess, bytes: u64, at: Timestamp) -> bool {
    errors.arrives(&Transmission { start: at, size: Bytes::new(bytes), continues: false }, at)
}

pub(crate) fn fading(antennas: Antennas, snr_db: f64, beta: f64, clock: BitClock) -> AirChain {
    let [good, bad] = [snr_db, snr_db - 10.0].map(|db| antennas.bpsk_error(linear_snr(db), 0.0));
    AirChain { chain: GilbertElliott::new(0.99875, beta, good, bad).unwrap(), clock }
}

pub(crate) struct Point {
    pub(crate) air: AirChain,
    pub(crate) coding: Coding,
    pub(crate) bytes: u64,
}

/// Ten points from slight to heavy loss, small packets so that walking through their bits takes little time.
pub(crate) fn points() -> Vec<Point> {
    let coded = |numerator, denominator| {
        let rate = CodeRate::new(numerator, denominator).unwrap();
        Coding { data: Some(rate), ..Coding::default() }
    };
    let none = Coding::default();
    let (bit, symbol) = (BitClock::Bit, BitClock::Symbol);
    let point = |air, coding, bytes| Point { air, coding, bytes };
    vec![
        point(fading(Antennas::OneByOne, 25.0, 0.875, bit), none, 40),
        point(fading(Antennas::TwoByTwo, 10.0, 0.91667, bit), none, 100),
        point(fading(Antennas::OneByTwo, 12.0, 0.875, bit), none, 200),
        point(fading(Antennas::OneByOne, 10.0, 0.91667, bit), coded(1, 2), 40),
        point(fading(Antennas::TwoByOne, 8.0, 0.875, bit), coded(9, 10), 60),
        point(fading(Antennas::OneByOne, 15.0, 0.91667, bit), coded(4, 5), 250),
        point(fading(Antennas::OneByTwo, 7.0, 0.91667, bit), coded(9, 10), 300),
        point(fading(Antennas::TwoByOne, 10.0, 0.91667, symbol), coded(19, 20), 260),
        point(fading(Antennas::OneByOne, 20.0, 0.875, symbol), none, 100),
        point(
            AirChain { chain: GilbertElliott::new(0.999, 0.999, 0.0, 0.02).unwrap(), clock: bit },
            none,
            100,
        ),
    ]
}

impl Point {
    /// The exact probabilities.
    pub(crate) fn outcomes(&self) -> PacketOutcomes {
        self.air.outcomes(self.bytes, self.coding.data)
    }
}
