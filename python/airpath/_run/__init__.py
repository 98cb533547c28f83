"""Runs in parallel threads and processes."""
