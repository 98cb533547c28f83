//! Plans, and their parts that can be parsed separately: estimators and burst losses.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use crate::target::Target;
use airpath_emu::Exchange;
use airpath_quic::{QuicRun, RunError};
use airpath_replay::NamedEstimator;
use airpath_sim::plan::{AckRateConfig, ControllerPlan, FlowPlan, Plan, RatePlan, TrafficPlan};
use airpath_sim::{
    Input, Outcome, PlanError, RunControl, Simulation, independent_packet_loss, packet_loss, rate_steps,
};
use airpath_trace::{ReadOptions, read};

#[path = "../../sim/tests/it/common.rs"]
#[allow(clippy::expect_used, reason = "tests of another crate")]
mod common;

use common::{
    cubic, datagrams, fixed, flow, link, mbps, newreno, packets, plan, round_trip_links, xcp_protocol,
};

/// Upper bounds of a run: simulated time, bytes in flight, and real time.
const SIMULATED_NS: u64 = 50_000_000;
const IN_FLIGHT: u64 = 4_000_000;
const TAKES: Duration = Duration::from_millis(200);

pub(crate) fn targets() -> Vec<Target> {
    let mut plans: Vec<_> = examples().iter().map(pretty).collect();
    plans.extend(examples().iter().map(|plan| serde_json::to_vec(plan).unwrap()));
    let texts = |all: &[&str]| all.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    vec![
        Target { name: "plans", seeds: plans, parse: Box::new(runs) },
        Target { name: "estimators", seeds: texts(&ESTIMATORS), parse: Box::new(estimates) },
        Target { name: "bursts", seeds: texts(&BURSTS), parse: Box::new(loses) },
    ]
}

fn pretty(plan: &Plan) -> Vec<u8> {
    serde_json::to_vec_pretty(plan).unwrap()
}

/// Returns small plans with most kinds of links, queues and traffic.
#[allow(clippy::wildcard_imports, reason = "plans are written with most of their types")]
pub(crate) fn examples() -> Vec<Plan> {
    use airpath_sim::plan::*;
    let constant = |value: f64| Draw::Constant { value };
    let rates = [
        mbps(10),
        RatePlan::Unlimited,
        RatePlan::Steps(StepsConfig {
            steps: vec![(0, 8_000_000), (5_000_000, 0), (9_000_000, 64)],
            repeat_after_ns: Some(20_000_000),
        }),
        RatePlan::Uniform(UniformConfig {
            low_bps: 1_000_000,
            high_bps: 20_000_000,
            hold_ns: 3_000_000,
            initial_bps: Some(5),
            stream: None,
        }),
        RatePlan::Opportunities(OpportunitiesConfig { trace: 0, once: false }),
        RatePlan::RateLog(RateLogConfig { trace: 1, once: true }),
    ];
    let traffics = [
        TrafficPlan::File { bytes: 30_000 },
        TrafficPlan::Repeated { bytes: constant(9000.0), pause_ns: Draw::Exponential { mean: 1e6 } },
        TrafficPlan::Writes { bytes: Draw::Exponential { mean: 9000.0 }, interval_ns: constant(2e6) },
        TrafficPlan::Arrivals { bytes: Draw::Uniform { low: 1e3, high: 1e5 }, mean_interval_ns: 4e6 },
    ];
    let unanswered = [
        TrafficPlan::ConstantBitRate {
            bps: 2_000_000,
            packet_bytes: 500,
            on_ns: Some(constant(5e6)),
            off_ns: Some(Draw::Exponential { mean: 2e6 }),
            start_off: true,
        },
        TrafficPlan::PoissonDatagrams {
            bps: 1_000_000,
            packet_bytes: Draw::Uniform { low: 40.0, high: 1500.0 },
        },
    ];
    let mut examples = Vec::new();
    for (number, rate) in rates.into_iter().enumerate() {
        let mut one = round_trip_links(link("there", rate, 2.0), 3.0);
        one[0].queue = match number {
            0 => QueuePlan::Router {
                limit_bytes: None,
                limit_packets: Some(50),
                protocol: xcp_protocol([1_000_000, 1_000_000_000]),
                source: SourcePlan::named("configured").with("capacity", 10_000_000),
            },
            _ => packets(20),
        };
        one[1].arq = Some(
            ArqPlan::named("selective-repeat")
                .with("retries", 3)
                .with("delay", 100_000)
                .with("in_order", number % 2 == 0),
        );
        one[1].loss = 0.1;
        one[0].jitter_ns = (number == 2).then_some(constant(1e5));
        let mut flows =
            vec![flow("a", if number == 1 { fixed(30_000) } else { cubic() }), flow("b", newreno())];
        if number == 1 {
            flows[1] = flow("b", fixed(9000));
        }
        flows[1].path = vec![1];
        flows[1].reverse_path = vec![0];
        flows[1].measured_at = 1;
        if let Some(traffic) = traffics.get(number) {
            flows.push(FlowPlan { traffic: traffic.clone(), ..flow("c", cubic()) });
        }
        if let Some(traffic) = unanswered.get(number) {
            flows.push(datagrams("d", traffic.clone()));
        }
        let mut plan = plan(1, one, flows);
        plan.record.packets = number % 2 == 0;
        plan.record.interval_ns = 10_000_000;
        examples.push(plan);
    }
    for bursts in BURSTS {
        let mut one = round_trip_links(link("there", mbps(10), 2.0), 3.0);
        one[0].bursts = Some(serde_json::from_str(bursts).unwrap());
        examples.push(plan(1, one, vec![flow("a", cubic())]));
    }
    examples
}

