//! Delivery-rate samples of the transport.

use airpath_model::{AckEvent, Timestamp};

use crate::ack_rate::sample::Sample;

/// Delivery-rate samples. Each covers about a round trip, so successive samples overlap. The interval of a
/// sample is therefore the time since the previous one.
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
