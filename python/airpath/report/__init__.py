"""The report: one HTML file that needs nothing else."""

from airpath.report.html import report_html

__all__ = ["report_html"]
