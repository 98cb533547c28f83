//! Negotiation and feedback of explicit congestion notification.

use airpath_trace::capture::SegmentFlags;

/// The kind of congestion feedback of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum EcnUse {
    /// Unknown: the handshake was not captured, and no later packet reveals it.
    #[default]
    Unknown,
    /// Not negotiated.
    Off,
    /// RFC 3168: ECE echoes marks until CWR confirms them.
    Classic,
    /// RFC 9768: AE, CWR and ECE form a counter of marked packets instead of an echo.
    Accurate,
}

impl EcnUse {
    /// Returns the name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Off => "off",
            Self::Classic => "classic",
            Self::Accurate => "accurate",
        }
    }

    /// Returns the mode negotiated by the flags of SYN and SYN-ACK (RFC 9768, table 2; RFC 3168, section
    /// 6.1.1).
    pub(crate) fn negotiated(syn: SegmentFlags, answer: SegmentFlags) -> Self {
        let bits = |flags: SegmentFlags| (flags.ae, flags.cwr, flags.ece);
        match (bits(syn), bits(answer)) {
            ((true, true, true), (false, true, _) | (true, _, false)) => Self::Accurate,
            ((_, true, true), (_, false, true)) => Self::Classic,
            _ => Self::Off,
        }
    }
}

/// A reader of the congestion feedback in acknowledgments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EcnFeedback {
    counter: Option<u8>,
    /// The flags of the packet that ended the handshake.
    ended: Option<u8>,
    /// The highest acknowledgment that reported the counter.
    furthest: i64,
    /// Acknowledgments with the classic echo.
    pub(crate) echoes: u64,
    /// Packets that the accurate counter reports as marked; more than seven between two acknowledgments count
    /// modulo eight.
    pub(crate) reported_marks: u64,
}

impl EcnFeedback {
    /// Restarts the offsets after the handshake.
    pub(crate) fn restart(&mut self) {
        (self.ended, self.furthest) = (None, i64::MIN);
    }

    /// Processes an acknowledgment of all data before `offset`, after SYN and SYN-ACK. Returns whether it
    /// reports a mark.
    ///
    /// `ends_handshake` means that it may be the acknowledgment of the SYN-ACK, or a repetition of it; such a
    /// packet reports nothing else.
    pub(crate) fn on_ack(
        &mut self,
        used: &mut EcnUse,
        flags: SegmentFlags,
        offset: i64,
        ends_handshake: bool,
    ) -> bool {
        if *used == EcnUse::Unknown && flags.ae {
            *used = EcnUse::Accurate; // only accurate ECN sets it; the counter starts with it set
        }
        match *used {
            EcnUse::Off => false,
            EcnUse::Classic | EcnUse::Unknown => {
                self.echoes += u64::from(flags.ece);
                flags.ece
            }
            EcnUse::Accurate => {
                let counter = u8::from(flags.ae) << 2 | u8::from(flags.cwr) << 1 | u8::from(flags.ece);
                let Some(before) = self.counter else {
                    // It reports the ECN field of the SYN-ACK; the counter starts with whether that was
                    // marked (section 3.2.2.1).
                    self.ended = ends_handshake.then_some(counter);
                    let begins = if counter == 0b110 { 6 } else { 5 };
                    self.counter = Some(if ends_handshake { begins } else { counter });
                    self.furthest = offset;
                    return false;
                };
                // The same for the acknowledgment of a retransmitted SYN-ACK; an overtaken packet has an
                // older counter.
                let is_code = self.ended == Some(counter) || matches!(counter, 0b010..=0b100);
                if offset < self.furthest || ends_handshake && is_code {
                    return false;
                }
                (self.counter, self.furthest) = (Some(counter), offset);
                let marks = counter.wrapping_sub(before) & 0b111;
                self.reported_marks += u64::from(marks);
                marks > 0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(ae: bool, cwr: bool, ece: bool) -> SegmentFlags {
        SegmentFlags { ae, cwr, ece, ack: true, ..SegmentFlags::default() }
    }

    #[test]
    fn the_handshake_determines_the_meaning_of_the_bits() {
        let (accurate, classic, none) =
            (flags(true, true, true), flags(false, true, true), flags(false, false, false));
        for answer in [flags(false, true, false), flags(false, true, true), flags(true, false, false)] {
            assert_eq!(EcnUse::negotiated(accurate, answer), EcnUse::Accurate);
        }
        assert_eq!(EcnUse::negotiated(accurate, flags(true, true, false)), EcnUse::Accurate);
        assert_eq!(EcnUse::negotiated(accurate, flags(false, false, true)), EcnUse::Classic);
        assert_eq!(EcnUse::negotiated(classic, flags(false, false, true)), EcnUse::Classic);
        assert_eq!(EcnUse::negotiated(accurate, accurate), EcnUse::Off, "reflected by a broken host");
        assert_eq!(EcnUse::negotiated(classic, none), EcnUse::Off);
    }

    #[test]
    fn an_accecn_counter_is_not_an_echo() {
        let mut feedback = EcnFeedback::default();
        let mut used = EcnUse::Accurate;
        // The counter starts at 5; then 6, 0 (wrapped by two more).
        assert!(!feedback.on_ack(&mut used, flags(true, false, true), 0, false));
        assert!(!feedback.on_ack(&mut used, flags(true, false, true), 0, false));
        assert!(feedback.on_ack(&mut used, flags(true, true, false), 0, false));
        assert!(feedback.on_ack(&mut used, flags(false, false, false), 0, false));
        assert_eq!((feedback.echoes, feedback.reported_marks), (0, 3));
    }

    #[test]
    fn without_a_handshake_the_bits_are_classic_until_accurate_ecn_appears() {
        let (mut feedback, mut used) = (EcnFeedback::default(), EcnUse::Unknown);
        assert!(feedback.on_ack(&mut used, flags(false, false, true), 0, false));
        assert!(!feedback.on_ack(&mut used, flags(true, false, true), 0, false));
        assert_eq!(used, EcnUse::Accurate);
    }
}
