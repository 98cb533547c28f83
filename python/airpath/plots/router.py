"""Router state over time: capacity estimate, filter, load factor, feedback, queue."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airpath.metrics import estimate_and_capacity, observed, percentage_error
from airpath.metrics.run import columns, link_under_test
from airpath.plots.style import PAGE_IN, legend_above, new_axes, styled
from airpath.results import RunResult
from airpath.views.styles import Style, style_for


@styled
def capacity_estimate(
    run: RunResult, axes: Axes | None = None, style: Style | None = None, link: int | None = None
) -> Axes:
    """Plot the router's estimated or configured capacity over the shaded true capacity.

    Parameters
    ----------
    run
        The run.
    axes
        The axes to plot on; new axes by default.
    style
        Style of each scheme; as registered by default.
    link
        Index of the link; the link under test by default.
    """
    axes = axes or new_axes()
    time_s, estimate, capacity = _estimate(run, link)
    if time_s.size:
        edges = np.append(time_s - _lengths(run, time_s), time_s[-1:])
        axes.stairs(capacity * 1e-6, edges, fill=True, color="#dcdcdc", label="true capacity")
    label = f"{_name(run, style)}, {believed_capacity(run, link)}"
    axes.plot(time_s, estimate * 1e-6, color=_colour(run, style), label=label)
    axes.set_ylabel("capacity (Mbit/s)")
    return _finish(axes, run)


@styled
def estimate_error(
    run: RunResult, axes: Axes | None = None, style: Style | None = None, link: int | None = None
) -> Axes:
    """Plot the error of the capacity estimate in percent of the true capacity.

    Parameters are those of `capacity_estimate`.
    """
    axes = axes or new_axes()
    time_s, estimate, capacity = _estimate(run, link)
    error = percentage_error(estimate, capacity)
    axes.axhspan(-10, 10, color="#eeeeee", label="±10 %")
    axes.axhline(0, color="#444444", linewidth=0.8)
    label = f"{_name(run, style)}, error of the {believed_capacity(run, link)}"
    axes.plot(time_s, error, color=_colour(run, style), label=label)
    axes.set_ylim(-105, max(105.0, min(float(np.nanmax(error, initial=0.0)) * 1.05, _LARGEST_ERROR)))
    axes.set_ylabel("error (%)")
    return _finish(axes, run)


def believed_capacity(run: RunResult, link: int | None = None) -> str:
    """Return the name of the capacity that the router of a link uses: only some routers estimate it."""
    link = link_under_test(run.record.plan) if link is None else link
    source = run.record.plan["links"][link]["queue"].get("source", {})
    return {"configured": "configured capacity", "oracle": "capacity from the oracle"}.get(
        source.get("kind"), "estimate"
    )


@styled
def estimation(run: RunResult, style: Style | None = None, link: int | None = None) -> Figure:
    """Plot the capacity estimate with the true capacity, and its error below."""
    figure, (above, below) = _panels((1.6, 1.0))
    capacity_estimate(run, above, style, link)
    estimate_error(run, below, style, link)
    above.set_xlabel("")
    return figure


@styled
def filter_state(run: RunResult, style: Style | None = None, link: int | None = None) -> Figure:
    """Plot the state of EBE's filter: both parts of x̂ with the measurements, P, and K.

    Parameters
    ----------
    run
        The run.
    style
        Style of each scheme; as registered by default.
    link
        Index of the link; the link under test by default.
    """
    figure, (queue, rate, covariance, gain) = _panels((1.0, 1.0, 1.0, 1.0))
    colour = _colour(run, style)
    for axes, measured, state, unit in (
        (queue, ("queue_mean_packets", "z, measured"), ("x1", "filter's queue x1"), "packets"),
        (rate, ("arrival_rate_pps", "arrivals"), ("x2", "filter's arrival rate x2"), "packets/s"),
    ):
        _line(axes, run, link, *measured, color="#999999", linewidth=0.8)
        _line(axes, run, link, *state, color=colour)
        axes.set_ylabel(unit)
    for axes, names, title in (
        (covariance, ("p11", "p12", "p22"), "P"),
        (gain, ("k1", "k2"), "K"),
    ):
        for name, linestyle in zip(names, ("-", "--", ":"), strict=False):
            _line(axes, run, link, name, name[0].upper() + name[1:], color=colour, linestyle=linestyle)
        axes.set_ylabel(title)
        axes.set_yscale("symlog", linthresh=_smallest(run, link, names))
    for axes in (queue, rate, covariance, gain):
        _finish(axes, run)
        axes.set_xlabel("time (s)" if axes is gain else "")
    return figure


@styled
def load_factor(
    run: RunResult, axes: Axes | None = None, style: Style | None = None, link: int | None = None
) -> Axes:
    """Plot the load factor of a router of VCP or MPCP, with the limits of VCP's three regions.

    Parameters are those of `capacity_estimate`.
    """
    axes = axes or new_axes()
    for limit, label in ((0.8, "80 %: below, low load"), (1.0, "100 %: above, overload")):
        axes.axhline(limit, color="#444444", linewidth=0.8, linestyle=":" if limit < 1 else "--", label=label)
    _line(axes, run, link, "load_factor", f"{_name(run, style)}, load factor", color=_colour(run, style))
    axes.set_ylabel("load factor")
    axes.set_ylim(bottom=0)
    return _finish(axes, run)


@styled
def feedback(
    run: RunResult, axes: Axes | None = None, style: Style | None = None, link: int | None = None
) -> Axes:
    """Plot the aggregate feedback of a router of XCP.

    Parameters are those of `capacity_estimate`.
    """
    axes = axes or new_axes()
    axes.axhline(0, color="#444444", linewidth=0.8)
    label = f"{_name(run, style)}, aggregate feedback"
    _line(axes, run, link, "feedback", label, scale=8e-6, color=_colour(run, style))
    axes.set_ylabel("feedback (Mbit/s)")
    return _finish(axes, run)


@styled
def queue_share(
    run: RunResult, axes: Axes | None = None, style: Style | None = None, link: int | None = None
) -> Axes:
    """Plot the queue as a percentage of the buffer, with the threshold of EBE's queue maintainer.

    The bottom is shaded while the maintainer is on. Nothing is plotted if the queue has no limit.

    Parameters are those of `capacity_estimate`.
    """
    axes = axes or new_axes()
    link = link_under_test(run.record.plan) if link is None else link
    plan = run.record.plan["links"][link]["queue"]
    series = columns(run.link_series)
    mine = series["link"] == link
    in_packets = plan.get("limit_bytes") is None
    limit = plan.get("limit_packets") if in_packets else plan["limit_bytes"]
    if limit:
        mean = series["queue_mean_packets" if in_packets else "queue_mean_bytes"][mine] * 100 / limit
        colour = _colour(run, style)
        axes.plot(series["time_s"][mine], mean, color=colour, label=f"{_name(run, style)}, mean in interval")
    source = plan.get("source", {})
    if source.get("kind") == "ebe" and source["maintainer"] != "off":
        threshold = source["threshold"] * 100
        label = f"maintainer's threshold, {threshold:.3g} %"
        axes.axhline(threshold, color="#b2182b", linewidth=0.8, linestyle="--", label=label)
        time_s, on = _observed(run, link, "maintainer_on")
        axes.fill_between(
            time_s,
            0,
            0.04,
            where=(on > 0).tolist(),
            step="pre",
            transform=axes.get_xaxis_transform(),
            color="#b2182b",
            alpha=0.35,
            linewidth=0,
            label="maintainer on",
        )
    axes.set_ylabel("queue (% of buffer)")
    axes.set_ylim(bottom=0)
    return _finish(axes, run)


def reports(run: RunResult, quantity: str) -> bool:
    """Return whether the router at the link under test reports a quantity."""
    return _observed(run, None, quantity)[0].size > 0


_LARGEST_ERROR = 400.0
"""Larger errors, in percent, are cut off: a link that nearly stops makes any error huge."""

_SMALLEST_PART = 1e-6
"""The smallest value on logarithmic axes, as a fraction of the largest one."""


def _panels(heights: Sequence[float]) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(PAGE_IN, 1.6 * sum(heights)), layout="constrained")
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    axes: list[Axes] = []
    for row in range(len(heights)):
        axes.append(figure.add_subplot(grid[row], sharex=axes[0] if axes else None))
    return figure, axes


def _line(
    axes: Axes,
    run: RunResult,
    link: int | None,
    quantity: str,
    label: str,
    scale: float = 1.0,
    **look: Any,
) -> None:
    time_s, values = _observed(run, link, quantity)
    if time_s.size:
        axes.plot(time_s, values * scale, label=label, **look)


def _observed(
    run: RunResult, link: int | None, quantity: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    link = link_under_test(run.record.plan) if link is None else link
    return observed(_observations(run), link, quantity)


def _estimate(
    run: RunResult, link: int | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    link = link_under_test(run.record.plan) if link is None else link
    return estimate_and_capacity(_observations(run), columns(run.link_series), link)


def _observations(run: RunResult) -> Mapping[str, npt.NDArray[Any]]:
    return columns(run.link_observations)


def _lengths(run: RunResult, time_s: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the length of the interval that ends at each time; there may be gaps between intervals."""
    interval_s = run.record.plan["record"]["interval_ns"] / 1e9
    lengths: npt.NDArray[np.float64] = np.minimum(np.diff(time_s, prepend=0.0), interval_s)
    return lengths


def _smallest(run: RunResult, link: int | None, names: Sequence[str]) -> float:
    """Return the value below which a symmetric logarithmic axis is linear: the smallest worth a decade."""
    values = np.abs(np.concatenate([_observed(run, link, name)[1] for name in names]))
    values = values[np.isfinite(values) & (values > 0)]
    return max(float(values.min()), float(values.max()) * _SMALLEST_PART) if values.size else 1.0


def _name(run: RunResult, style: Style | None) -> str:
    return (style or style_for([run.record.scheme]))[run.record.scheme].display_name


def _colour(run: RunResult, style: Style | None) -> str:
    return (style or style_for([run.record.scheme]))[run.record.scheme].colour


def _finish(axes: Axes, run: RunResult) -> Axes:
    axes.set_xlabel("time (s)")
    axes.set_xlim(0, run.record.plan["duration_ns"] / 1e9)
    legend_above(axes)
    return axes
