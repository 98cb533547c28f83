//! Detection of the kernel features that are available on this machine.

use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

/// The file in which the kernel describes its types.
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// Returns a clause that explains why BPF programs cannot be loaded here; `None` if they can.
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

/// The file with the kernel's version.
const RELEASE: &str = "/proc/sys/kernel/osrelease";
/// The first version with links to devices (tcx).
const ROUTERS_FROM: [u32; 2] = [6, 6];
/// The first version in which a controller receives each acknowledgment.
const CONTROLLERS_FROM: [u32; 2] = [6, 10];

/// Returns a clause that explains why routers cannot be attached to devices here; `None` if they can.
pub fn routers_missing() -> Option<String> {
    missing().map(str::to_owned).or_else(|| older_than(ROUTERS_FROM, "routers", &release()))
}

/// Returns a clause that explains why airpath's congestion controllers cannot be loaded here; `None` if they
/// can.
pub fn controllers_missing() -> Option<String> {
    missing().map(str::to_owned).or_else(|| older_than(CONTROLLERS_FROM, "controllers of hosts", &release()))
}

/// Returns a clause that explains why hosts cannot use airpath's controllers here; `None` if they can.
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

/// Returns a message if the kernel is older than `what` needs; a version that cannot be parsed is not
/// considered old.
fn older_than(needed: [u32; 2], what: &str, release: &str) -> Option<String> {
    let mut numbers = release.split(|sign: char| !sign.is_ascii_digit()).map(str::parse);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return None };
    let [needed_major, needed_minor] = needed;
    ([major, minor] < needed)
        .then(|| format!("{what} need Linux {needed_major}.{needed_minor} or newer; this is {release}"))
}

/// Returns the mount point of control groups version 2; `None` if it is not mounted.
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
