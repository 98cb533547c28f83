//! A router whose clocks are set, without setting those of the machine: its wall clock jumps, and its
//! monotonic clock differs from the kernel's. (`make test-guest` sets the clock of a whole emulated machine.)

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::support::lab::Lab;
use crate::tools::check::check_router;
use crate::tools::leaping_clock::LeapingClock;

/// Almost no losses: their program counts the packets that pass while it has guidance.
const CONFIG: &str = "[router]\nprotocol = \"vcp\"\nrate = \"10Mbit\"\n[router.loss]\nkind = \"gilbert\"\nmean_loss = 1e-6\nmean_burst = 1.0\n";

/// A temporary folder, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("airpath-clocks-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn clock_jumps_do_not_affect_a_router() {
    // Three of some seven intervals that are late or missing, or a second without guidance.
    check_router(Duration::from_millis(600), || {
        let folder = Folder::new();
        let config = folder.file("router.toml");
        std::fs::write(&config, CONFIG).unwrap();
        let clock = LeapingClock::new();
        let leap = clock.preload();

        let shifted = |seconds| ["unshare", "--time", "--fork", "--monotonic", seconds];
        let clocks: [&[&str]; 3] = [&["env", &leap], &shifted("31557600"), &shifted("-5")];
        for under in clocks {
            guidance_by_its_own_clock(under, &config).map_err(|problem| format!("{under:?}: {problem}"))?;
        }
        Ok(())
    });
}

/// Returns an error unless a router that runs under the command `under` guides its programs as if no clock
/// was set.
fn guidance_by_its_own_clock(under: &[&str], config: &str) -> Result<(), String> {
    let lab = Lab::new("10mbit");
    let daemon = lab.router_under(under, &["--config", config]);
    let before = daemon.status();
    lab.a.command("ping -q -i 0.05 -c 30 -W 1 10.9.0.2");
    let after = daemon.status();
    drop(daemon);
    std::thread::sleep(Duration::from_millis(100));
    let number = |status: &Value, name: &str| status[name].as_f64().unwrap();
    let unlost = number(&after["counters"], "unlost") - number(&before["counters"], "unlost");
    let passed = number(&after, "uptime_s") - number(&before, "uptime_s");
    let intervals = number(&after, "intervals") - number(&before, "intervals");
    // The daemon's guidance is valid for a second of the kernel's clock, and some 1.5 s have passed.
    let guided = unlost >= 30.0 && after["gaps"] == 0 && (1.4..10.0).contains(&passed);
    // One interval each 200 ms; a busy machine delays some.
    let in_time = (intervals / (passed / 0.2) - 1.0).abs() < 0.35;
    let said = || format!("{unlost} packets and {intervals} intervals in {passed} s: {after}");
    (guided && in_time).then_some(()).ok_or_else(said)
}
