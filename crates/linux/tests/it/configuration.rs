//! Configuration files of tests.

use airpath_linux::Error;
use airpath_linux::config_file::ConfigFile;

/// Parses a configuration file with this text.
pub(crate) fn read_configuration(text: &str) -> Result<ConfigFile, Error> {
    let thread = format!("{:?}", std::thread::current().id());
    let path = std::env::temp_dir().join(format!("airpath-config-{}-{thread}.toml", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let file = ConfigFile::read(&path);
    std::fs::remove_file(&path).unwrap();
    file
}

/// Returns an example with the settings in its comments enabled.
pub(crate) fn uncommented(example: &str) -> String {
    let lines = example.lines().map(|line| match line.strip_prefix("# ") {
        Some(rest) if rest.contains(" = ") || rest.starts_with('[') => rest,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}
