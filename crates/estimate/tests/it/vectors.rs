//! Every vector file of the estimators, with the tolerance stated in the file.

mod ack_rate;

use airpath_estimate::{
    CeilingFilter, CeilingMeasured, CeilingProfile, Covariance, Estimate, Jacobian, LinkCapacityMonitor,
    Maintenance, Measured, Monitor, MonitorInput, Predictor, Profile, QueueMaintainer, RttMaintainer,
    RttThreshold, RunningVariance, TransientMean, Trigger,
};
use airpath_vectors::{Tally, Value, list, number, text};

const FILES: [&str; 8] = [
    "f1.json",
    "ekf_micro.json",
    "ekf_router.json",
    "ekf_cubic.json",
    "maintainers.json",
    "gm_filters.json",
    "sarbe.json",
    "westwood_plus.json",
];

/// f1 and derivatives, whole and fractional queues.
#[test]
fn f1() {
    let Some(file) = read("f1.json") else { return };
    let mut tally = Tally::default();
    let mut transient = TransientMean::new();
    for (i, point) in list(&file["points"]).iter().enumerate() {
        let [n, lambda, mu, tau] = ["n", "lambda", "mu", "tau"].map(|name| number(&point[name]));
        let transition = transient.transition(n, lambda, mu, tau);
        let f1 = number(&point["f1"]);
        tally.hold(&format!("f1 of point {i}"), transition.queue, f1, 1e-9 * f1 + 1e-12);
        tally.hold(&format!("df1_dx1 of point {i}"), transition.by_queue, number(&point["df1_dx1"]), 1e-9);
        if let Some(expected) = point["df1_dx2"].as_f64() {
            let tolerance = 1e-9 * expected.abs() + 1e-12 * f1.max(1.0) / (0.02 * lambda);
            tally.hold(&format!("df1_dx2 of point {i}"), transition.by_arrival_rate, expected, tolerance);
        } else {
            tally.hold_exactly(&format!("df1_dx2 of point {i}"), transition.by_arrival_rate, 0.0);
        }
    }
    for (i, point) in list(&file["fractional"]).iter().enumerate() {
        let [x1, lambda, mu, tau] = ["x1", "lambda", "mu", "tau"].map(|name| number(&point[name]));
        let f1 = number(&point["f1"]);
        let value = transient.mean(x1, lambda, mu, tau);
        tally.hold(&format!("fractional point {i}"), value, f1, 1e-9 * f1 + 1e-12);
    }
    tally.finish("f1.json");
}

/// Single steps of the filter, and Welford's variance with its floor.
#[test]
fn ekf_micro() {
    let Some(file) = read("ekf_micro.json") else { return };
    let tolerance = |expected: f64| 1e-10 * expected.abs() + 1e-12;
    let mut tally = Tally::default();
    for (i, case) in list(&file["updates"]).iter().enumerate() {
        let [j11, j12] = [number(&case["J"][0][0]), number(&case["J"][0][1])];
        let before = Estimate { x: [0.0, 0.0], p: covariance(&case["P"]) };
        let x_minus = [number(&case["x_minus"][0]), number(&case["x_minus"][1])];
        let prior = before.predict(x_minus, Jacobian { j11, j12 }, [1e-5, 5e-6]);
        let (posterior, gain) = prior.update(number(&case["z"]), number(&case["R"]));
        let outputs = [
            ("P_minus", prior.p.to_list().to_vec()),
            ("K", vec![gain.k1, gain.k2]),
            ("x", posterior.x.to_vec()),
            ("P_plus", posterior.p.to_list().to_vec()),
        ];
        for (name, values) in outputs {
            for (j, value) in values.iter().enumerate() {
                let expected = number(&case[name][j]);
                tally.hold(&format!("{name}[{j}] of update {i}"), *value, expected, tolerance(expected));
            }
        }
    }
    let series = &file["running_variance"];
    if !series.is_null() {
        let mut running = RunningVariance::new();
        for (i, z) in list(&series["z"]).iter().enumerate() {
            running.push(number(z));
            let expected = number(&series["R"][i]);
            let value = running.sample_variance().max(number(&series["rmin"]));
            tally.hold(&format!("running variance {i}"), value, expected, tolerance(expected));
        }
    }
    tally.finish("ekf_micro.json");
}

