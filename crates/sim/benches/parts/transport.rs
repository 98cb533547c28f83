//! Sender and receiver without a network between them. The item is one segment; every second one is
//! acknowledged.

use airpath_control::{Cubic, CubicConfig, NewReno, StandardSlowStart, Windowed};
use airpath_model::{Bytes, Controller, Duration, NullProbe, Timestamp};
use airpath_transport::{Receiver, ReceiverConfig, Sender, SenderConfig};
use divan::Bencher;
use divan::counter::ItemsCount;

use crate::BATCH;

const MSS: Bytes = Bytes::new(1460);

fn new_reno() -> Box<dyn Controller> {
    Box::new(Windowed::new(NewReno::default(), StandardSlowStart::default(), MSS * 10, MSS).unwrap())
}

fn cubic() -> Box<dyn Controller> {
    let rule = Cubic::new(CubicConfig::default()).unwrap();
    Box::new(Windowed::new(rule, StandardSlowStart::default(), MSS * 10, MSS).unwrap())
}

/// Segments and acknowledgments without losses; the receive window is 200 segments.
#[divan::bench(args = [new_reno as fn() -> _, cubic])]
fn both_ends(bencher: Bencher<'_, '_>, controller: fn() -> Box<dyn Controller>) {
    exchange(bencher, controller, u64::MAX);
}

/// Measures a connection that loses one segment in 97: SACK, recovery, ranges.
#[divan::bench]
fn both_ends_with_losses(bencher: Bencher<'_, '_>) {
    exchange(bencher, new_reno, 97);
}

fn exchange(bencher: Bencher<'_, '_>, controller: fn() -> Box<dyn Controller>, lost_each: u64) {
    let receive_window = MSS * 200;
    let config = SenderConfig { mss: MSS, receive_window, ..SenderConfig::default() };
    let mut sender = Sender::new(config, controller()).unwrap();
    let mut receiver = Receiver::new(ReceiverConfig { receive_window, ..ReceiverConfig::default() });
    sender.offer(Bytes::MAX);
    let (mut now, mut sent) = (Timestamp::ZERO, 0_u64);
    bencher.counter(ItemsCount::new(BATCH)).bench_local(move || {
        let end = sent + BATCH;
        while sent < end {
            let mut acknowledgments = Vec::new();
            while let Some(segment) = sender.poll_transmit(now, &mut NullProbe) {
                sent += 1;
                if sent % lost_each != 0 {
                    receiver.on_segment(now, &segment);
                    acknowledgments.extend(receiver.poll_ack(now));
                }
            }
            now += Duration::from_millis(50);
            receiver.on_timer(now);
            acknowledgments.extend(receiver.poll_ack(now));
            if sender.next_timer() <= now {
                sender.on_timer(now, &mut NullProbe);
            }
            for acknowledgment in &acknowledgments {
                sender.on_ack(now, acknowledgment, &mut NullProbe);
            }
        }
    });
}
