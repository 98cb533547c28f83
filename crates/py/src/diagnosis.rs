//! What limited a flow, and its bandwidth.

use airpath_replay::{Answer, Diagnosis, FlowResult, Headline, LimitWindow, sums_of_hosts};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The diagnosis of a flow: `{"answer": …, "even_rate_bps": …, "limits": {column: […]}, "losses": {…}, "policers": […]}`.
pub(crate) fn diagnosis<'py>(py: Python<'py>, found: &Diagnosis) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("answer", answer(py, &found.answer)?)?;
    result.set_item("even_rate_bps", found.even_rate_bps)?;
    result.set_item("limits", limits(py, &found.windows)?)?;
    let losses = PyDict::new(py);
    losses.set_item("segments", found.losses.segments)?;
    losses.set_item("episodes", found.losses.episodes)?;
    losses.set_item("needless", found.losses.needless)?;
    losses.set_item("queue_s", found.losses.queue_s)?;
    losses.set_item("at_queue", found.losses.at_queue)?;
    losses.set_item("flight_variation", found.losses.flight_variation)?;
    losses.set_item("by_queue", found.losses.by_queue)?;
    result.set_item("losses", losses)?;
    let policers = found.policers.iter().map(|policer| {
        let entry = PyDict::new(py);
        entry.set_item("from_ns", policer.from_ns)?;
        entry.set_item("to_ns", policer.to_ns)?;
        entry.set_item("rate_bps", policer.rate_bps)?;
        entry.set_item("burst_bytes", policer.burst_bytes)?;
        entry.set_item("score", policer.score)?;
        Ok(entry)
    });
    result.set_item("policers", PyList::new(py, policers.collect::<PyResult<Vec<_>>>()?)?)?;
    Ok(result)
}

/// The sums of the flows of each host.
pub(crate) fn sums<'py>(py: Python<'py>, flows: &[FlowResult]) -> PyResult<Bound<'py, PyList>> {
    let entries = sums_of_hosts(flows).into_iter().map(|sum| {
        let entry = PyDict::new(py);
        entry.set_item("host", sum.host.to_string())?;
        entry.set_item("down", sum.down)?;
        entry.set_item("flows", sum.flows.iter().map(|flow| flow + 1).collect::<Vec<_>>())?;
        entry.set_item("answer", answer(py, &sum.answer)?)?;
        Ok(entry)
    });
    PyList::new(py, entries.collect::<PyResult<Vec<_>>>()?)
}

fn answer<'py>(py: Python<'py>, answer: &Answer) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let bins = PyDict::new(py);
    let of = |column: fn(&airpath_replay::Bin) -> f64| answer.bins.iter().map(column).collect::<Vec<_>>();
    bins.set_item("from_ns", answer.bins.iter().map(|bin| bin.from_ns).collect::<Vec<_>>())?;
    bins.set_item("to_ns", answer.bins.iter().map(|bin| bin.to_ns).collect::<Vec<_>>())?;
    bins.set_item("rate_bps", of(|bin| bin.rate_bps))?;
    bins.set_item("low_bps", of(|bin| bin.low_bps))?;
    bins.set_item("high_bps", of(|bin| bin.high_bps))?;
    bins.set_item("full", answer.bins.iter().map(|bin| bin.full).collect::<Vec<_>>())?;
    result.set_item("bins", bins)?;
    result.set_item("headline", answer.headline.as_ref().map(|one| headline(py, one)).transpose()?)?;
    Ok(result)
}

fn headline<'py>(py: Python<'py>, one: &Headline) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("full", one.full)?;
    result.set_item("rate_bps", one.rate_bps)?;
    result.set_item("low_bps", one.low_bps)?;
    result.set_item("high_bps", one.high_bps)?;
    result.set_item("least_bps", one.least_bps)?;
    result.set_item("most_bps", one.most_bps)?;
    result.set_item("full_share", one.full_share)?;
    Ok(result)
}

fn limits<'py>(py: Python<'py>, windows: &[LimitWindow]) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let whole = |of: fn(&LimitWindow) -> u64| windows.iter().map(of).collect::<Vec<_>>();
    let real = |of: fn(&LimitWindow) -> f64| windows.iter().map(of).collect::<Vec<_>>();
    let known = |of: fn(&LimitWindow) -> Option<f64>| windows.iter().map(of).collect::<Vec<_>>();
    result.set_item("from_ns", whole(|one| one.from_ns))?;
    result.set_item("to_ns", whole(|one| one.to_ns))?;
    result.set_item("label", windows.iter().map(|one| one.label.name()).collect::<Vec<_>>())?;
    result.set_item("confidence", real(|one| one.confidence))?;
    result.set_item("margin", real(|one| one.margin))?;
    result.set_item("bytes", whole(|one| one.bytes))?;
    result.set_item("queued", real(|one| one.queued))?;
    result.set_item("full", real(|one| one.full))?;
    result.set_item("clocked", real(|one| one.clocked))?;
    result.set_item("queue_s", known(|one| one.queue_s))?;
    result.set_item("there_s", known(|one| one.there_s))?;
    result.set_item("back_s", known(|one| one.back_s))?;
    result.set_item("episodes", whole(|one| one.episodes))?;
    result.set_item("at_queue", known(|one| one.at_queue))?;
    result.set_item("spread", known(|one| one.spread))?;
    result.set_item("losses", whole(|one| one.losses))?;
    result.set_item("marks", whole(|one| one.marks))?;
    Ok(result)
}
