"""The papers that airpath replays: figures and tables as experiments, pictures and judged statements.

`airpath reproduce` is the command; `airpath.papers.registry` lists what there is, `airpath.papers.reproduce`
does the work.
"""
