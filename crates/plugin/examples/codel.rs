//! airpath's own CoDel as a library: its runs must equal those of the built-in CoDel.

use std::ffi::CStr;

use airpath_plugin::model::{Bytes, Duration};
use airpath_plugin::{LinkFacts, Parameter, QueuePlugin, QueuedPacket, Values};
use airpath_queue::{Codel, CodelConfig, Limit};

struct OwnCodel;

impl QueuePlugin for OwnCodel {
    type Queue = Codel<QueuedPacket>;
    const TITLE: &'static CStr = c"CoDel (library)";
    const DESCRIPTION: &'static CStr = c"airpath's CoDel as a shared library.";
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::time(c"target", c"The accepted minimum queueing delay.", Duration::from_millis(5))
            .more_than(0.0),
        Parameter::time(c"interval", c"Time above the target.", Duration::from_millis(100)).more_than(0.0),
        Parameter::size(c"packet", c"Bytes that may wait without drops.", Bytes::new(1500)).more_than(0.0),
        Parameter::boolean(c"ecn", c"Mark packets instead of dropping them.", true),
    ];
    const QUANTITIES: &'static CStr = c"sojourn_s dropping drop_count";

    fn build(link: LinkFacts, values: &Values<'_>) -> Result<Self::Queue, String> {
        let limit = match (link.limit_bytes, link.limit_packets) {
            (Some(bytes), _) => Limit::Bytes(bytes),
            (None, Some(packets)) => Limit::Packets(packets),
            (None, None) => Limit::Unlimited,
        };
        let config = CodelConfig {
            target: values.time("target"),
            interval: values.time("interval"),
            packet: values.size("packet"),
            ecn: values.boolean("ecn"),
        };
        Codel::new(limit, config).map_err(|error| error.to_string())
    }
}

airpath_plugin::export!(queue: OwnCodel);
