//! The network of a run: packets, events, links, records.
//!
//! A [`Network`] contains the links of a [plan](airpath_plan::Plan), the packets inside, and the records. It
//! is driven by the owner of the flows: the simulator with its own flows ([`Ends`]), or another caller with
//! its own packets ([`ExternalNetwork`]).

mod build;
mod capture;
mod components;
mod context;
mod event;
mod external;
mod external_packet;
mod link;
mod lookahead;
mod network;
mod packet;
pub mod prefetch;
mod qlog;
mod record;
mod routes;
mod run_control;
mod transmissions;

pub use build::{independent_packet_loss, long_run_loss, packet_loss, rate_steps};
pub use components::{Components, components};
pub use context::Context;
pub use event::{Entry, EventQueue, Target};
pub use external::{ExternalNetwork, LimitedTimes};
pub use external_packet::{Captured, Delivery, Direction, ExternalPacket, Lost};
pub use lookahead::FlowEnds;
pub use network::{Counts, Driver, Ends, Network, Outcome};
pub use packet::{Body, Contents, Packet, PacketPool};
pub use qlog::{FlowLog, flow_logs};
pub use record::{
    Column, ColumnDescription, FlowProbe, FlowSeries, FlowState, FlowSummary, LinkStep, Recorder, Table,
    TableDescription, Values, table_descriptions,
};
pub use routes::{END_OF_ROUTE, FlowRoutes, assemble_routes};
pub use run_control::RunControl;
pub use transmissions::{Transmission, Transmissions, logged_flows};
