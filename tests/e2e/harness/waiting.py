"""Waiting for a condition, never for a time."""

import time


class NotInTime(AssertionError):
    """The condition did not come true before the deadline. The message says what was waited for."""


def wait_for(condition, deadline, what, interval=0.02, detail=None):
    """Calls condition until it returns something true, and returns that.

    deadline is in seconds from now, what completes the sentence "waited for ...", detail() is asked once for
    more to say when the time is up. An exception of the condition ends the wait: a condition that can fail
    for a while says so by returning False.
    """
    end = time.monotonic() + deadline
    pause = interval
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            more = f"\n{detail()}" if detail else ""
            raise NotInTime(f"waited {deadline:g} s for {what}; last seen: {value!r}{more}")
        time.sleep(min(pause, max(0.0, end - time.monotonic())))
        pause = min(pause * 1.5, 0.25)
