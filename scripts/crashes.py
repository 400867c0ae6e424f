#!/usr/bin/env python3
"""Runs the crash catalogue: each scenario in a process of its own, with the default policy. Checks how it ends, the codes of its faults,
and that its report names the lines of the source that the scenario marks; and those that can in one process, with a handler that goes on.

usage: crashes.py [--reports FILE [--bless]] [--record] [--json FILE] COMMAND…

COMMAND is kvo_crash or "kvo crash", also behind another program such as valgrind. --reports compares the whole reports of the scenarios
that have a section in the file, --bless writes them there; the reports of C also as JSON, of all faults. --record runs the one process
only. --json writes what has to be the same in all builds. KVO_CRASH_SECONDS is the time limit of a scenario.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAULTS = (ROOT / "Documentation/Faults/README.md").read_text()
SEVERITIES = {int(code): severity for code, severity in re.findall(r"^\| \[KVO(\d+)\]\(.*?\) \| (\w+) \|", FAULTS, re.M)}
SECONDS = float(os.environ.get("KVO_CRASH_SECONDS", 30))
BY_CODES, WELL, ABORTED = range(3)
ALONE, OR_MORE, UNREADABLE = 1, 2, 4
FAILED_CHECK = "exit 70"
# Also what follows the first fault, with events and values. The depth would depend on the size of the stack.
AS_JSON = "KVO_REPORT=json KVO_POLICY=log KVO_HISTORY=4 KVO_VALUES=1 KVO_MAX_DEPTH=20"


# The caller's settings must not change the results.
ENVIRONMENT = {"SWIFT_BACKTRACE": "enable=no"} | {name: value for name, value in os.environ.items() if not name.startswith("KVO_")}


def run(command, scenario, variables=""):
    """Runs a scenario. Returns how it ended, and its report."""
    # Nor may a leak caused by misuse, nor a search of fake stacks after longjmp.
    environment = ENVIRONMENT | {"ASAN_OPTIONS": "detect_leaks=0:handle_abort=0:detect_stack_use_after_return=0"}
    environment |= dict(each.split("=", 1) for each in f"{scenario['environment']} {variables}".split())
    try:
        done = subprocess.run([*command, "--here", scenario["id"]], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=SECONDS)
    except subprocess.TimeoutExpired as late:
        return "time limit", (late.stderr or b"").decode(errors="replace")
    ended = signal.Signals(-done.returncode).name if done.returncode < 0 else f"exit {done.returncode}"
    return ended, done.stderr.decode(errors="replace")


# ------------------------------------------------------------------------------------------------------------------- Judging


def expected(scenario, in_child):
    """The codes: "2 1", "3*50". In a process of its own nothing follows the first fatal one."""
    codes = [int(code) for each in scenario["codes"].split() for code in [each.split("*")[0]] * int((each + "*1").split("*")[1])]
    if in_child and scenario["ending"] == BY_CODES:
        fatal = next((index for index, code in enumerate(codes) if SEVERITIES[code] == "fatal"), len(codes))
        return codes[:fatal + 1]
    return codes


def wrong_codes(scenario, seen, in_child):
    codes = expected(scenario, in_child)
    again = codes[-1:] * (len(seen) - len(codes)) if scenario["flags"] & OR_MORE else []
    if seen != codes + again:
        yield f"expected {codes}, saw {seen}"


def marked(scenario):
    """The lines of the source that the report has to name."""
    source = pathlib.Path(scenario["file"])
    for number, line in enumerate(source.read_text().splitlines() if source.exists() else [], 1):
        if f" site {scenario['id']}: " in line:
            yield f"{source.name}:{number}"


def wrong_first_line(report):
    """For readers who see nothing else: it has a place if the report knows one. A fault about the environment has none."""
    first = report.split("\n")[0]
    place = r"\.(swift|c):\d+"
    knows = not first.startswith("KVO0034") and re.search(r"at \S+" + place, report)
    if not first.startswith('{"schema":1,"code":"KVO') and (not re.match(r"KVO\d{4} [a-z]+: .", first) or knows and not re.search(place, first)):
        yield f"the first line: {first}"


def judge(scenario, ended, report):
    codes = expected(scenario, True)
    dies = scenario["ending"] == ABORTED or scenario["ending"] == BY_CODES and codes and SEVERITIES[codes[-1]] == "fatal"
    if ended == FAILED_CHECK:
        yield report
    if ended != (end := "SIGABRT" if dies else "exit 0"):
        yield f"expected {end}, ended with {ended}"
    if not scenario["flags"] & UNREADABLE:
        yield from wrong_codes(scenario, codes_of(report), True)
    if not scenario["codes"] and not scenario["contains"] and report:
        yield "it is no misuse, but it was reported"
    if scenario["codes"] and report:
        yield from wrong_first_line(report)
    yield from (f'the report does not say "{text}"' for text in filter(None, scenario["contains"].split("|")) if text not in report)
    yield from (f'the report says "{text}"' for text in filter(None, scenario["lacks"].split("|")) if text in report)
    yield from (f"the report does not name {site}" for site in marked(scenario) if not re.search(re.escape(site) + r"(?!\d)", report))


def codes_of(report):
    return [int(one or other) for one, other in re.findall(r'^(?:KVO(\d{4}) |\{"schema":1,"code":"KVO(\d{4}))', report, re.M)]


# ------------------------------------------------------------------------------------------------------------------- Reports


def normalised(report):
    """A report without what differs from run to run: addresses, lines, threads, times and stacks."""
    number = r"(?<!\w)\d+(?:\.\d*)?"
    lines = []
    for line in report.splitlines():
        if re.match(r" *(\(\d+ more frames|#\d[\d ])", line):
            if lines[-1:] != ["        (a stack)"]:
                lines.append("        (a stack)")
            continue
        if line.startswith("  modules: "):
            line = "  modules: (those of the stacks)"
        elif line.startswith("  process "):
            line = "  process (its id, program, time and version)"
        else:
            line = re.sub(r"(?<!\w)0x[0-9a-f]+", "ADDRESS", line)
            line = re.sub(r"#\d+", "#N", line)
            line = re.sub(r"(?<!\w)thread \d+", "thread N", line)
            line = re.sub(number + r"(?= deep| more times| outer deliver)", "N", line)
            line = re.sub(r"(?<=:)\d+(?:\.\d*)?", "LINE", line)
            line = re.sub(number + r"(?= m?s(?!\w))", "T", line)
            line = re.sub(r"(?<!\w)/[^: \n\"']*/", "", line)
        lines.append(line)
    return lines


def spread(line):
    """A report in JSON with each member in a line, and each element of an array that is one. Stacks differ between builds."""
    line = re.sub(r'"(buildId|program|threadName|time|version)":[^,]*', r'"\1":...', re.sub(r'"stack":\[\{[^\]]*\]', '"stack":[...]', line))
    out, depth = "", 0
    for text, sign in re.findall(r'("[^"]*"|[^"{}\[\],]+)|(.)', line):
        depth += (sign in ("{", "[")) - (sign in ("}", "]"))
        out += text + sign
        if sign == "," and (depth == 1 or depth == 2 and line[len(out.replace("\n    ", "")):][:1] == "{"):
            out += "\n    "
    return out


def whole(command, scenario):
    """The lines of a scenario's reports, as the file of reports has them."""
    report = normalised(run(command, scenario)[1])
    if scenario["id"].endswith("c") and not scenario["environment"]:
        report += normalised(run(command, scenario, AS_JSON)[1])
    # JSON is not repeated for a repeated fault.
    lines = [spread(line) if line.startswith("{") else line for line in report if line]
    return "".join(f"  {line}\n" for line, again in itertools.groupby(lines) for line in ([line] if line[0] == "{" else again))


