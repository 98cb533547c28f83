//! Queue disciplines as components.

use alloc::boxed::Box;
use core::fmt::Debug;
use core::marker::PhantomData;

use airpath_model::declare::{Kind, Registry};
use airpath_model::{Bytes, Packet, Qdisc, RandomStream};

use crate::{CodelConfig, Limit};

/// Queue disciplines for packets of type `P`.
#[derive(Debug)]
pub struct Queues<P>(PhantomData<fn() -> P>);

/// Queue disciplines for any packets: what a plan refers to.
#[derive(Debug)]
pub struct Disciplines;

/// What is known of a link where its queue is planned.
#[derive(Clone, Copy, Debug)]
pub struct QueuePlace {
    /// The largest packet that any flow sends.
    pub packet: Bytes,
    /// The mean rate of the link in bits per second; `None` if it is unlimited, or not known before the run.
    pub mean_bps: Option<f64>,
}

/// What the construction of a queue needs.
#[derive(Debug)]
pub struct QueueFacts<'a> {
    /// How much may wait.
    pub limit: Limit,
    /// The same in bytes.
    pub buffer: Bytes,
    /// The flow of the plan to which each flow of the run belongs.
    pub flow_sources: &'a [u32],
    /// What the queue may draw from.
    pub random: RandomStream,
}

impl<P: 'static> Kind for Queues<P> {
    const NAME: &'static str = "queue";
    type Place = QueuePlace;
    type Facts<'a> = QueueFacts<'a>;
    type Built = Box<dyn Qdisc<P>>;

    fn example() -> QueuePlace {
        QueuePlace { packet: Bytes::new(1500), mean_bps: Some(1e7) }
    }
}

/// The queues of this crate: one line each.
pub fn builtin<P: Packet + Debug + Send + 'static>() -> Registry<Queues<P>> {
    Registry::default().with::<CodelConfig>()
}