const ESTIMATORS: [&str; 3] = [
    r#"{"kind": "westwood-plus", "ticks_per_second": 1000}"#,
    r#"{"kind": "filtered", "sampler": {"kind": "per-ack"}, "filter": {"kind": "none"}}"#,
    r#"{"kind": "filtered", "sampler": {"kind": "interval", "interval_ns": 50000000}, "filter": {"kind": "none"}}"#,
];

const BURSTS: [&str; 4] = [
    r#"{"kind": "gilbert", "mean_loss": 0.01, "mean_burst": 4.0, "clock": "time", "step": 1000000}"#,
    r#"{"kind": "netem-gemodel", "p": 0.01, "r": 0.3, "loss_bad": 1.0, "loss_good": 0.0}"#,
    r#"{"kind": "gilbert-elliott", "gamma": 0.999, "beta": 0.9, "eps_good": 1e-6, "eps_bad": 0.01, "clock": "bit",
 "code_rate": 0.875, "parity_takes_time": true}"#,
    r#"{"kind": "fading", "gamma": 0.99, "beta": 0.9, "modulation": "8psk", "snr": 10.0, "antennas": "2x1",
 "clock": "symbol", "step_by_step": true, "code_rate": 0.75, "ack_code_rate": 0.5, "ack_limit": 60}"#,
];

/// The input traces of the plans.
static INPUTS: LazyLock<Vec<Arc<Input>>> = LazyLock::new(|| {
    ["1\n3\n3\n7\n20\n", "time_s,rate_mbps\n0,1.5\n0.25,3\n1,\n"]
        .map(|text| Arc::new(Input::from(&read(text.as_bytes(), &ReadOptions::default()).unwrap())))
        .to_vec()
});

fn said(error: &PlanError) {
    let text = error.to_string();
    assert!(text.contains(": "), "{text}");
}

