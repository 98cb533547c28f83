"""The content of result reports, as data: names, styles, numbers, panels, pairs, sections.

Nothing here plots. `airpath.explorer` renders a view as a page; `airpath.plots` takes styles and
distributions from here for its figures.
Nothing is imported here: `precision` is used before any slow module is loaded.
"""
