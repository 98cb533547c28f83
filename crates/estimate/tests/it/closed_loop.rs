//! Capacity sources in a loop with a link, a buffer and senders: estimates stay finite and positive, and
//! recover from every disturbance. (`support::run` checks the former at every timer.)
//!
//! The estimate is compared with the true rate, not only by utilisation: a good controller fills a link even
//! with a wrong estimate.

use crate::support::{Link, Moment, TrueRate, ebe, every_source, median_error, run, utilisation};
use airpath_estimate::{Maintenance, Monitor, Profile, Qfcp, QfcpConfig, XcpB, XcpBConfig};
use airpath_model::CapacitySource;

/// EBE-J, section IV: 575 kB.
const BUFFER: u64 = 575_000;

/// The senders always have data.
fn bulk(_time: f64) -> f64 {
    1e12
}

fn papers(buffer: u64) -> Box<dyn CapacitySource> {
    ebe(buffer, |_| {})
}

fn hold(buffer: u64) -> Box<dyn CapacitySource> {
    ebe(buffer, |config| (config.monitor, config.upsilon) = (Monitor::Hold, 1.2))
}

fn single(rate: TrueRate, buffer: u64, seconds: u64, source: Box<dyn CapacitySource>) -> Vec<Moment> {
    run(vec![Link::new(rate, buffer, source)], seconds, bulk)
}

/// Checks that packets get through in the last ten seconds with every source, profile, monitor and
/// maintainer.
fn assert_sane_estimates(rate: TrueRate, buffer: u64, seconds: u64, limit: fn(f64) -> f64) {
    let check = |number| {
        let (name, source) = every_source(buffer).swap_remove(number);
        let moments = run(vec![Link::new(rate, buffer, source)], seconds, limit);
        let end = seconds as f64;
        assert!(utilisation(&moments, end - 10.0, end) > 0.0, "{name} is stuck");
    };
    // One thread per source, because the slow link takes as long as all other tests combined.
    std::thread::scope(|scope| {
        for number in 0..every_source(buffer).len() {
            scope.spawn(move || check(number));
        }
    });
}

/// Checks that both forms of EBE use the link and estimate correctly in [`from`, `to`).
fn assert_accurate_estimates(rate: TrueRate, seconds: u64, spans: &[(f64, f64)]) {
    for (name, source) in [("papers", papers(BUFFER)), ("hold", hold(BUFFER))] {
        let moments = single(rate, BUFFER, seconds, source);
        for &(from, to) in spans {
            let used = utilisation(&moments, from, to);
            let error = median_error(&moments, from, to);
            assert!(used > 0.9, "{name} {from}..{to}: utilisation {used}");
            assert!(error < 0.1, "{name} {from}..{to}: median error {error}");
        }
    }
}

fn outage_5_s(time: f64) -> f64 {
    if time > 20.0 && time <= 25.0 { 0.0 } else { 10e6 }
}

fn outage_20_s(time: f64) -> f64 {
    if time > 20.0 && time <= 40.0 { 0.0 } else { 10e6 }
}

fn up_and_down(time: f64) -> f64 {
    if time > 20.0 && time <= 40.0 { 20e6 } else { 1e6 }
}

fn hundredfold(time: f64) -> f64 {
    if time > 20.0 && time <= 40.0 { 50e6 } else { 5e5 }
}

/// A rate of one packet in 267 ms.
fn slow(_time: f64) -> f64 {
    30e3
}

/// Rates uniform on 1 to 20 Mbit/s, a new rate every ten seconds: one fixed sample.
fn uniform(time: f64) -> f64 {
    const RATES: [f64; 12] =
        [14.6e6, 3.2e6, 8.9e6, 19.1e6, 1.7e6, 12.4e6, 6.3e6, 17.0e6, 4.4e6, 10.2e6, 2.6e6, 15.8e6];
    RATES[(time / 10.0) as usize % RATES.len()]
}

/// The application is idle for a minute.
fn silence(time: f64) -> f64 {
    if time > 20.0 && time <= 80.0 { 0.0 } else { 1e12 }
}

#[test]
fn the_estimate_recovers_from_an_outage_of_5_s() {
    assert_sane_estimates(outage_5_s, BUFFER, 45, bulk);
    assert_accurate_estimates(outage_5_s, 45, &[(10.0, 20.0), (35.0, 45.0)]);
}

#[test]
fn the_estimate_recovers_from_an_outage_of_20_s() {
    assert_sane_estimates(outage_20_s, BUFFER, 60, bulk);
    assert_accurate_estimates(outage_20_s, 60, &[(10.0, 20.0), (50.0, 60.0)]);
}

#[test]
fn from_1_to_20_to_1_mbit() {
    assert_sane_estimates(up_and_down, BUFFER, 60, bulk);
    assert_accurate_estimates(up_and_down, 60, &[(10.0, 20.0), (30.0, 40.0), (50.0, 60.0)]);
}

#[test]
fn a_hundredfold_jump() {
    assert_sane_estimates(hundredfold, BUFFER, 60, bulk);
    assert_accurate_estimates(hundredfold, 60, &[(10.0, 20.0), (30.0, 40.0), (50.0, 60.0)]);
}

/// One packet more or less is 1.33 times the rate here, so the test accepts a factor of two.
#[test]
fn a_link_slower_than_one_packet_an_interval() {
    assert_sane_estimates(slow, BUFFER, 120, bulk);
    let moments = single(slow, BUFFER, 120, papers(BUFFER));
    assert!(utilisation(&moments, 60.0, 120.0) > 0.9);
    let estimates =
        || moments.iter().filter(|moment| moment.time > 60.0).filter_map(|moment| moment.estimate);
    let mean = estimates().sum::<f64>() / estimates().count() as f64;
    assert!((15e3..60e3).contains(&mean), "mean estimate {mean} bit/s");
}