/// Sequences with μ from its column at each step, all columns; then with the computed capacity fed back.
#[test]
fn ekf_router() {
    let Some(file) = read("ekf_router.json") else { return };
    let columns: Vec<&str> = list(&file["columns"]).iter().map(|name| name.as_str().unwrap()).collect();
    let mut given = Tally::default();
    let mut fed_back = Tally::default();
    for run in list(&file["runs"]) {
        let label = format!("{} {} {}", text(&run["trace"]), text(&run["profile"]), text(&run["lcm"]));
        let rows: Vec<Row> =
            list(&run["rows"]).iter().map(|row| Row { columns: &columns, values: list(row) }).collect();

        let mut open = Sequence::new(run);
        let mut closed = Sequence::new(run);
        let mut mu = number(&run["mu0"]);
        for (i, row) in rows.iter().enumerate() {
            let values = open.step(row, row.get("mu"));
            for (name, value) in values {
                let expected = row.get(name);
                let tolerance = 1e-6 * expected.abs() + 1e-8;
                given.hold(&format!("{name} of row {i} of {label}"), value, expected, tolerance);
            }
            mu = closed.step(row, mu).last().unwrap().1;
            let expected = row.get("C");
            fed_back.hold(&format!("C of row {i} of {label}"), mu, expected, 1e-5 * expected.abs());
        }
    }
    given.finish("ekf_router.json, mu from its column");
    fed_back.finish("ekf_router.json, own C fed back");
}

/// Sequences of the end-to-end filter, all columns.
#[test]
fn ekf_cubic() {
    let Some(file) = read("ekf_cubic.json") else { return };
    let columns: Vec<&str> = list(&file["columns"]).iter().map(|name| name.as_str().unwrap()).collect();
    let mut tally = Tally::default();
    for (number_of_run, run) in list(&file["runs"]).iter().enumerate() {
        let mut filter = ceiling_filter(run);
        for (i, values) in list(&run["rows"]).iter().enumerate() {
            for loss in list(&run["loss_events"]).iter().filter(|loss| loss[0].as_u64() == Some(i as u64)) {
                filter.register(number(&loss[1]), number(&loss[2]));
            }
            let row = Row { columns: &columns, values: list(values) };
            for (name, value) in ceiling_step(&mut filter, &row) {
                let expected = row.get(name);
                let tolerance = 1e-9 * expected.abs() + 1e-12;
                tally.hold(&format!("{name} of row {i} of run {number_of_run}"), value, expected, tolerance);
            }
        }
    }
    tally.finish("ekf_cubic.json");
}

fn ceiling_filter(run: &Value) -> CeilingFilter {
    let profile = match text(&run["profile"]) {
        "journal" => CeilingProfile::Journal,
        "recommended" => CeilingProfile::Recommended,
        other => panic!("no profile {other}"),
    };
    let [epsilon, omega, nu] = ["eps", "Omega", "nu"].map(|name| number(&run[name]));
    CeilingFilter::new(profile, Trigger { epsilon, omega, nu })
}

/// Returns every output column by name.
fn ceiling_step(filter: &mut CeilingFilter, row: &Row) -> Vec<(&'static str, f64)> {
    let measured = CeilingMeasured {
        ceiling: row.get("zbar"),
        window: row.get("W"),
        rtt: row.get("rtt"),
        interval: 0.2,
    };
    let cycle = filter.step(&measured).unwrap();
    let Covariance { p11: prior11, p12: prior12, p22: prior22 } = cycle.prior;
    let Covariance { p11, p12, p22 } = cycle.posterior.p;
    vec![
        ("lambda", cycle.lambda),
        ("club", f64::from(u8::from(cycle.corrected))),
        ("f_dagger", cycle.correction),
        ("J12", cycle.jacobian.j12),
        ("R", cycle.measurement_noise),
        ("Pm11", prior11),
        ("Pm12", prior12),
        ("Pm22", prior22),
        ("K1", cycle.gain.k1),
        ("K2", cycle.gain.k2),
        ("x1", cycle.posterior.x[0]),
        ("x2", cycle.posterior.x[1]),
        ("P11", p11),
        ("P12", p12),
        ("P22", p22),
    ]
}

/// Latches of the queue maintainer and of the RTT maintainer.
#[test]
fn maintainers() {
    let Some(file) = read("maintainers.json") else { return };
    let mut tally = Tally::default();
    for (i, run) in list(&file["runs"]).iter().enumerate() {
        let share = number(&run["threshold"]);
        for (protocol, upsilon) in [("vcp", 1.14), ("xcp", 1.40)] {
            let threshold = share * number(&run["buffer_packets"]);
            let mut maintainer = QueueMaintainer::new(Maintenance::Latch, threshold, upsilon);
            for (j, queue) in list(&run["qbar"]).iter().enumerate() {
                let factor = maintainer.update(number(queue));
                let expected = number(&run["factor"][protocol][j]);
                tally.hold_exactly(&format!("{protocol} {j} of run {i}"), factor, expected);
            }
        }
        for series in ["rtt", "rtt_short_base"] {
            let case = &run[series];
            for (name, threshold) in
                [("queueing", RttThreshold::QueueingDelay), ("literal", RttThreshold::Literal)]
            {
                let mut maintainer = RttMaintainer::new(threshold, share, 2.0);
                for (j, rtt) in list(&case["rtt"]).iter().enumerate() {
                    let factor =
                        maintainer.update(number(rtt), number(&case["rtt_min"]), number(&case["rtt_max"]));
                    let expected = number(&case["factor"][name][j]);
                    tally.hold_exactly(&format!("{series} {name} {j} of run {i}"), factor, expected);
                }
            }
        }
    }
    tally.finish("maintainers.json");
}

