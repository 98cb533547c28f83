"""`airpath view`: the report of any results below some directories, with data on demand.

`found` lists the results, `shown` describes a selection, `detail` a part of one run, `sweep` a sweep;
`server` answers requests of the page.
"""
