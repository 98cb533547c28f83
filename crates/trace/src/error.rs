//! The error of a rejected file.

use thiserror::Error;

/// An error in the contents of a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: found {found}; accepted: {accepted}")]
pub struct TraceError {
    /// The line, counted from 1. An empty file is rejected at line 1.
    pub line: usize,
    /// The text found there, shortened and escaped.
    pub found: String,
    /// The accepted alternatives.
    pub accepted: String,
}

impl TraceError {
    /// Returns the error for `text` read at `line`.
    pub(crate) fn at(line: usize, text: &[u8], accepted: &str) -> Self {
        Self::described(line, quote(text), accepted)
    }

    /// Returns the error for content that is better described than quoted.
    pub(crate) fn described(line: usize, found: impl Into<String>, accepted: &str) -> Self {
        Self { line, found: found.into(), accepted: accepted.to_owned() }
    }
}

/// Returns `text` in backticks, control characters escaped, at most [`QUOTED_BYTES`] of it.
fn quote(text: &[u8]) -> String {
    if text.is_empty() {
        return "nothing".to_owned();
    }
    let head = &text[..text.len().min(QUOTED_BYTES)];
    let ellipsis = if head.len() < text.len() { "…" } else { "" };
    let mut quoted = String::new();
    for sign in String::from_utf8_lossy(head).chars() {
        match sign {
            '"' | '\'' => quoted.push(sign),
            _ => quoted.extend(sign.escape_debug()),
        }
    }
    format!("`{quoted}{ellipsis}`")
}

const QUOTED_BYTES: usize = 40;
