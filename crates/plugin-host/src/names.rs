//! Names of quantities that code from outside records.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The most names in a process; they are never freed.
const MOST_NAMES: usize = 1000;

/// Returns a name that lives as long as the process, because telemetry does not copy names.
///
/// # Errors
/// The name is not a word, or there are too many names.
pub fn interned(name: &str) -> Result<&'static str, String> {
    static NAMES: LazyLock<Mutex<BTreeSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if !is_word(name) {
        return Err(format!("found the quantity {name:?}; accepted: letters, digits and _"));
    }
    if names.len() == MOST_NAMES {
        return Err(format!("more than {MOST_NAMES} names of quantities"));
    }
    let name: &'static str = Box::leak(name.into());
    names.insert(name);
    Ok(name)
}

/// Whether a name consists of letters, digits and `_`.
pub(crate) fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
