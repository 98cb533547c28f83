//! Tells the module from which commit and by which compiler it was built, for the provenance of results.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    println!("cargo::rustc-env=AIRPATH_RUSTC={}", said(&rustc, &["--version"]).unwrap_or_default());
    println!("cargo::rustc-env=AIRPATH_COMMIT={}", said("git", &["rev-parse", "HEAD"]).unwrap_or_default());
    // Files that change with every commit, where there is a checkout.
    if let Some(directory) = said("git", &["rev-parse", "--absolute-git-dir"]) {
        println!("cargo::rerun-if-changed={directory}/logs/HEAD");
    }
    println!("cargo::rerun-if-changed=build.rs");
}

/// The first line that a command prints; nothing when it fails.
fn said(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}
