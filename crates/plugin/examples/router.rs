//! airpath's own drop-tail queue and XCP-b source in one library: their runs must equal those of the built-in ones.

use std::ffi::CStr;

use airpath_estimate::{XcpB, XcpBConfig};
use airpath_plugin::model::Bytes;
use airpath_plugin::{LinkFacts, Parameter, QueuePlugin, QueuedPacket, SourcePlugin, Values};
use airpath_queue::{DropTail, Limit};

struct OwnDropTail;

impl QueuePlugin for OwnDropTail {
    type Queue = DropTail<QueuedPacket>;
    const TITLE: &'static CStr = c"Drop-tail (library)";
    const DESCRIPTION: &'static CStr = c"airpath's drop-tail queue as a shared library.";

    fn build(link: LinkFacts, _values: &Values<'_>) -> Result<Self::Queue, String> {
        Ok(DropTail::new(match (link.limit_bytes, link.limit_packets) {
            (Some(bytes), _) => Limit::Bytes(bytes),
            (None, Some(packets)) => Limit::Packets(packets),
            (None, None) => Limit::Unlimited,
        }))
    }
}

airpath_plugin::export!(queue: OwnDropTail);

struct OwnXcpB;

impl SourcePlugin for OwnXcpB {
    type Source = XcpB;
    const TITLE: &'static CStr = c"XCP-b (library)";
    const DESCRIPTION: &'static CStr = c"airpath's XCP-b source as a shared library.";
    const PARAMETERS: &'static [Parameter] =
        &[Parameter::number(c"chi", c"Probing step as a share of the buffer.", 0.2)
            .more_than(0.0)
            .at_most(1.0)];
    const QUANTITIES: &'static CStr = c"spare_bandwidth empty_intervals";

    fn build(_buffer: Bytes, values: &Values<'_>) -> Result<XcpB, String> {
        let config = XcpBConfig { chi: values.number("chi"), ..XcpBConfig::default() };
        XcpB::new(config).map_err(|error| error.to_string())
    }
}

airpath_plugin::export!(source: OwnXcpB);