def sections(path):
    parts = re.split(r"^== (\S+)\n", pathlib.Path(path).read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


# --------------------------------------------------------------------------------------------------------------- All of them


def recorded(command, scenarios):
    """Runs those that can in one process. Yields the id and what is wrong."""
    done = subprocess.run([*command, "--record"], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")
    seen = dict(re.findall(r"^(K[\d.]+c?):((?: \d+)*)$", done.stdout, re.M))
    for scenario in scenarios:
        if not scenario["environment"] and not scenario["flags"] & ALONE:
            codes = seen.get(scenario["id"])
            yield scenario["id"], ["in one process: it was not run"] if codes is None else list(
                wrong_codes(scenario, [int(code) for code in codes.split()], False))
    said = re.findall(r"^.*: it does not hold that .*$", done.stdout, re.M)
    yield "--record", said + ([] if done.returncode == 0 else [f"in one process: status {done.returncode}"])


def complete(scenarios):
    """Each row of the catalogue that names its scenario has one, and each code a scenario or an example that is run."""
    rows = {scenario["id"].split(".")[0].rstrip("c") for scenario in scenarios}
    missing = set(re.findall(r"^\| (K\d+) \|.*`kvo crash \1` \|$", FAULTS, re.M)) ^ rows
    codes = {code for code, severity in SEVERITIES.items() if severity != "none"}
    examples = "".join(path.read_text() for path in (ROOT / "Tests/FaultPageTests").glob("*.swift"))
    raised = {int(code) for code in re.findall(r"\bpage\((\d+)", examples)}
    missing |= codes ^ raised.union(*(expected(scenario, False) for scenario in scenarios))
    yield "the catalogue", [f"no scenario or example has {each}, or it is not in Documentation/Faults/README.md" for each in sorted(map(str, missing))]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--reports")
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command
    listed = subprocess.run([*command, "--scenarios"], stdout=subprocess.PIPE, text=True, check=True).stdout
    scenarios = [json.loads(line) for line in listed.splitlines() if line.startswith("{")]
    kept = sections(options.reports) if options.reports else {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        if options.bless:
            present = pool.map(lambda each: (each["id"], whole(command, each)), [each for each in scenarios if each["id"] in kept])
            pathlib.Path(options.reports).write_text("".join(f"== {name}\n{text}" for name, text in present))
            return 0
        verdicts = list(recorded(command, scenarios))
        if any(not scenario["id"].endswith("c") for scenario in scenarios):
            verdicts += complete(scenarios)
        results = [] if options.record else list(pool.map(lambda each: run(command, each), scenarios))
        verdicts += [(each["id"], list(judge(each, *result))) for each, result in zip(scenarios, results)]
        compared = [] if options.record else [each for each in scenarios if each["id"] in kept]
        for each, present in zip(compared, pool.map(lambda each: whole(command, each), compared)):
            old, new = next((pair for pair in itertools.zip_longest(kept[each["id"]].split("\n"), present.split("\n")) if pair[0] != pair[1]), (0, 0))
            verdicts.append((each["id"], [] if old == new else [f"not the report in {options.reports}\n  - {old}\n  + {new}"]))
    if options.json:
        rows = ({"id": each["id"], "ended": ended, "codes": codes_of(report), "firstLines": [line for line in normalised(report) if line.startswith("KVO")]}
                for each, (ended, report) in zip(scenarios, results))
        pathlib.Path(options.json).write_text("".join(json.dumps(row) + "\n" for row in rows))
    failed = [(name, problems[0]) for name, problems in verdicts if problems]
    for name, problem in failed:
        print(f"FAILED: {name}: {problem}")
    print(f"{len(verdicts) - len(failed)} passed, {len(failed)} failed")
    return bool(failed)


sys.exit(main())
