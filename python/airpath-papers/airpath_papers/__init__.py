"""The papers that airpath replays: figures and tables as experiments, pictures and judged statements.

`airpath reproduce` is the command; `airpath_papers.registry` lists what there is, `airpath_papers.reproduce`
does the work.
"""