/// Predictor and all three monitors over the rows of one run.
struct Sequence {
    predictor: Predictor,
    plain: LinkCapacityMonitor,
    idle_corrected: LinkCapacityMonitor,
    used: Monitor,
    tau: f64,
}

impl Sequence {
    fn new(run: &Value) -> Self {
        let profile = match text(&run["profile"]) {
            "icc" => Profile::Icc,
            "journal" => Profile::Journal,
            "counting" => Profile::Counting,
            other => panic!("no profile {other}"),
        };
        let used = match text(&run["lcm"]) {
            "plain" => Monitor::Plain,
            "idle" => Monitor::IdleCorrected,
            other => panic!("no link-capacity monitor {other}"),
        };
        let x = [number(&run["x0"][0]), number(&run["x0"][1])];
        let start = Estimate { x, p: covariance(&run["P0"]) };
        let monitor = |kind| LinkCapacityMonitor::new(kind, number(&run["cmin"]), number(&run["cmax"]));
        Self {
            predictor: Predictor::starting_from(profile, start),
            plain: monitor(Monitor::Plain),
            idle_corrected: monitor(Monitor::IdleCorrected),
            used,
            tau: number(&run["tau"]),
        }
    }

    /// Returns every output column by name; C is the last.
    fn step(&mut self, row: &Row, mu: f64) -> Vec<(&'static str, f64)> {
        let cycle = self.predictor.step(&Measured {
            queue: row.get("zbar"),
            queue_variance: row.get("zvar"),
            last_queue: row.get("zbar"),
            arrival_rate: row.get("y"),
            service_rate: mu,
            interval: self.tau,
        });
        let input = MonitorInput {
            arrival_rate: row.get("y"),
            previous_queue: cycle.previous_queue,
            queue: cycle.posterior.x[0],
            length: self.tau,
            idle: cycle.idle,
            emptied: false,
            previous_capacity: mu,
        };
        let plain = self.plain.capacity(&input);
        let idle_corrected = self.idle_corrected.capacity(&input);
        let Covariance { p11: prior11, p12: prior12, p22: prior22 } = cycle.prior;
        let Covariance { p11, p12, p22 } = cycle.posterior.p;
        vec![
            ("f1", cycle.predicted_queue),
            ("J11", cycle.jacobian.j11),
            ("J12", cycle.jacobian.j12),
            ("R", cycle.measurement_noise),
            ("Pm11", prior11),
            ("Pm12", prior12),
            ("Pm22", prior22),
            ("K1", cycle.gain.k1),
            ("K2", cycle.gain.k2),
            ("x1", cycle.posterior.x[0]),
            ("x2", cycle.posterior.x[1]),
            ("P11", p11),
            ("P12", p12),
            ("P22", p22),
            ("p_idle", cycle.idle),
            ("C_plain", plain),
            ("C_idle", idle_corrected),
            ("C", if self.used == Monitor::Plain { plain } else { idle_corrected }),
        ]
    }
}

struct Row<'a> {
    columns: &'a [&'a str],
    values: &'a [Value],
}

impl Row<'_> {
    fn get(&self, name: &str) -> f64 {
        let index = self.columns.iter().position(|column| *column == name).unwrap();
        number(&self.values[index])
    }
}

trait ToList {
    fn to_list(&self) -> [f64; 3];
}

impl ToList for Covariance {
    fn to_list(&self) -> [f64; 3] {
        [self.p11, self.p12, self.p22]
    }
}

/// Reads the file. Returns `None` if a folder given by the user does not contain it; that folder must contain
/// one of these files.
fn read(name: &str) -> Option<Value> {
    let folder = airpath_vectors::folder();
    assert!(
        FILES.iter().any(|file| folder.join(file).exists()),
        "{} holds none of {FILES:?}",
        folder.display()
    );
    airpath_vectors::read(name)
}

fn covariance(value: &Value) -> Covariance {
    Covariance { p11: number(&value[0]), p12: number(&value[1]), p22: number(&value[2]) }
}
