//! Packet captures: the reader, and the replay into every estimator.

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::LazyLock;

use airpath_fuzz::{Arguments, Kind, Target};
use airpath_replay::{NamedEstimator, Options, analyse};

#[path = "../../../replay/tests/it/common/mod.rs"]
pub(crate) mod common;

use common::damage::{is_readable, seeds};

pub(crate) fn target(arguments: &Arguments) -> Target {
    let feed = |bytes: &[u8]| is_readable(bytes.to_vec());
    let folder = arguments.seeds("captures").next().map(PathBuf::as_path);
    Target { name: "captures", kind: Kind::Bytes, seeds: seeds(folder), feed: Box::new(feed) }
}

/// Replays a small capture into the estimator.
pub(crate) fn replayed(estimator: NamedEstimator) {
    static CAPTURE: LazyLock<Vec<u8>> = LazyLock::new(|| seeds(None).swap_remove(0));
    let options = Options { estimators: vec![estimator], ..Options::default() };
    let analysis = analyse(Cursor::new(CAPTURE.clone()), &options).unwrap();
    assert!(!analysis.flows.is_empty());
    for estimate in analysis.flows.iter().flat_map(|flow| &flow.estimates) {
        assert!(estimate.mean_bps.is_none_or(|rate| rate.is_finite() && rate >= 0.0), "{estimate:?}");
    }
}
