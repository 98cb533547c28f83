//! Completed transfers.

use crate::common::*;
use airpath_sim::plan::*;

#[test]
fn a_file_stopped_before_its_end_is_not_finished() {
    // 2 s at 10 Mbit/s: a file of 1 MB is complete by then, one of 20 MB is not.
    let completed = |bytes: u64, stop_ns: u64| {
        let file = FlowPlan {
            traffic: TrafficPlan::File { bytes },
            stop_ns: Some(Draw::Constant { value: stop_ns as f64 }),
            ..flow("file", newreno())
        };
        let outcome =
            run(&plan(5, round_trip_links(link("bottleneck", mbps(10), 20.0), 20.0), vec![file]), 1);
        table(&outcome, "completions").integers("bytes").to_vec()
    };
    assert_eq!(completed(1_000_000, 2 * SECOND), [1_000_000]);
    assert!(completed(20_000_000, 2 * SECOND).is_empty());
    // Stopped when all data has been sent but not all has arrived: 14 600 bytes in the first window, 40 ms to
    // the last acknowledgment.
    assert_eq!(completed(14_600, 10 * MILLISECOND), [14_600]);
}

/// Runs files of 12 packets, each sent at once, one after the other for ten minutes with a loss of 5 % of the
/// packets. Returns their mean duration in milliseconds and the number of timeouts per file.
fn short_files(loss_detection: LossDetectionPlan) -> (f64, f64) {
    let mut radio = link("radio", mbps(10), 20.0);
    radio.loss = 0.05;
    let files = FlowPlan {
        traffic: TrafficPlan::Repeated {
            bytes: Draw::Constant { value: 12.0 * 1460.0 },
            pause_ns: Draw::Constant { value: 1e8 },
        },
        transport: Some(TransportPlan {
            loss_detection,
            initial_window_bytes: 12 * 1460,
            delayed_ack_segments: 2,
            ..transport()
        }),
        ..flow("files", newreno())
    };
    let outcome = run(&plan(600, round_trip_links(radio, 20.0), vec![files]), 1);
    let completions = table(&outcome, "completions");
    let (starts, ends) = (completions.reals("start_s"), completions.reals("end_s"));
    let mean_ms = (ends.iter().sum::<f64>() - starts.iter().sum::<f64>()) / ends.len() as f64 * 1000.0;
    assert!(ends.len() > 2_000, "{}", ends.len());
    (mean_ms, table(&outcome, "flows").integers("timeouts")[0] as f64 / ends.len() as f64)
}

/// RFC 8985, section 7: if the last packets of a file are lost, only a timer detects it, and a probe is
/// faster.
#[test]
fn a_probe_detects_losses_at_the_end_of_a_file_before_the_timeout() {
    let (by_threshold, by_time) =
        (short_files(LossDetectionPlan::Threshold), short_files(LossDetectionPlan::Rack));
    // Without a loss it takes 40 ms plus the time of 12 packets. Half of the files have losses, and one in
    // seven waits for the timer.
    assert!(by_time.0 < 0.85 * by_threshold.0, "{by_time:?} {by_threshold:?}");
    assert!(by_time.1 < 0.4 * by_threshold.1, "{by_time:?} {by_threshold:?}");
}

/// Linux acknowledges the first 16 segments one by one, and its first receive window holds 44 segments of 1460 bytes.
#[test]
fn a_linux_stack_acknowledges_more_often_and_opens_its_window_later() {
    let acknowledgments_and_end = |stack| {
        let file = FlowPlan {
            traffic: TrafficPlan::File { bytes: 100 * 1460 },
            transport: Some(TransportPlan {
                initial_window_bytes: 100 * 1460,
                delayed_ack_segments: 2,
                stack,
                ..transport()
            }),
            ..flow("file", newreno())
        };
        let links = round_trip_links(link("bottleneck", mbps(100), 20.0), 20.0);
        let outcome = run(&plan(1, links, vec![file]), 1);
        let end_s = table(&outcome, "completions").reals("end_s")[0];
        (table(&outcome, "links").integers("arrived_packets")[1], (end_s / 0.04) as u64)
    };
    assert_eq!(acknowledgments_and_end(StackPlan::Rfc), (50, 1), "acknowledgments, whole round trips");
    assert_eq!(acknowledgments_and_end(StackPlan::Linux), (16 + 42, 2));
}
