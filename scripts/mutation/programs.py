"""Runs the programs that should detect a mutant, with limits of time and memory."""

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time

# The last line of a failed test program, of the crash catalogue, of the fuzzer and of Swift's tests.
FAILURE = re.compile(rb"^FAILED: (.*)|^FAIL (.*)|ERROR: (.*Sanitizer.*)|WARNING: (ThreadSanitizer.*)|^\S+ Test (.*) failed after", re.M)
SLOW = "no end"


class Program:
    """A program to run; `seconds` is its usual duration."""

    def __init__(self, name, command, environment=(), memory=None):
        self.name, self.command, self.environment, self.memory = name, [str(word) for word in command], dict(environment), memory
        self.seconds = 1.0

    def limits(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, resource.RLIM_INFINITY))
        if self.memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (self.memory, self.memory))

    def run(self, folder, patience=None):
        """Returns None if the program passes, otherwise what detected the mutant."""
        limit = patience or max(10.0, 6 * self.seconds)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        noticed = self.run_within(limit, folder, patience is None)
        had_time = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before > limit / 2
        if noticed == SLOW and patience is None and not had_time and os.getloadavg()[0] > os.cpu_count():
            noticed = self.run_within(4 * limit, folder, False)  # other programs have taken its time
        return f"no end within {limit:.0f} s" if noticed == SLOW else noticed

    def run_within(self, limit, folder, is_usual):
        began = time.monotonic()
        environment = {**os.environ, **self.environment}
        environment.pop("KVO_POLICY", None)
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(self.command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=self.limits)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                return SLOW
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            output.seek(0)
            match = FAILURE.search(output.read())
        if match:
            return next(group for group in match.groups() if group is not None).decode(errors="replace").strip()
        if status != 0:
            return f"status {status}"
        self.seconds = max(self.seconds if is_usual else 0, time.monotonic() - began)
        return None


def require_passing(programs, folder, patience):
    """Runs programs without a mutation. Stops if one fails three times: what it would say of a mutant means nothing."""
    for program in programs:
        noticed = [program.run(folder, patience)]
        while noticed[-1] and len(noticed) < 3:
            noticed.append(program.run(folder, patience))
        if noticed[-1]:
            raise SystemExit(f"mutate: {program.name} fails without a mutation: {noticed[-1]}")


class Memory:
    """The programs that have killed mutants of each file; they are run first."""

    def __init__(self, path):
        self.path = path
        self.kills = json.loads(path.read_text()) if path.exists() else {}

    def note(self, source, program):
        of_file = self.kills.setdefault(source, {})
        of_file[program] = of_file.get(program, 0) + 1
        self.path.write_text(json.dumps(self.kills, indent=1, sort_keys=True))

    def ordered(self, source, programs):
        total = {}
        for of_file in self.kills.values():
            for name, count in of_file.items():
                total[name] = total.get(name, 0) + count
        own = self.kills.get(source, {})

        def worth(program):
            return (20 * own.get(program.name, 0) + total.get(program.name, 0) + 1) / (0.1 + program.seconds)

        return sorted(programs, key=worth, reverse=True)
