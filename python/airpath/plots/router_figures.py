"""The standard figures of a run whose link under test has a router, each with its caption."""

from airpath.metrics.run import link_under_test
from airpath.plots.router import (
    believed_capacity,
    estimation,
    feedback,
    filter_state,
    load_factor,
    queue_share,
    reports,
)
from airpath.plots.standard_figure import StandardFigure, figure_of
from airpath.results import RunResult
from airpath.views.styles import Style


def router_figures(run: RunResult, stem: str, style: Style) -> list[StandardFigure]:
    """Return figures of the reports of the router at the link under test; none without a router.

    Parameters
    ----------
    run
        The run.
    stem
        The scheme as a part of file names.
    style
        Style of each scheme.
    """
    plan = run.record.plan
    if not plan["links"] or plan["links"][link_under_test(plan)]["queue"]["kind"] != "router":
        return []
    figures = []
    if reports(run, "capacity_estimate_bps"):
        figures.append(
            StandardFigure(
                f"estimate-{stem}",
                f"Capacity that the router at the link under test goes by ({believed_capacity(run)}) at the "
                "end of each interval, over the true capacity of the interval (shaded); below, its error in "
                "percent of the true capacity.",
                estimation(run, style),
                run,
            )
        )
    if reports(run, "x1"):
        figures.append(
            StandardFigure(
                f"filter-{stem}",
                "EBE's filter at the end of each interval: a posteriori queue x1 and the mean z of its "
                "samples, a posteriori arrival rate x2 and the measured one, error covariance P and "
                "Kalman gain K (both symmetric logarithmic).",
                filter_state(run, style),
                run,
            )
        )
    if reports(run, "load_factor"):
        figures.append(
            StandardFigure(
                f"load-factor-{stem}",
                "Load factor of the router at the link under test; VCP's three load regions meet at 80 and "
                "100 %.",
                figure_of(load_factor(run, style=style)),
                run,
            )
        )
    if reports(run, "feedback"):
        figures.append(
            StandardFigure(
                f"feedback-{stem}",
                "Aggregate feedback of the router at the link under test: the change of throughput that it "
                "gives out (above zero) or takes back.",
                figure_of(feedback(run, style=style)),
                run,
            )
        )
    figures.append(
        StandardFigure(
            f"queue-share-{stem}",
            "Queue of the link under test as a share of its buffer, time-weighted mean in each interval, "
            "with the threshold of EBE's queue maintainer where there is one; at the bottom, when it probes.",
            figure_of(queue_share(run, style=style)),
            run,
        )
    )
    return figures
