"""What there is to see in results, as data: names, styles, numbers, panels, pairs, sections.

Nothing here draws. `airpath.explorer` draws a view as a page; `airpath.plots` takes styles and distributions
from here for its figures.
Nothing is imported here: `precision` is used before anything slow is loaded.
"""
