"""What holds for all tests."""

from __future__ import annotations

import signal
from collections import Counter

import pytest

# A job in the background of a shell ignores SIGINT, and so would the commands that the tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end of a run why tests were skipped: each reason once, with the number of tests."""
    skipped = [report.longrepr for report in terminalreporter.getreports("skipped")]
    reasons = Counter(str(why[2] if isinstance(why, tuple) else why).removeprefix("Skipped: ") for why in skipped)
    for reason, number in sorted(reasons.items()):
        terminalreporter.write_line(f"{number} skipped: {reason}")
