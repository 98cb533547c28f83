"""The report: one HTML file that needs nothing else.

Nothing is imported here: `precision` is used before anything slow is loaded.
"""
