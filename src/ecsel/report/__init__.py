"""A fitted model as one HTML file that an analyst, and a regulator who never met them, can read, print and try."""

from ecsel.report.write import render_report, write_report

__all__ = ["render_report", "write_report"]
