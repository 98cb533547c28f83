//! What this machine allows.

use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

/// Where the kernel describes its own types.
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// Why BPF programs cannot be loaded here, in half a sentence; `None` when they can.
pub fn missing() -> Option<&'static str> {
    if !geteuid().is_root() {
        return Some("loading BPF programs needs root");
    }
    if !Path::new(TYPES).exists() {
        return Some(
            "this kernel does not describe its types (no /sys/kernel/btf/vmlinux: CONFIG_DEBUG_INFO_BTF is off)",
        );
    }
    None
}

/// Where the second version of control groups is mounted; `None` when it is not.
pub fn cgroup_root() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let mut fields = mounts.lines().map(|line| line.split(' '));
    fields.find_map(|mut field| {
        let path = field.nth(1)?;
        (field.next()? == "cgroup2").then(|| PathBuf::from(path))
    })
}
