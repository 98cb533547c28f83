//! Our controllers in quinn over real sockets: the example, with each of its schemes.

#[allow(dead_code, reason = "its main is not called here")]
#[path = "../../examples/download.rs"]
mod download;

use airpath_control::Fixed;
use airpath_model::{Bytes, Rate};
use download::{Download, Make, controller};

const BYTES: usize = 5_000_000;

fn downloaded(make: Make) -> Result<Download, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(download::download(make, BYTES)).map_err(|error| error.to_string())
}

#[test]
fn a_download_completes_with_each_controller() {
    for scheme in ["newreno", "cubic", "vegas"] {
        let done = downloaded(controller(scheme).unwrap()).unwrap();
        assert_eq!(done.received, BYTES, "{scheme}");
        assert!(done.sender.path.sent_packets as usize > BYTES / 1500, "{scheme}: {:?}", done.sender);
    }
}

/// None of quinn's controllers would keep such a window, so ours is in control.
#[test]
fn the_window_equals_that_of_the_airpath_controller() {
    let done = downloaded(|mss| Box::new(Fixed::new(Bytes::new(23_456), None, mss).unwrap())).unwrap();
    assert_eq!(done.received, BYTES);
    assert_eq!(done.sender.path.cwnd, 23_457, "one byte more, because quinn stays below it");
}

#[test]
fn invalid_configurations_are_rejected() {
    let error = controller("bbr").unwrap_err();
    assert_eq!(error.to_string(), "scheme: found \"bbr\"; accepted: newreno, cubic, vegas");
    let paced: Make =
        |mss| Box::new(Fixed::new(Bytes::new(50_000), Some(Rate::from_bps(1_000_000)), mss).unwrap());
    let error = downloaded(paced).unwrap_err();
    assert!(error.contains("quinn paces by its window"), "{error}");
}
