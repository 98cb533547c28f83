//! Packet captures: the reader, and the replay into every estimator.

use std::env;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::LazyLock;

use airpath_replay::{NamedEstimator, Options, analyse};

#[path = "../../replay/tests/it/common/mod.rs"]
pub(crate) mod common;

use crate::target::Target;
use common::damage::{is_readable, seeds};

/// The seeds include the captures in the folder that `AIRPATH_CAPTURES` names.
pub(crate) fn target() -> Target {
    let folder = env::var_os("AIRPATH_CAPTURES").map(PathBuf::from);
    let parse = |bytes: &[u8]| is_readable(bytes.to_vec());
    Target { name: "captures", seeds: seeds(folder.as_deref()), parse: Box::new(parse) }
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
