"""The report: a view of results (`airpath.views`) as one HTML file that needs nothing else.

`block` packs numbers, `head` describes them, `page` joins everything, `notebook` shows a page in a cell.
"""
