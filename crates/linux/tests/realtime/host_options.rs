//! TCP options between two hosts: corrupted, removed, or without space. The wire between the hosts also acts
//! as the router.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use airpath_linux::host::Told;

use crate::support::packets::{number, options, our_option, restore_checksum};
use crate::tools::check::{HOLD, check_host};
use crate::tools::fallback::Fallback;
use crate::tools::path::Path;
use crate::tools::wire::Way;

const DELAY: Duration = Duration::from_millis(5);

/// A path without valid feedback from a router: connections survive, and their windows are Reno's.
#[test]
fn corrupted_options_are_counted_and_windows_follow_reno() {
    check_host(HOLD, || {
        let mut count = 0;
        let path = Path::new(DELAY, move |_, frame| {
            if let Some(option) = our_option(frame) {
                count += 1;
                // One packet in 300 is also dropped.
                if count % 300 == 299 {
                    return false;
                }
                damage(&mut frame[option], count);
                restore_checksum(frame);
            }
            true
        });
        let mut malformed = 0;
        for controller in ["airpath_xcp", "airpath_vcp"] {
            let (records, counters) = path.transfer(controller, 3_000_000);
            println!("{controller}: {} events, {counters:?}", records.len());
            assert!(counters.malformed > malformed + 100, "{controller}: {counters:?}");
            malformed = counters.malformed;
            let followed = Fallback::follow(&records);
            assert!(followed > 100, "{controller}: Reno's for {followed} events only");
        }
        Ok(())
    });
}

/// Applies each kind of corruption in turn: lengths that are too short, too long and wrong; types that do not
/// exist or belong to another length; values that no router writes.
fn damage(option: &mut [u8], count: usize) {
    let own = option.len();
    match count % 60 {
        // The kernel drops packets with these two lengths. They are rare, because losses must not be the
        // limit of the window.
        0 => option[1] = 0,
        20 => option[1] = 255,
        40 => option[1] = 6,
        kind if kind % 3 == 0 => option[4] = 9,
        kind if kind % 3 == 1 => option[4] = if own == 12 { 3 } else { 2 },
        _ if own == 8 => option[5] = 4 + (count % 252) as u8,
        _ => {
            let absurd = [i32::MIN, i32::MAX, 1 << 30, -(1 << 30)][count / 6 % 4];
            option[own - 4..].copy_from_slice(&absurd.to_be_bytes());
        }
    }
}

/// Noise in place of feedback: some of it is taken for a router's, so windows change. All bytes arrive.
#[test]
fn transfers_complete_with_arbitrary_feedback() {
    check_host(HOLD, || {
        let mut noise = 1_u32;
        let path = Path::new(DELAY, move |_, frame| {
            if let Some(option) = our_option(frame) {
                for byte in &mut frame[option.start + 5..option.end] {
                    noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    *byte = (noise >> 24) as u8;
                }
                // One in 64 byte values is a VCP code. About half of all bytes are turned into one.
                if option.len() == 8 && noise >> 31 == 0 {
                    frame[option.start + 5] &= 3;
                }
                restore_checksum(frame);
            }
            true
        });
        let mut before = 0;
        for controller in ["airpath_xcp", "airpath_vcp"] {
            let (mut windows, mut heard) = (BTreeSet::new(), 0);
            // Noise may open a window so far that a whole transfer is sent before much feedback arrives; then
            // another transfer runs.
            for _ in 0..10 {
                let (records, counters) = path.transfer(controller, 400_000);
                windows.extend(records.iter().map(|record| record.window));
                heard = counters.echoes - before;
                if windows.len() > 10 && heard > 50 {
                    break;
                }
            }
            println!("{controller}: {} windows up to {:?}, {heard} echoes", windows.len(), windows.last());
            assert!(windows.len() > 10 && heard > 50, "{controller}: {windows:?}, {heard} echoes");
            before += heard;
        }
        Ok(())
    });
}

/// Feedback from routers stops: two windows later Reno takes over at the current window, and continues as
/// Reno.
#[test]
fn reno_takes_over_when_feedback_stops() {
    check_host(HOLD, || {
        for controller in ["airpath_xcp", "airpath_vcp"] {
            let mut data = 0;
            let path = Path::new(DELAY, move |way, frame| {
                data += usize::from(way == Way::There && frame.len() > 500);
                if way == Way::There && data % 400 == 399 {
                    return false;
                }
                if let Some(option) = our_option(frame) {
                    if data > 200 {
                        frame[option].fill(1);
                        restore_checksum(frame);
                    } else if option.len() == 20 {
                        give(frame, option.end - 4, 30_000);
                    }
                }
                true
            });
            let (records, counters) = path.transfer(controller, 6_000_000);
            println!("{controller}: {} events, {counters:?}", records.len());
            assert!(counters.echoes > 10, "{controller}: {counters:?}");
            let followed = Fallback::follow(&records);
            assert!(followed > 100, "{controller}: Reno's for {followed} events only");
        }
        Ok(())
    });
}

/// Four losses close to each other: SACK blocks leave no space for XCP's echo, which is sent as a sum as soon
/// as there is space again.
#[test]
fn xcp_echoes_wait_for_option_space_and_lose_nothing() {
    check_host(HOLD, || {
        let sums: Arc<[AtomicI64; 3]> = Arc::default();
        let counted = Arc::clone(&sums);
        let mut data = 0;
        let path = Path::new(DELAY, move |way, frame| {
            let [given, echoed, full] = &*counted;
            let option = our_option(frame);
            if way == Way::There && frame.len() > 500 {
                data += 1;
                if data > 300 && [5, 8, 11, 14].contains(&(data % 150)) {
                    return false;
                }
            }
            match option {
                Some(option) if option.len() == 20 => {
                    let feedback = give(frame, option.end - 4, 20_000 + data % 7);
                    given.fetch_add(feedback.into(), Ordering::Relaxed);
                }
                Some(option) if option.len() == 12 => {
                    echoed.fetch_add(number(frame, option.end - 4).into(), Ordering::Relaxed);
                }
                None if options(frame).is_some_and(|options| options.len() >= 32) => {
                    full.fetch_add(1, Ordering::Relaxed);
                }
                _ => {}
            }
            true
        });
        let (records, counters) = path.transfer("airpath_xcp", 3_000_000);
        let [given, echoed, full] = [0, 1, 2].map(|which| sums[which].load(Ordering::Relaxed));
        let told: i64 = records
            .iter()
            .map(|record| match record.told {
                Told::Ack(event) if event.feedback == 2 => event.change.into(),
                _ => 0,
            })
            .sum();
        println!(
            "{given} byte/s given, {echoed} echoed, {told} told; {full} acknowledgments without room; {counters:?}"
        );
        // If there is no space at all, the kernel does not call the program.
        assert!(full > 20 && counters.options_without_room > 0, "{full}, {counters:?}");
        assert!(counters.echoes > 100, "{counters:?}");
        // Feedback at the end of the connection is not echoed.
        assert!((given - echoed).abs() <= 4 * 20_006, "{given} byte/s given, {echoed} echoed");
        assert!((echoed - told).abs() <= 4 * 20_006, "{echoed} byte/s echoed, {told} told");
        Ok(())
    });
}

/// Overwrites a sender's demand with feedback, as a router does. Returns the written value.
fn give(frame: &mut [u8], at: usize, feedback: i32) -> i32 {
    // The demand is zero while the sender has no round-trip time.
    let feedback = if number(frame, at) > 0 { feedback } else { 0 };
    frame[at..at + 4].copy_from_slice(&feedback.to_be_bytes());
    restore_checksum(frame);
    feedback
}
