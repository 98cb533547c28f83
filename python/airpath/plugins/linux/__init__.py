"""Congestion control modules of Linux: source files, compiled for the engine.

`shim/` has the C files and headers that replace the kernel.
"""
