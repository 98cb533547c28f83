//! The examples of `airpath-plugin` as libraries, also for benchmarks.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The root of the workspace.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns an example of `airpath-plugin`, which is built first.
pub(crate) fn example(name: &str) -> PathBuf {
    static BUILT: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let mut command = if cfg!(debug_assertions) {
            // The selection of `make test-rust`: with other features, cargo compiles the dependencies again.
            let mut command = Command::new(format!("{ROOT}/tools/cargo-workspace"));
            command.args(["build", "--exclude", "airpath-py", "--tests"]);
            command
        } else {
            let mut command = Command::new("cargo");
            command.args(["build", "--package", "airpath-plugin", "--release"]);
            command
        };
        for (name, _) in std::env::vars() {
            // Build scripts of some dependencies run again if these change.
            if name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_") {
                command.env_remove(name);
            }
        }
        let output = command
            .args(["--examples", "--message-format", "json", "--offline"])
            .current_dir(ROOT)
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(output.status.success(), "the examples build");
        let messages = String::from_utf8(output.stdout).unwrap();
        let messages = messages.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let files = messages.filter(|message| message["target"]["kind"][0] == "example");
        files.map(|message| PathBuf::from(message["filenames"][0].as_str().unwrap())).collect()
    });
    let is_it = |file: &&PathBuf| file.file_stem().is_some_and(|stem| stem == format!("lib{name}").as_str());
    built.iter().find(is_it).unwrap_or_else(|| panic!("{name} in {built:?}")).clone()
}
