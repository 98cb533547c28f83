//! Arguments of a fuzz program.

use std::path::PathBuf;

use crate::damage::Kind;

/// The accepted arguments of a fuzz program.
pub const USAGE: &str = "MINUTES | file PATH | write text|bytes FOLDER, then if wanted: only NAME,NAME from K out FOLDER \
    seeds NAME FOLDER (as often as wanted)";

/// The parsed arguments of a fuzz program.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    pub(crate) wanted: Wanted,
    /// Names of the targets; empty for all.
    only: Vec<String>,
    /// Number of the first input.
    pub(crate) from: u64,
    /// Folder for failing inputs.
    pub(crate) folder: PathBuf,
    seeds: Vec<(String, PathBuf)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// Feed corrupted input for this time, minutes.
    Minutes(f64),
    /// Feed this file.
    File(PathBuf),
    /// Write corrupted files of the folder for a target in another program.
    Write(Kind, PathBuf),
}

impl Arguments {
    /// Parses the arguments of this program; `None` if they are not valid ([`USAGE`] lists the accepted
    /// ones).
    pub fn of_program() -> Option<Self> {
        Self::read(std::env::args().skip(1))
    }

    fn read(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let wanted = match words.next()?.as_str() {
            "file" => Wanted::File(words.next()?.into()),
            "write" => {
                let kind = match words.next()?.as_str() {
                    "text" => Kind::Text,
                    "bytes" => Kind::Bytes,
                    _ => return None,
                };
                Wanted::Write(kind, words.next()?.into())
            }
            minutes => Wanted::Minutes(minutes.parse().ok().filter(|minutes| (0.0..1e6).contains(minutes))?),
        };
        let mut arguments = Self { wanted, only: vec![], from: 0, folder: "out/fuzz".into(), seeds: vec![] };
        while let Some(word) = words.next() {
            let value = words.next()?;
            match word.as_str() {
                "only" => arguments.only = value.split(',').map(str::to_owned).collect(),
                "from" => arguments.from = value.parse().ok()?,
                "out" => arguments.folder = value.into(),
                "seeds" => arguments.seeds.push((value, words.next()?.into())),
                _ => return None,
            }
        }
        Some(arguments)
    }

    /// Returns whether this target is selected.
    pub fn wants(&self, target: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == target)
    }

    /// Returns the folders with seeds of that name.
    pub fn seeds(&self, name: &str) -> impl Iterator<Item = &PathBuf> {
        self.seeds.iter().filter(move |(of, _)| of == name).map(|(_, folder)| folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Arguments> {
        Arguments::read(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_select_the_requested_cases() {
        let arguments = read("0.5 only plans,traces from 7 out there seeds plans a seeds plans b").unwrap();
        assert_eq!((arguments.wanted.clone(), arguments.from), (Wanted::Minutes(0.5), 7));
        assert!(arguments.wants("traces") && !arguments.wants("captures"));
        assert_eq!(arguments.seeds("plans").count(), 2);
        let write = Wanted::Write(Kind::Text, "here".into());
        assert_eq!(read("write text here from 3").unwrap().wanted, write);
    }

    #[test]
    fn invalid_parameters_are_rejected() {
        for text in ["", "ten", "-1", "nan", "file", "write here", "1 only", "1 what x", "1 seeds plans"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
