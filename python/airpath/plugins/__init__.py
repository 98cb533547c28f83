"""Congestion controllers that are not part of airpath: classes in Python files, and shared libraries."""
