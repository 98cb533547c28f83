//! Comparison of our controllers with quinn's own: both get the events of the same connection, which ours
//! controls.

use std::any::Any;
use std::sync::{Arc, Mutex};

use airpath_network::RunControl;
use airpath_plan::{ComponentPlan, ControllerPlan, LinkPlan, Plan};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, Controller};

use common::{flow, link, mbps, packets, round_trip_links};

use super::QuicRun;
use crate::clock::{Instant, Origin};
use crate::controller::{HandOver, QuinnController, Shared};

#[path = "../../../sim/tests/it/common.rs"]
mod common;

/// Both windows after each acknowledgment and congestion event of the current run, in bytes: ours, quinn's.
static WINDOWS: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());
/// Serialises the runs that write there.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Passes every event to both controllers.
struct Both {
    ours: QuinnController,
    theirs: Box<dyn Controller>,
}

impl Both {
    fn note(&self) {
        // Ours returns one byte more, because quinn uses less than the window.
        WINDOWS.lock().unwrap().push((self.ours.window() - 1, self.theirs.window()));
    }
}

impl Controller for Both {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.ours.on_sent(now, bytes, last);
        self.theirs.on_sent(now, bytes, last);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.ours.on_ack(now, sent, bytes, app_limited, rtt);
        self.theirs.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.ours.on_end_acks(now, in_flight, app_limited, largest);
        self.theirs.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        self.ours.on_congestion_event(now, sent, persistent, lost);
        self.theirs.on_congestion_event(now, sent, persistent, lost);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.ours.on_mtu_update(mtu);
        self.theirs.on_mtu_update(mtu);
    }

    fn window(&self) -> u64 {
        self.note();
        self.ours.window()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        self.ours.clone_box()
    }

    fn initial_window(&self) -> u64 {
        self.ours.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

struct BothFactory(Shared, Origin, Arc<dyn congestion::ControllerFactory + Send + Sync>);

impl congestion::ControllerFactory for BothFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let ours = QuinnController::new(self.0.clone(), self.1);
        Box::new(Both { ours, theirs: Arc::clone(&self.2).build(now, mtu) })
    }
}

/// Returns both windows over a run.
fn windows(plan: &Plan, hand_over: HandOver) -> Vec<(u64, u64)> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    WINDOWS.lock().unwrap().clear();
    let QuicRun { exchange, end } = QuicRun::new(plan, &[], 1).unwrap();
    let run = QuicRun { exchange: exchange.handing_over(hand_over), end };
    run.run(&RunControl::default()).unwrap();
    std::mem::take(&mut WINDOWS.lock().unwrap())
}

/// Returns a plan of one flow for a minute; the buffer is one bandwidth-delay product.
fn plan(rate_mbps: u64, round_trip_ms: u64, controller: ControllerPlan) -> Plan {
    let buffer = rate_mbps * round_trip_ms / 12; // packets of 12 000 bits
    let one_way = round_trip_ms as f64 / 2.0;
    let forward = LinkPlan { queue: packets(buffer), ..link("bottleneck", mbps(rate_mbps), one_way) };
    common::plan(60, round_trip_links(forward, one_way), vec![flow("f", controller)])
}

/// Returns the mean of ours relative to quinn's, the smallest and the largest ratio.
fn ratios(windows: &[(u64, u64)]) -> (f64, f64, f64) {
    let ratios = windows.iter().map(|&(ours, theirs)| ours as f64 / theirs as f64);
    let (sum, low, high) = ratios.fold((0.0, f64::MAX, 0.0_f64), |(sum, low, high), ratio: f64| {
        (sum + ratio, low.min(ratio), high.max(ratio))
    });
    (sum / windows.len() as f64, low, high)
}

/// Returns the indices at which ours was reduced, and those at which quinn's was.
fn reductions(windows: &[(u64, u64)]) -> [Vec<usize>; 2] {
    [|both: &(u64, u64)| both.0, |both: &(u64, u64)| both.1].map(|window| {
        let pairs = windows.iter().map(window).zip(windows.iter().skip(1).map(window));
        (1..).zip(pairs).filter(|(_, (before, after))| after < before).map(|(place, _)| place).collect()
    })
}

#[test]
fn newreno_matches_the_windows_of_quinn() {
    let windows = windows(&plan(10, 40, common::newreno()), |controller, origin| {
        let mut theirs = congestion::NewRenoConfig::default();
        theirs.initial_window(14_720);
        Arc::new(BothFactory(controller, origin, Arc::new(theirs)))
    });
    let [ours, theirs] = reductions(&windows);
    assert!(ours.len() > 20, "{} reductions", ours.len());
    assert_eq!(ours, theirs);
    // Ours halves the data in flight (RFC 5681), quinn the window (RFC 9002), of which less than a packet is
    // unused.
    for place in ours {
        let [before, after] = [windows[place - 1], windows[place]];
        assert!(
            before.0.abs_diff(before.1) < 1472 && after.0.abs_diff(after.1) < 1472,
            "{before:?}, {after:?}"
        );
    }
    let (mean, low, high) = ratios(&windows);
    assert!((0.97..1.0).contains(&mean) && low > 0.9 && high < 1.02, "{mean}, from {low} to {high}");
}

/// On a path on which Reno does not limit CUBIC: there quinn's has the window of RFC 8312, ours that of RFC
/// 9438.
#[test]
fn cubic_matches_the_windows_of_quinn() {
    let controller = ControllerPlan::Declared(ComponentPlan::named("cubic").with("slow_start", "standard"));
    let windows = windows(&plan(50, 100, controller), |controller, origin| {
        let mut theirs = congestion::CubicConfig::default();
        theirs.initial_window(14_720);
        Arc::new(BothFactory(controller, origin, Arc::new(theirs)))
    });
    let [ours, theirs] = reductions(&windows);
    assert!(ours.len() > 6, "{} reductions", ours.len());
    assert_eq!(ours, theirs);
    // Quinn's window grows by whole packets and discards the remainder each time. This is little within one
    // cycle; but each cycle has its own maximum, so quinn's never makes up for it.
    let (mean, low, high) = ratios(&windows[ours[0]..ours[1]]);
    assert!(low > 0.98 && high < 1.02, "{mean}, from {low} to {high}");
    let (mean, ..) = ratios(&windows);
    assert!((1.0..1.12).contains(&mean), "{mean} over the whole run");
}
