"""Controllers of other programs: source files, compiled for the engine.

`linux/` and `picoquic/` have the C files and headers that replace these programs, `common/` what both need.
"""