#[test]
fn a_buffer_of_five_packets() {
    assert_sane_estimates(|_| 10e6, 5000, 60, bulk);
    let moments = single(|_| 10e6, 5000, 60, papers(5000));
    assert!(moments.iter().all(|moment| moment.estimate.expect("EBE has one") < 40e6));
}

#[test]
fn a_minute_without_traffic() {
    assert_sane_estimates(|_| 10e6, BUFFER, 100, silence);
    for source in [papers(BUFFER), hold(BUFFER)] {
        let moments = run(vec![Link::new(|_| 10e6, BUFFER, source)], 100, silence);
        assert!(utilisation(&moments, 90.0, 100.0) > 0.9);
        assert!(median_error(&moments, 90.0, 100.0) < 0.1);
    }
}

/// The plain monitor cannot estimate more than the arrivals; `hold` keeps its estimate.
#[test]
fn an_unsaturated_link_misleads_only_the_plain_monitor() {
    let estimate = |source| {
        let moments = run(vec![Link::new(|_| 10e6, BUFFER, source)], 40, |_| 2e6);
        moments.last().and_then(|moment| moment.estimate).expect("a source with a capacity")
    };
    let plain = estimate(papers(BUFFER));
    assert!((1.9e6..2.1e6).contains(&plain), "plain {plain}");
    let held = estimate(hold(BUFFER));
    assert!((9.9e6..10.5e6).contains(&held), "hold {held}");
    let qfcp = estimate(Box::new(Qfcp::new(QfcpConfig::default()).expect("valid")));
    assert!((qfcp - 20e6).abs() < 1.0, "QFCP grows to its bound: {qfcp}");
    assert_sane_estimates(|_| 10e6, BUFFER, 40, |_| 2e6);
}

/// The first of two links in series is not the bottleneck, so its queue is empty: `plain` estimates the
/// arrivals, `hold` keeps its estimate. The bottleneck fills with either.
#[test]
fn two_bottlenecks_in_a_row() {
    let both = |make: fn(u64) -> Box<dyn CapacitySource>| {
        let wide = Link::new(|_| 12e6, BUFFER, make(BUFFER));
        let narrow = Link::new(|_| 5e6, BUFFER, make(BUFFER));
        run(vec![wide, narrow], 60, bulk)
    };
    let last = |moments: &[Moment]| moments.last().and_then(|moment| moment.estimate).expect("EBE has one");
    let used = |moments: &[Moment]| utilisation(moments, 50.0, 60.0) * 12.0 / 5.0;
    let (plain, held) = (both(papers), both(hold));
    assert!(used(&plain) > 0.95 && used(&held) > 0.95, "{} {}", used(&plain), used(&held));
    assert!((4e6..7e6).contains(&last(&plain)), "plain {}", last(&plain));
    assert!((9.9e6..13e6).contains(&last(&held)), "hold {}", last(&held));
}

/// The ablation of docs/explanation/ebe.md in this small model: the variant without a filter performs as well
/// as the filter, the journal's literal variance does not work, and nothing works without a maintainer.
/// Bounds of the first line are measurements of an independent prototype for `icc`.
#[test]
fn the_maintainer_matters_more_than_the_filter() {
    let outcome = |profile, maintenance| {
        let source = ebe(BUFFER, |config| (config.profile, config.maintainer) = (profile, maintenance));
        let moments = single(uniform, BUFFER, 120, source);
        (utilisation(&moments, 10.0, 120.0), median_error(&moments, 10.0, 120.0))
    };
    let (icc, icc_error) = outcome(Profile::Icc, Maintenance::Latch);
    assert!(icc > 0.94 && icc_error < 0.08, "{icc} {icc_error}");
    let (none, none_error) = outcome(Profile::None, Maintenance::Latch);
    assert!((none - icc).abs() < 0.02 && none_error < 0.08, "{none} {none_error}");
    let (_, journal_error) = outcome(Profile::Journal, Maintenance::Latch);
    assert!(journal_error > 3.0 * icc_error, "{journal_error}");
    let (off, _) = outcome(Profile::Icc, Maintenance::Off);
    assert!(off < 0.5, "{off}");
}

/// The buffer is the same number of seconds of the link in both cases: χ B is the probing step of XCP-b.
#[test]
fn xcp_b_fills_a_link_without_its_capacity() {
    for (rate, buffer) in [(|_| 10e6) as TrueRate, |_| 3e6].into_iter().zip([BUFFER, BUFFER * 3 / 10]) {
        let source = Box::new(XcpB::new(XcpBConfig::default()).expect("valid"));
        let used = utilisation(&single(rate, buffer, 40, source), 20.0, 40.0);
        assert!(used > 0.95, "{used}");
    }
}

/// QFCP grows from one packet per interval by 5 % per interval, which takes half a minute: a weakness of the
/// method.
#[test]
fn qfcp_measures_a_busy_link_and_recovers_from_an_outage() {
    let source = Box::new(Qfcp::new(QfcpConfig::default()).expect("valid"));
    let moments = single(outage_5_s, BUFFER, 70, source);
    assert!(median_error(&moments, 10.0, 20.0) < 0.1);
    assert!(utilisation(&moments, 25.0, 35.0) < 0.5);
    assert!(utilisation(&moments, 60.0, 70.0) > 0.9);
}
