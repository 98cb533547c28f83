//! Capacity sources as components.

use alloc::boxed::Box;
use alloc::format;

use airpath_model::declare::{ComponentError, Kind, Registry, Values};
use airpath_model::{Bytes, CapacitySource, Rate};

use crate::QfcpConfig;

/// Capacity sources.
#[derive(Debug)]
pub struct CapacitySources;

/// The properties of a link on which defaults of its capacity source may depend.
#[derive(Clone, Copy, Debug)]
pub struct SourceContext {
    /// The largest packet of any flow.
    pub packet: Bytes,
    /// The mean rate of the link in bits per second; `None` if it is unlimited, or not known before the run.
    pub mean_bps: Option<f64>,
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

/// What the construction of a capacity source needs in addition to its parameters.
#[derive(Clone, Copy, Debug)]
pub struct SourceFacts {
    /// The buffer of the link.
    pub buffer: Bytes,
}

impl Kind for CapacitySources {
    const NAME: &'static str = "capacity-source";
    type Context = SourceContext;
    type Parts = ();
    type Needs = ();
    type Facts<'a> = SourceFacts;
    type Built = Box<dyn CapacitySource>;

    fn example() -> SourceContext {
        SourceContext { packet: Bytes::new(1500), mean_bps: Some(1e7) }
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

/// Returns the capacity sources of this crate: one line each.
pub fn builtin() -> Registry<CapacitySources> {
    Registry::default().with::<QfcpConfig>()
}
