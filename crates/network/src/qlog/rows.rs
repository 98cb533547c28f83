//! Conversion of rows of a run's tables to events.

use airpath_model::Phase;
use airpath_plan::Plan;
use airpath_trace::qlog::{WrittenMetrics, number};
use serde_json::{Value, json};

use crate::network::Outcome;
use crate::record::{FlowEvent, Table};

/// The event for a row of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Beside {
    /// The sender's metrics, and the state of its controller.
    Metrics(WrittenMetrics, &'static str),
    /// A change of the controller's congestion state.
    Congestion(&'static str),
    /// An event in airpath's namespace, with its data.
    Own(&'static str, Value),
}

/// Returns the rows of each of the flows with their times in nanoseconds, in time order.
pub(super) fn rows_beside(plan: &Plan, outcome: &Outcome, flows: &[u32]) -> Vec<Vec<(u64, Beside)>> {
    let mut found = Found { rows: vec![Vec::new(); flows.len()], flows };
    let series = outcome.flow_series.table();
    let table = |name: &str| outcome.tables.iter().find(|table| table.name == name);
    found.sender(&series);
    if let Some(events) = table("flow_events") {
        found.add(events, |row, of| Beside::Congestion(name_of(FlowEvent::NAMES, of.integers("event")[row])));
    }
    let quantity = |number: i64| usize::try_from(number).ok().and_then(|place| outcome.quantities.get(place));
    if let Some(observed) = table("flow_observations") {
        found.add(observed, |row, of| {
            let quantity = quantity(of.integers("quantity")[row]);
            Beside::Own(
                "controller_observed",
                json!({"quantity": quantity, "value": number(of.reals("value")[row])}),
            )
        });
    }
    if let Some(estimates) = table("flow_estimates") {
        found.estimates(plan, estimates);
    }
    let measured_at = measuring_links(plan, outcome, flows);
    if let Some(links) = table("link_series") {
        found.links(plan, links, &measured_at);
    }
    if let Some(observed) = table("link_observations") {
        let (links, times) = (observed.integers("link"), observed.reals("time_s"));
        for row in 0..times.len() {
            let quantity = quantity(observed.integers("quantity")[row]);
            let value = number(observed.reals("value")[row]);
            let data = json!({"link": link_name(plan, links[row]), "quantity": quantity, "value": value});
            found.at_link(&measured_at, links[row], times[row], &Beside::Own("router_observed", data));
        }
    }
    // Rows of the same instant stay in the order of the tables.
    found.rows.iter_mut().for_each(|rows| rows.sort_by_key(|(at, _)| *at));
    found.rows
}

struct Found<'a> {
    rows: Vec<Vec<(u64, Beside)>>,
    flows: &'a [u32],
}

impl Found<'_> {
    /// Adds each row of a table with a flow and a time.
    fn add(&mut self, table: &Table, beside: impl Fn(usize, &Table) -> Beside) {
        let (flows, times) = (table.integers("flow"), table.reals("time_s"));
        for row in 0..times.len() {
            let place = u32::try_from(flows[row]).ok().and_then(|flow| self.flows.binary_search(&flow).ok());
            if let Some(place) = place {
                self.rows[place].push((nanoseconds(times[row]), beside(row, table)));
            }
        }
    }

    fn sender(&mut self, series: &Table) {
        self.add(series, |row, of| {
            let metrics = WrittenMetrics {
                congestion_window: of.reals("cwnd_bytes")[row],
                bytes_in_flight: of.reals("in_flight_bytes")[row],
                ssthresh: of.reals("ssthresh_bytes")[row],
                smoothed_rtt: of.reals("srtt_s")[row] * 1e3,
                latest_rtt: f64::NAN,
                min_rtt: f64::NAN,
                pacing_rate: of.reals("pacing_rate_bps")[row],
            };
            Beside::Metrics(metrics, name_of(Phase::NAMES, of.integers("phase")[row]))
        });
    }

    fn estimates(&mut self, plan: &Plan, estimates: &Table) {
        self.add(estimates, |row, of| {
            let which = of.integers("estimator")[row];
            let beside = usize::try_from(which - 1).ok().and_then(|place| plan.estimators.get(place));
            let name = beside.map_or("controller", |one| one.name.as_str());
            let mut data = serde_json::Map::new();
            data.insert("estimator".to_owned(), json!(name));
            for column in ["estimate_bps", "sample_bps"] {
                let value = of.reals(column)[row];
                if value.is_finite() {
                    data.insert(column.to_owned(), number(value));
                }
            }
            Beside::Own("bandwidth_estimated", Value::Object(data))
        });
    }

    fn links(&mut self, plan: &Plan, links: &Table, measured_at: &[i64]) {
        let mut ended = vec![0.0; plan.links.len()];
        let (numbers, times) = (links.integers("link"), links.reals("time_s"));
        let values = links.reals("offered_bytes").iter().zip(links.integers("queue_bytes"));
        for ((&link, &time), (&offered, &queue)) in numbers.iter().zip(times).zip(values) {
            let Some(before) = usize::try_from(link).ok().and_then(|link| ended.get_mut(link)) else {
                continue;
            };
            let seconds = time - std::mem::replace(before, time);
            let mut data = serde_json::Map::new();
            data.insert("link".to_owned(), json!(link_name(plan, link)));
            data.insert("queue_bytes".to_owned(), json!(queue));
            if offered.is_finite() && seconds > 0.0 {
                data.insert("capacity_bps".to_owned(), number((offered * 8.0 / seconds).round()));
            }
            self.at_link(measured_at, link, time, &Beside::Own("link_updated", Value::Object(data)));
        }
    }

    /// Adds a row of a link for each flow that is measured there.
    fn at_link(&mut self, measured_at: &[i64], link: i64, time_s: f64, beside: &Beside) {
        for (rows, _) in self.rows.iter_mut().zip(measured_at).filter(|(_, measured)| **measured == link) {
            rows.push((nanoseconds(time_s), beside.clone()));
        }
    }
}

/// Returns the link at which each flow is measured.
fn measuring_links(plan: &Plan, outcome: &Outcome, flows: &[u32]) -> Vec<i64> {
    let table = outcome.tables.iter().find(|table| table.name == "flows");
    let sources = table.map_or(&[][..], |table| table.integers("source"));
    let planned = flows.iter().map(|&flow| {
        let source = sources.get(flow as usize).and_then(|&source| usize::try_from(source).ok());
        source.and_then(|source| plan.flows.get(source))
    });
    planned.map(|planned| planned.map_or(-1, |planned| planned.measured_at as i64)).collect()
}

fn link_name(plan: &Plan, link: i64) -> Option<&str> {
    usize::try_from(link).ok().and_then(|link| plan.links.get(link)).map(|link| link.name.as_str())
}

fn name_of(names: &[&'static str], number: i64) -> &'static str {
    usize::try_from(number).ok().and_then(|place| names.get(place).copied()).unwrap_or("unknown")
}

/// Converts seconds of a table, which come from whole nanoseconds.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}