fn runs(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let mut plan = match Plan::from_json(text) {
        Ok(config) => config,
        Err(error) => {
            said(&error);
            return false;
        }
    };
    // A plan with very many flows takes a proportional amount of memory. The compiler of scenarios warns
    // about such plans.
    if plan.flows.iter().any(|flow| arrives_often(flow, plan.duration_ns)) {
        return false;
    }
    assert_eq!(Plan::from_json(&serde_json::to_string(&plan).unwrap()), Ok(plan.clone()), "written and read");
    let _ = Exchange::new(&plan, &INPUTS, 1, 4).map_err(|error| assert!(!error.to_string().is_empty()));
    match Simulation::new(&plan, &INPUTS, 1) {
        Ok(simulation) => drop(simulation),
        Err(error) => {
            said(&error);
            return false;
        }
    }
    bound(&mut plan);
    for link in 0..plan.links.len().min(2) {
        if plan.links[link].rate != RatePlan::Unlimited {
            let _ = rate_steps(&plan, &INPUTS, 1, link);
        }
    }
    let simulated =
        Simulation::new(&plan, &INPUTS, 1).ok().and_then(|run| for_a_while(|control| run.run(control).ok()));
    let over_quic = QuicRun::new(&plan, &INPUTS, 1).map_err(|error| said(&error)).ok().and_then(|run| {
        for_a_while(|control| match run.run(control) {
            Ok(outcome) => Some(outcome),
            Err(RunError::Cancelled) => None,
            Err(error) => panic!("{error}"),
        })
    });
    for outcome in simulated.iter().chain(&over_quic) {
        for table in &outcome.tables {
            let lengths = table.columns.iter().map(|(_, column)| match column {
                airpath_sim::Column::I64(values) => values.len(),
                airpath_sim::Column::F64(values) => values.len(),
            });
            let lengths: Vec<_> = lengths.collect();
            assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "{}: {lengths:?}", table.name);
        }
    }
    true
}

/// Bounds the duration of a run, and its data in flight: a plan with gigabytes in flight would use that much
/// memory.
fn bound(plan: &mut Plan) {
    let interval = plan.record.interval_ns;
    plan.duration_ns = (SIMULATED_NS / interval).clamp(1, plan.duration_ns / interval) * interval;
    plan.record.measure_from_ns = 0;
    for flow in &mut plan.flows {
        if let Some(ControllerPlan::Declared(component)) = &mut flow.controller
            && let Some(window) = component.values.get_mut("window")
            && window.as_u64().is_some_and(|window| window > IN_FLIGHT)
        {
            *window = IN_FLIGHT.into();
        }
        if let Some(transport) = &mut flow.transport {
            transport.receive_window_bytes = transport.receive_window_bytes.min(IN_FLIGHT);
            transport.mss_bytes = transport.mss_bytes.max(40);
        }
    }
}

fn arrives_often(flow: &FlowPlan, duration_ns: u64) -> bool {
    matches!(flow.traffic, TrafficPlan::Arrivals { mean_interval_ns, .. } if duration_ns as f64 / mean_interval_ns > 2e4)
}

/// Runs to the end, or until the real-time limit.
fn for_a_while(run: impl FnOnce(&RunControl) -> Option<Outcome>) -> Option<Outcome> {
    let control = RunControl::default();
    let (over, wait) = channel::<()>();
    let cancels = &control;
    thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(TAKES) == Err(RecvTimeoutError::Timeout) {
                cancels.cancel();
            }
        });
        let outcome = run(&control);
        drop(over);
        outcome
    })
}

fn estimates(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let config: AckRateConfig = match serde_json::from_str(text) {
        Ok(config) => config,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    match NamedEstimator::new("fuzzed".to_owned(), config) {
        Ok(estimator) => {
            crate::captures::replayed(estimator);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

fn loses(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let mut taken = false;
    for size in [40, 1500, 65_000] {
        match packet_loss(text, size) {
            Ok(loss) => {
                assert!((0.0..=1.0 + 1e-9).contains(&loss), "{loss}");
                taken = true;
            }
            Err(error) => said(&error),
        }
        if let Ok(Some(loss)) = independent_packet_loss(text, size) {
            assert!((-1e-9..=1.0 + 1e-9).contains(&loss), "{loss}");
        }
    }
    taken
}
