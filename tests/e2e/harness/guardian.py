"""Ends the processes of a test run that was killed before it could clean up.

Runs as a process of its own. Lines "+PID" and "-PID" on standard input say which processes live; the end of
input while some still do means that the test run is gone, and they are killed.
"""

import os
import signal
import sys


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the test run, which then ends its input here
    living = []
    for line in sys.stdin:
        pid = int(line[1:])
        if line[0] == "+":
            living.append(pid)
        elif pid in living:
            living.remove(pid)
    for pid in reversed(living):
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


if __name__ == "__main__":
    main()
