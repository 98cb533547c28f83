"""`python -m airpath`: the command line."""

from airpath.cli import main

main()
