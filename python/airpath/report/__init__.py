"""The report: one HTML file that needs nothing else."""

from airpath.report.drawing import draw
from airpath.report.html import report_html

__all__ = ["draw", "report_html"]
