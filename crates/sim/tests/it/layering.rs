//! The layers of the architecture: the allowed dependencies between crates. The table is the one in
//! `ARCHITECTURE.md`.

use std::process::Command;

/// Each crate and the crates on which it may depend.
const ARROWS: [(&str, &[&str]); 22] = [
    ("model", &[]),
    ("estimate", &["model"]),
    ("control", &["model", "estimate"]),
    ("queue", &["model", "estimate"]),
    ("channel", &["model"]),
    ("transport", &["model"]),
    ("trace", &["model"]),
    ("plan", &["model", "estimate", "control", "queue", "channel", "trace"]),
    ("network", &["model", "estimate", "queue", "channel", "transport", "trace", "plan"]),
    ("sim", &["model", "estimate", "transport", "plan", "network"]),
    ("replay", &["model", "estimate", "transport", "trace"]),
    ("os-linux", &[]),
    ("emu", &["model", "trace", "plan", "network", "os-linux"]),
    ("quic", &["model", "transport", "plan", "network"]),
    ("plugin", &["model"]),
    ("plugin-host", &["model", "estimate", "control", "queue", "plugin"]),
    (
        "py",
        &[
            "model",
            "estimate",
            "control",
            "queue",
            "conformance",
            "sim",
            "replay",
            "trace",
            "emu",
            "quic",
            "plugin-host",
        ],
    ),
    ("linux", &["model", "estimate", "control", "queue", "channel", "os-linux"]),
    ("realtime", &[]),
    ("conformance", &["model"]),
    ("vectors", &[]),
    ("fuzz", &["model", "estimate", "sim", "replay", "trace", "emu", "quic", "linux"]),
];

#[test]
fn every_dependency_is_in_the_table() {
    let mut wrong = Vec::new();
    for (room, knows) in arrows() {
        let allowed = ARROWS.iter().find(|(name, _)| *name == room);
        match allowed {
            None => wrong.push(format!("{room}: a room that the table does not have")),
            Some((_, allowed)) => wrong.extend(
                knows
                    .iter()
                    .filter(|known| !allowed.contains(&known.as_str()))
                    .map(|known| format!("{room} → {known}")),
            ),
        }
    }
    assert!(wrong.is_empty(), "arrows outside the table: {wrong:?}");
}

#[test]
fn the_table_and_the_architecture_page_agree() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ARCHITECTURE.md")).unwrap();
    for (room, allowed) in ARROWS {
        let knows = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") };
        let row = format!("| `{room}` | {knows} |");
        assert!(page.contains(&row), "ARCHITECTURE.md lacks the row {row:?}");
    }
}

/// Returns (crate, crates on which it depends outside its tests), as reported by cargo.
fn arrows() -> Vec<(String, Vec<String>)> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let room = |name: &serde_json::Value| name.as_str().unwrap().strip_prefix("airpath-").map(str::to_owned);
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() >= ARROWS.len(), "cargo reports too few packages");
    packages
        .iter()
        // Not the example.
        .filter_map(|package| Some((room(&package["name"])?, package["dependencies"].as_array().unwrap())))
        .map(|(name, dependencies)| {
            let inside = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
            (name, inside.filter_map(|dependency| room(&dependency["name"])).collect())
        })
        .collect()
}
