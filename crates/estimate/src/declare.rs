//! Capacity sources as components.

use alloc::boxed::Box;
use alloc::format;

use airpath_model::declare::{Kind, Refused, Registry, Values};
use airpath_model::{Bytes, CapacitySource, Rate};

use crate::QfcpConfig;

/// Capacity sources.
#[derive(Debug)]
pub struct CapacitySources;

/// What is known of a link where the source of its router is planned.
#[derive(Clone, Copy, Debug)]
pub struct SourcePlace {
    /// The largest packet that any flow sends.
    pub packet: Bytes,
    /// The mean rate of the link in bits per second; `None` if it is unlimited, or not known before the run.
    pub mean_bps: Option<f64>,
}

impl SourcePlace {
    /// The parameter `capacity`, in bits per second; unless given, the mean rate of the link.
    ///
    /// # Errors
    /// A link without a mean rate.
    pub fn capacity(&self, given: &mut Values) -> Result<u64, Refused> {
        if let Some(capacity) = given.get("capacity") {
            return Ok(capacity.as_u64().unwrap_or(0)); // what is no rate is refused when it is read
        }
        let mean = libm::rint(self.mean_bps.unwrap_or(0.0)) as u64;
        if mean == 0 {
            let problem = "the mean rate of the link is not known; give the parameter \"capacity\"";
            return Err(Refused::new("", problem));
        }
        given.insert("capacity".into(), mean.into());
        Ok(mean)
    }
}

/// What the construction of a capacity source needs.
#[derive(Clone, Copy, Debug)]
pub struct SourceFacts {
    /// The buffer of the link.
    pub buffer: Bytes,
}

impl Kind for CapacitySources {
    const NAME: &'static str = "capacity-source";
    type Place = SourcePlace;
    type Facts<'a> = SourceFacts;
    type Built = Box<dyn CapacitySource>;

    fn example() -> SourcePlace {
        SourcePlace { packet: Bytes::new(1500), mean_bps: Some(1e7) }
    }
}

/// Refuses a rate above the one that bounds it.
///
/// # Errors
/// Both with their values.
pub fn ascending(lower: &str, low: Rate, upper: &str, high: Rate) -> Result<(), Refused> {
    if low <= high {
        return Ok(());
    }
    Err(Refused::new("", format!("{lower} ({{{lower}}}) must not be above {upper} ({{{upper}}})")))
}

/// The sources of this crate: one line each.
pub fn builtin() -> Registry<CapacitySources> {
    Registry::default().with::<QfcpConfig>()
}
