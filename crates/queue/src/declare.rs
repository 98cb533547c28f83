//! Queue disciplines as components.

use alloc::boxed::Box;
use core::fmt::Debug;
use core::marker::PhantomData;

use airpath_model::declare::{ComponentError, Kind, Registry, Values};
use airpath_model::{Bytes, Packet, Qdisc, RandomStream};

use crate::{AvqConfig, CodelConfig, DualPi2Config, FqCodelConfig, Limit, PieConfig, RedConfig, RemConfig};

/// Queue disciplines for packets of type `P`.
#[derive(Debug)]
pub struct Queues<P>(PhantomData<fn() -> P>);

/// Queue disciplines in plans, which do not depend on the type of packets.
#[derive(Debug)]
pub struct Disciplines;

/// The properties of a link on which defaults of its queue may depend.
#[derive(Clone, Copy, Debug)]
pub struct QueueContext {
    /// The largest packet of any flow.
    pub packet: Bytes,
    /// The mean rate of the link in bits per second; `None` if it is unlimited, or not known before the run.
    pub mean_bps: Option<f64>,
}

impl QueueContext {
    /// Returns the parameter `capacity` in bits per second. Sets it to the mean rate of the link if it was not given.
    ///
    /// # Errors
    /// The link has no mean rate.
    pub(crate) fn capacity(&self, given: &mut Values) -> Result<u64, ComponentError> {
        if let Some(capacity) = given.get("capacity") {
            // A value of another type is rejected later, when the values are read.
            return Ok(capacity.as_u64().unwrap_or(0));
        }
        let mean = libm::rint(self.mean_bps.unwrap_or(0.0)) as u64;
        if mean == 0 {
            let problem = "required: the mean rate of the link is not known";
            return Err(ComponentError::new("capacity", problem));
        }
        given.insert("capacity".into(), mean.into());
        Ok(mean)
    }
}

/// What the construction of a queue needs in addition to its parameters.
#[derive(Debug)]
pub struct QueueFacts<'a> {
    /// The limit of the queue.
    pub limit: Limit,
    /// The same limit in bytes.
    pub buffer: Bytes,
    /// For each flow of the run, the flow of the plan to which it belongs.
    pub flow_sources: &'a [u32],
    /// The random stream of the queue.
    pub random: RandomStream,
}

impl<P: 'static> Kind for Queues<P> {
    const NAME: &'static str = "queue";
    type Context = QueueContext;
    type Parts = ();
    type Needs = ();
    type Facts<'a> = QueueFacts<'a>;
    type Built = Box<dyn Qdisc<P>>;

    fn example() -> QueueContext {
        QueueContext { packet: Bytes::new(1500), mean_bps: Some(1e7) }
    }
}

/// Returns the queue disciplines of this crate: one line each.
pub fn builtin<P: Packet + Debug + Send + 'static>() -> Registry<Queues<P>> {
    Registry::default()
        .with::<RedConfig>()
        .with::<RemConfig>()
        .with::<AvqConfig>()
        .with::<CodelConfig>()
        .with::<FqCodelConfig>()
        .with::<PieConfig>()
        .with::<DualPi2Config>()
}
