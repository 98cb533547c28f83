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

/// Where the kernel says its version.
const RELEASE: &str = "/proc/sys/kernel/osrelease";
/// Links to devices (tcx) came with this version.
const ROUTERS_FROM: [u32; 2] = [6, 6];
/// From this version on a controller is told of each acknowledgment.
const CONTROLLERS_FROM: [u32; 2] = [6, 10];

/// Why routers cannot be attached to devices here, in half a sentence; `None` when they can.
pub fn routers_missing() -> Option<String> {
    missing().map(str::to_owned).or_else(|| older_than(ROUTERS_FROM, "routers", &release()))
}

/// Why our congestion controllers cannot be loaded here, in half a sentence; `None` when they can.
pub fn controllers_missing() -> Option<String> {
    missing().map(str::to_owned).or_else(|| older_than(CONTROLLERS_FROM, "controllers of hosts", &release()))
}

/// Why hosts cannot have our controllers here, in half a sentence; `None` when they can.
pub fn hosts_missing() -> Option<String> {
    controllers_missing().or_else(|| {
        cgroup_root().is_none().then(|| {
            "control groups of version 2 are not mounted (mount -t cgroup2 none /sys/fs/cgroup)".to_owned()
        })
    })
}

fn release() -> String {
    std::fs::read_to_string(RELEASE).unwrap_or_default().trim().to_owned()
}

/// Whether a kernel is older than what something needs; a version that cannot be read is not taken for old.
fn older_than(needed: [u32; 2], what: &str, release: &str) -> Option<String> {
    let mut numbers = release.split(|sign: char| !sign.is_ascii_digit()).map(str::parse);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return None };
    let [needed_major, needed_minor] = needed;
    ([major, minor] < needed)
        .then(|| format!("{what} need Linux {needed_major}.{needed_minor} or newer; this is {release}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let old = |release| older_than(CONTROLLERS_FROM, "controllers of hosts", release);
        for new in ["6.10", "6.10.3-amd64", "6.12.0", "7.0-rc1", "nobody knows", ""] {
            assert_eq!(old(new), None, "{new}");
        }
        for release in ["6.9.12", "6.1.0-28-cloud-amd64", "5.15.0"] {
            let expected = format!("controllers of hosts need Linux 6.10 or newer; this is {release}");
            assert_eq!(old(release), Some(expected));
        }
    }
}
