//! Incremental updates of the Internet checksum.

/// Returns the checksum after bytes that it covers changed from `old` to `new` (RFC 1624, equation 3). Both
/// have the same length and begin at an even offset from the start of the covered bytes; an odd end is padded
/// with a zero.
pub(super) fn updated(checksum: u16, old: &[u8], new: &[u8]) -> u16 {
    let mut sum = u32::from(!checksum);
    for word in old.chunks(2) {
        sum += u32::from(!be_word(word));
    }
    for word in new.chunks(2) {
        sum += u32::from(be_word(word));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn be_word(bytes: &[u8]) -> u16 {
    match *bytes {
        [high, low] => u16::from_be_bytes([high, low]),
        [high] => u16::from_be_bytes([high, 0]),
        _ => 0,
    }
}

#[cfg(test)]
pub(super) fn whole(bytes: &[u8]) -> u16 {
    updated(!0, &[], bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_incremental_update_equals_a_new_checksum(
            mut bytes in prop::collection::vec(any::<u8>(), 20..60),
            at in 0_usize..8,
            new in prop::collection::vec(any::<[u8; 2]>(), 1..3),
        ) {
            let (at, new) = (2 * at, new.concat());
            let before = whole(&bytes);
            let after = updated(before, &bytes[at..at + new.len()], &new);
            bytes[at..at + new.len()].copy_from_slice(&new);
            // Zero has two forms.
            prop_assert!(after == whole(&bytes) || after ^ whole(&bytes) == 0xffff);
        }
    }
}
