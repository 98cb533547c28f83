//! The measurements of a run. Counters are plain numbers updated on the packet path; rows are created once
//! per interval.

mod estimate;
mod flow;
mod histogram;
mod link;
mod quantities;
mod recorder;
mod rows;
mod series;
mod sparse;
mod state;
mod step;
mod table;

pub use rows::table_descriptions;
pub use series::FlowSeries;
pub use state::{FlowState, FlowSummary};
pub use step::LinkStep;
pub use table::{Column, ColumnDescription, Table, TableDescription, Values};

pub(crate) use link::Buffer;
pub use recorder::{FlowProbe, Recorder};
pub(crate) use recorder::{Keep, Recorded};
pub(crate) use rows::{FlowEvent, FlowTable};
