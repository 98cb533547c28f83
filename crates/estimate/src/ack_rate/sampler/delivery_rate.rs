//! Samples that the transport takes.

use airpath_model::{AckEvent, Timestamp};

use crate::ack_rate::sample::Sample;

/// Delivery-rate samples. Each covers about a round trip, so that neighbours overlap; the time that one stands for
/// is that since the one before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveryRate {
    last: Option<Timestamp>,
}

impl DeliveryRate {
    pub(crate) fn on_ack(&mut self, event: &AckEvent) -> Option<Sample> {
        let rate = event.rate.filter(|rate| !rate.app_limited && !rate.interval.is_zero())?;
        let since = self.last.replace(event.now).map_or(rate.interval, |last| event.now.since(last));
        Some(Sample { interval: since, ..Sample::new(rate.delivered, rate.interval) })
    }
}
