"""What holds for all tests."""

from __future__ import annotations

import signal

# A job in the background of a shell ignores SIGINT, and so would the commands that the tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
