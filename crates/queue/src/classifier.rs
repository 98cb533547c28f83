//! Classification of packets into queues.

use alloc::boxed::Box;

use airpath_model::RandomStream;
#[cfg(feature = "declare")]
use airpath_model::config::check;

#[cfg(feature = "declare")]
use crate::{ConfigError, declare::QueueFacts};

/// Selects one of several queues by the flow of a packet.
#[derive(Clone, Debug)]
pub enum Classifier {
    /// By a hash of the flow: flows share a queue by chance (RFC 8290, section 4.1).
    Hash {
        /// Number of queues, at least one.
        queues: u32,
        /// Perturbation of the hash, different in each run.
        perturbation: u64,
    },
    /// By a table: the queue of each flow by its number ([`airpath_model::Packet::flow`]). Flows beyond the
    /// end of the table use the last queue.
    Table {
        /// Number of queues, at least one; the entries of the table are less than this.
        queues: u32,
        /// The queue of each flow.
        of_flow: Box<[u32]>,
    },
}

impl Classifier {
    /// Creates a classifier that hashes flows to `queues` queues.
    pub fn hash(queues: u32, random: &mut RandomStream) -> Self {
        Self::Hash { queues, perturbation: random.bits() }
    }

    /// Creates a table with the class of each flow of the plan. The table has an entry for each flow of the
    /// run in each direction.
    ///
    /// # Errors
    /// A flow has no class, or a class that does not exist.
    #[cfg(feature = "declare")]
    pub(crate) fn of_classes(
        classes: u32,
        class_of_flow: &[u32],
        facts: &QueueFacts<'_>,
    ) -> Result<Self, ConfigError> {
        let fits = class_of_flow.len() == facts.flows && class_of_flow.iter().all(|&class| class < classes);
        check(fits, "classes", "one class for each flow, of those that there are", f64::NAN)?;
        let class = |&flow: &u32| class_of_flow.get(flow as usize).copied().unwrap_or(u32::MAX);
        let of_flow = facts.flow_sources.iter().map(class).flat_map(|class| [class; 2]).collect();
        Ok(Self::Table { queues: classes, of_flow })
    }

    /// Returns the number of queues.
    pub(crate) const fn queues(&self) -> usize {
        match *self {
            Self::Hash { queues, .. } | Self::Table { queues, .. } => queues as usize,
        }
    }

    /// Returns the queue of a flow.
    pub(crate) fn queue_of(&self, flow: u64) -> usize {
        match self {
            Self::Hash { queues, perturbation } => {
                (spread(flow ^ perturbation) % u64::from(*queues)) as usize
            }
            Self::Table { queues, of_flow } => {
                let last = *queues as usize - 1;
                of_flow.get(flow as usize).map_or(last, |&queue| (queue as usize).min(last))
            }
        }
    }
}

/// Applies a bijection that spreads every bit over all others (the finaliser of `SplitMix64`).
const fn spread(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;

    use super::*;

    #[test]
    fn a_hash_fills_all_queues_evenly_and_differs_between_runs() {
        let classifier = |seed| Classifier::hash(16, &mut RandomStream::new(seed, "queue"));
        let (one, other) = (classifier(1), classifier(2));
        let mut counts = [0_u32; 16];
        for flow in 0..1600 {
            counts[one.queue_of(flow)] += 1;
        }
        // Five standard deviations of a binomial distribution of 1600 and 1/16.
        assert!(counts.iter().all(|count| (50..=150).contains(count)), "{counts:?}");
        assert!((0..100).any(|flow| one.queue_of(flow) != other.queue_of(flow)));
    }

    #[test]
    fn a_table_has_a_queue_for_unlisted_flows() {
        let table = Classifier::Table { queues: 3, of_flow: Box::new([1, 0, 7]) };
        assert_eq!([0, 1, 2, 99].map(|flow| table.queue_of(flow)), [1, 0, 2, 2]);
    }
}
