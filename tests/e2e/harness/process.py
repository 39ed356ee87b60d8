"""One process of the control plane: started with a log of its own, measured, ended for certain."""

import atexit
import os
import pathlib
import signal
import subprocess
import sys
import threading

_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
_guard_lock = threading.Lock()
_guard = None


def _tell_guardian(line):
    """See guardian.py: whatever happens to this process, its children do not outlive it."""
    global _guard
    with _guard_lock:
        if _guard is None or _guard.poll() is not None:
            _guard = subprocess.Popen(
                [sys.executable, str(pathlib.Path(__file__).with_name("guardian.py"))],
                stdin=subprocess.PIPE,
                start_new_session=True,
                text=True,
            )
            atexit.register(_dismiss, _guard)
        _guard.stdin.write(line + "\n")
        _guard.stdin.flush()


def _dismiss(guard):
    guard.stdin.close()
    guard.wait()


class Process:
    """A running program. It is the leader of a process group of its own; ending it ends the group."""

    def __init__(self, name, arguments, log, environment=None):
        self.name = name
        self.arguments = [str(argument) for argument in arguments]
        self.log = pathlib.Path(log)
        self._environment = {**os.environ, **(environment or {})}
        self._popen = None
        self._finished = True
        self.start()

    def start(self):
        """Starts the program, or starts it again after it ended. The log goes on."""
        assert not self.alive(), f"{self.name} runs already"
        with self.log.open("ab") as output:
            self._popen = subprocess.Popen(
                self.arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self._environment,
                start_new_session=True,
            )
        self._finished = False
        _tell_guardian(f"+{self.pid}")

    @property
    def pid(self):
        return self._popen.pid

    @property
    def exit_code(self):
        """None while it runs; negative is the signal that ended it."""
        return self._popen.poll()

    def alive(self):
        return self._popen is not None and self._popen.poll() is None

    def send(self, number):
        if self.alive():
            self._popen.send_signal(number)

    def wait(self, deadline):
        """Waits for the program to end by itself and returns its exit code."""
        try:
            code = self._popen.wait(deadline)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} did not end within {deadline:g} s\n{self.tail()}") from None
        self._finish()
        return code

    def stop(self, deadline=20):
        """Asks the program to end, kills it if it does not, and returns when it is gone."""
        self.send(signal.SIGTERM)
        try:
            self._popen.wait(deadline)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            self._popen.wait()
        self._finish()

    def kill(self):
        """Ends the program as kill -9 does: no goodbye."""
        self.send(signal.SIGKILL)
        self._popen.wait()
        self._finish()

    def pause(self):
        """Freezes the program (SIGSTOP), as a machine that stalls. resume() lets it go on."""
        self.send(signal.SIGSTOP)

    def resume(self):
        self.send(signal.SIGCONT)

    def _finish(self):
        """After the program itself ended: ends what is left of its group, once."""
        if self._finished:
            return
        self._finished = True
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        _tell_guardian(f"-{self.pid}")

    def tail(self, lines=30):
        """The end of the log, for messages."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return f"--- {self.name}, end of its log\n" + "\n".join(text.splitlines()[-lines:])

    def cpu_seconds(self):
        """User and system time used so far by the program and its children that still run."""
        return sum(_cpu_seconds(pid) for pid in self._group())

    def memory_bytes(self):
        """Resident memory now."""
        return sum(_status_bytes(pid, "VmRSS") for pid in self._group())

    def memory_peak_bytes(self):
        """Largest resident memory so far."""
        return sum(_status_bytes(pid, "VmHWM") for pid in self._group())

    def _group(self):
        """The program's process ids. Usually one; more when it was started through a wrapper."""
        members = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                fields = _stat_fields(int(entry))
                if fields and int(fields[2]) == self.pid:
                    members.append(int(entry))
        return members


def _stat_fields(pid):
    """The fields of /proc/PID/stat after the name, which may itself hold spaces: state, ppid, pgrp, ..."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split()


def _cpu_seconds(pid):
    fields = _stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS if fields else 0.0


def _status_bytes(pid, key):
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
