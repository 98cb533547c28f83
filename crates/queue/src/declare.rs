//! Queue disciplines and router protocols as components.

use alloc::boxed::Box;
use alloc::format;
use core::fmt::Debug;
use core::marker::PhantomData;

use airpath_model::declare::{ComponentError, Kind, Values};
use airpath_model::{Bytes, CapacitySource, Duration, Qdisc, RandomStream};

use crate::Limit;

/// The items that the declaration of a router protocol uses.
pub(crate) mod prelude {
    pub(crate) use alloc::boxed::Box;
    pub(crate) use core::fmt::Debug;

    pub(crate) use airpath_model::Qdisc;

    pub(crate) use super::{ProtocolFacts, ProtocolNeeds, Routers, check_order};
    pub(crate) use crate::Router;
}

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
    /// Returns the parameter `capacity` in bits per second. Sets it to the mean rate of the link if it is not
    /// given.
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

/// The information that the construction of a queue needs in addition to its parameters.
#[derive(Debug)]
pub struct QueueFacts<'a> {
    /// The limit of the queue.
    pub limit: Limit,
    /// The same limit in bytes.
    pub buffer: Bytes,
    /// The number of flows of the plan.
    pub flows: usize,
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

/// Router protocols over a drop-tail queue for packets of type `P`.
#[derive(Debug)]
pub struct Routers<P>(PhantomData<fn() -> P>);

/// Router protocols in plans, which do not depend on the type of packets.
#[derive(Debug)]
pub struct Protocols;

/// The properties of a router protocol on which the components that share a link with it depend.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProtocolNeeds {
    /// α of XCP, by which it multiplies spare bandwidth; `None` under a protocol that needs a capacity.
    pub xcp_alpha: Option<f64>,
    /// Whether data packets of real hosts carry a [`airpath_model::LoadCode`] in their ECN field.
    pub load_codes: bool,
}

/// The information that the construction of a router needs in addition to the parameters of its protocol.
#[derive(Debug)]
pub struct ProtocolFacts {
    /// The limit of the queue.
    pub limit: Limit,
    /// The same limit in bytes.
    pub buffer: Bytes,
    /// The capacity source.
    pub source: Box<dyn CapacitySource>,
}

impl<P: 'static> Kind for Routers<P> {
    const NAME: &'static str = "router-protocol";
    type Context = ();
    type Parts = ();
    type Needs = ProtocolNeeds;
    type Facts<'a> = ProtocolFacts;
    type Built = Box<dyn Qdisc<P>>;

    fn example() {}
}

/// Rejects a time that is longer than its limit.
///
/// # Errors
/// `short` is longer than `long`; the text contains placeholders for both values.
pub(crate) fn check_order(
    shorter: &str,
    short: Duration,
    longer: &str,
    long: Duration,
) -> Result<(), ComponentError> {
    if short <= long {
        return Ok(());
    }
    let problem = format!(r#""{shorter}" ({{{shorter}}}) must not be longer than "{longer}" ({{{longer}}})"#);
    Err(ComponentError::new("", problem))
}
