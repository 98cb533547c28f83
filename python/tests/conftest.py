"""What all tests need."""

import signal

# A shell that starts the tests in the background has them and their child processes ignore interrupts. The
# tests of interrupts need what a terminal gives.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
