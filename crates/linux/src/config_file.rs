//! The configuration file of `airpathd`.

use std::path::Path;

use serde::Deserialize;

use crate::Error;
use crate::host::HostSettings;
use crate::router::RouterSettings;

/// A TOML file with one table for each command.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// The settings of `airpathd host`.
    #[serde(default)]
    pub host: HostSettings,
    /// The settings of `airpathd router`.
    #[serde(default)]
    pub router: RouterSettings,
}

impl ConfigFile {
    /// Reads the file. Error messages contain the line, the field and the accepted values.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text =
            std::fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// Parses the text of the file; `path` is for error messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        toml::from_str(text).map_err(|error| Error::Config {
            problem: format!("{}: {}", path.display(), error.to_string().trim()),
        })
    }
}
