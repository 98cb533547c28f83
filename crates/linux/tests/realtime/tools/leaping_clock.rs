//! A wall clock that jumps by ten years each time a program reads it, if the program runs with `preload`.

use std::path::PathBuf;
use std::process::Command;

use crate::support::lab::output;

/// A library that is loaded before the C library. Its file is removed on drop.
pub(crate) struct LeapingClock(PathBuf);

impl LeapingClock {
    pub(crate) fn new() -> Self {
        let library = std::env::temp_dir().join(format!("airpath-leaping-{}.so", std::process::id()));
        let clock = Self(library);
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/realtime/tools/leaping_clock.c");
        let compiler = std::env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
        let library = clock.0.to_str().unwrap();
        output(&compiler, &["-O2", "-Wall", "-shared", "-fPIC", "-o", library, source]);
        // Checks that it jumps: two consecutive times of a program differ by ten years.
        let program = "import time; a = time.time(); b = time.time(); print(abs(b - a) > 3e8)";
        let leaps = Command::new("env").args([&clock.preload(), "python3", "-c", program]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&leaps.stdout).trim(), "True", "{leaps:?}");
        clock
    }

    /// Returns the variable for `env`.
    pub(crate) fn preload(&self) -> String {
        format!("LD_PRELOAD={}", self.0.display())
    }
}

impl Drop for LeapingClock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
