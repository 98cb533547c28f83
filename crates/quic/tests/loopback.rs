//! Our controllers in quinn over real sockets: the example, with each of its schemes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "its main is not called here")]
#[path = "../examples/download.rs"]
mod download;

use std::time::Duration;

#[test]
fn a_download_arrives_whole_under_each_of_them() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for scheme in ["newreno", "cubic", "vegas"] {
        let bytes = 5_000_000;
        let done = runtime
            .block_on(async {
                tokio::time::timeout(Duration::from_secs(60), download::download(scheme, bytes)).await
            })
            .unwrap()
            .unwrap();
        assert_eq!(done.received, bytes, "{scheme}");
        assert!(done.sender.path.sent_packets as usize > bytes / 1500, "{scheme}: {:?}", done.sender);
    }
}

#[test]
fn another_scheme_is_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = runtime.block_on(download::download("bbr", 1)).unwrap_err();
    assert_eq!(error.to_string(), "scheme: found \"bbr\"; accepted: newreno, cubic, vegas");
}
