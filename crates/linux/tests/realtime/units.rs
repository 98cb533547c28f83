//! The daemons with only the capabilities of their systemd units, and without new privileges.

use std::path::PathBuf;

use crate::support::OwnCgroup;
use crate::support::lab::{Daemon, Lab, output};
use crate::tools::check::{HOLD, check_host};
use crate::tools::namespaces::transfer;
use crate::tools::traces::{HOSTS, ROUTERS, assert_no_new_traces, traces};

const AIRPATHD: &str = env!("CARGO_BIN_EXE_airpathd");

/// A unit's file.
struct Unit(&'static str);

impl Unit {
    /// Returns the value of `key`, which must exist.
    fn value(&self, key: &str) -> &str {
        let mut values = self.0.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        let value = values.next().unwrap_or_else(|| panic!("{key} is not in\n{}", self.0));
        assert_eq!(values.next(), None, "{key} is there twice");
        value
    }

    /// Returns the restrictions that `setpriv` can apply, as its arguments.
    fn restrictions(&self) -> Vec<String> {
        let bounding: Vec<String> = self
            .value("CapabilityBoundingSet")
            .split_whitespace()
            .map(|name| format!("+{}", name.strip_prefix("CAP_").unwrap().to_lowercase()))
            .collect();
        assert_eq!(self.value("NoNewPrivileges"), "yes");
        let bounding = format!("--bounding-set=-all,{}", bounding.join(","));
        ["setpriv", "--inh-caps=-all", "--ambient-caps=-all", &bounding, "--no-new-privs"]
            .map(str::to_owned)
            .into()
    }

    /// Returns the arguments of its command for the device `va`, with configurations in that folder.
    fn arguments(&self, folder: &str) -> Vec<String> {
        let command = self.value("ExecStart").strip_prefix("/usr/bin/airpathd ").unwrap();
        command.replace("%I", "va").replace("/etc/airpath", folder).split(' ').map(str::to_owned).collect()
    }

    /// Starts its daemon in the namespace of `a`.
    fn start(&self, lab: &Lab, folder: &str) -> Daemon {
        let (under, words) = (self.restrictions(), self.arguments(folder));
        let [under, words] = [&under, &words].map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
        lab.daemon_in_a(&under, &words)
    }
}

/// A folder for configurations, removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("airpath-units-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the capabilities of a process as a bit mask.
fn capabilities(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("CapPrm:")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap()
}

#[test]
fn units_grant_the_daemons_what_they_need() {
    check_host(HOLD, || {
        let group = OwnCgroup::join("airpath-units");
        let (lab, folder) = (Lab::new("10mbit"), Folder::new());
        let before = [HOSTS, ROUTERS].map(|names| (names, traces(&lab.a, names)));
        let cgroup = format!("cgroup = {:?}\n", group.folder);
        folder.write(
            "host.toml",
            &(include_str!("../../dist/host.toml").replace("\"eth0\"", "\"va\"") + &cgroup),
        );
        folder.write("router-va.toml", include_str!("../../dist/router.toml"));
        let units = [
            Unit(include_str!("../../dist/airpathd-host.service")),
            Unit(include_str!("../../dist/airpathd-router@.service")),
        ];
        let path = folder.0.to_str().unwrap();
        let [host, router] = units.each_ref().map(|unit| unit.start(&lab, path));
        let netns = lab.a.path();
        let status = |name: &str| -> serde_json::Value {
            serde_json::from_str(&output(AIRPATHD, &["status", "--netns", &netns, name])).unwrap()
        };
        for (unit, name) in units.iter().zip(["host", "router/va"]) {
            let wanted = unit.value("CapabilityBoundingSet").split_whitespace().count();
            let has = capabilities(status(name)["pid"].as_i64().unwrap() as i32);
            assert_eq!(has.count_ones() as usize, wanted, "{name} has {has:x}");
        }

        // The daemons work: VCP codes are written, raised and echoed.
        transfer(&lab.a, (&lab.b, "10.9.0.2"), "airpath_vcp", 1_000_000);
        let (hosts, routers) = (status("host")["counters"].clone(), status("router/va")["counters"].clone());
        assert!(hosts["echoes"].as_u64().unwrap() > 10, "{hosts}");
        assert!(routers["data_packets"].as_u64().unwrap() > 500, "{routers}");
        for (names, before) in &before {
            assert_ne!(traces(&lab.a, *names), *before);
        }

        for (daemon, name) in [(router, "router/va"), (host, "host")] {
            let detached = output(AIRPATHD, &["detach", "--netns", &netns, name]);
            assert!(detached.contains("detached"), "{name}: {detached}");
            assert!(daemon.end().1);
        }
        for (names, before) in &before {
            assert_no_new_traces(&lab.a, *names, before);
        }
        Ok(())
    });
}
