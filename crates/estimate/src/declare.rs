//! The kinds of components of this crate.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt::Debug;

use airpath_model::declare::{ComponentError, Kind, Values};
use airpath_model::{Bytes, CapacitySource, Duration, Rate, TrueRate};

pub use crate::ack_rate::{AckRates, Filters, Samplers};

/// Capacity sources.
#[derive(Debug)]
pub struct CapacitySources;

/// The properties of a link on which defaults of its capacity source may depend.
#[derive(Clone, Debug)]
pub struct SourceContext {
    /// The largest packet of any flow.
    pub packet: Bytes,
    /// The mean rate of the link in bits per second; `None` if it is unlimited, or not known before the run.
    pub mean_bps: Option<f64>,
    /// The router protocol that the source serves; `None` if it is not known.
    pub protocol: Option<String>,
}

impl SourceContext {
    /// Returns the parameter `capacity` in bits per second. Sets it to the mean rate of the link if it was not given.
    ///
    /// # Errors
    /// The link has no mean rate.
    pub fn capacity(&self, given: &mut Values) -> Result<u64, ComponentError> {
        if let Some(capacity) = given.get("capacity") {
            // A value of another type is rejected later, when the values are read.
            return Ok(capacity.as_u64().unwrap_or(0));
        }
        let mean = libm::rint(self.mean_bps.unwrap_or(0.0)) as u64;
        if mean == 0 {
            let problem = "the mean rate of the link is not known; give the parameter \"capacity\"";
            return Err(ComponentError::new("", problem));
        }
        given.insert("capacity".into(), mean.into());
        Ok(mean)
    }
}

/// What a capacity source requires of its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceNeeds {
    /// The queue has a limit: the source acts on shares of the buffer.
    pub limit: bool,
    /// The router protocol is XCP; the text states the reason.
    pub xcp: Option<&'static str>,
}

/// The true rate of a link.
pub trait LinkTruth: Debug {
    /// Returns the true rate of the link. If the link has delivery opportunities instead of a rate, they are averaged over
    /// this time.
    fn averaged_over(&self, averaging: Duration) -> Box<dyn TrueRate>;
}

/// What the construction of a capacity source needs in addition to its parameters.
#[derive(Clone, Copy, Debug)]
pub struct SourceFacts<'a> {
    /// The buffer of the link.
    pub buffer: Bytes,
    /// The true rate of the link.
    pub truth: &'a dyn LinkTruth,
    /// α of the XCP router that the source serves; `None` under another protocol.
    pub xcp_alpha: Option<f64>,
}

impl Kind for CapacitySources {
    const NAME: &'static str = "capacity-source";
    type Context = SourceContext;
    type Parts = ();
    type Needs = SourceNeeds;
    type Facts<'a> = SourceFacts<'a>;
    type Built = Box<dyn CapacitySource>;

    fn example() -> SourceContext {
        SourceContext { packet: Bytes::new(1500), mean_bps: Some(1e7), protocol: Some("xcp".into()) }
    }
}

/// Rejects a rate above the rate that limits it.
///
/// # Errors
/// `low` is greater than `high`; the text contains placeholders for both values.
pub(crate) fn check_order(lower: &str, low: Rate, upper: &str, high: Rate) -> Result<(), ComponentError> {
    if low <= high {
        return Ok(());
    }
    let problem = format!("{lower} ({{{lower}}}) must not be above {upper} ({{{upper}}})");
    Err(ComponentError::new("", problem))
}
