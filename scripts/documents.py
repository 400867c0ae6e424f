"""Runs the commands in the documents, each once, as Tests/Documents/commands.txt specifies.

usage: documents.py OUT [--slow]
"""

import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "Documentation").glob("*.md")),
             ROOT / "Documentation/Faults/README.md", ROOT / "Examples/README.md"]
TABLE = ROOT / "Tests/Documents/commands.txt"
# A command in backquotes has arguments: the name of a program alone does not count.
INLINE = re.compile(r"(make|swift|kvo|gdb|dot|apt-get|pkg-config|jq|cmake|ctest) \S|(scripts|CShim/abi)/\S+\.sh|\.ci/run|build/c/\S+/test")
SECONDS = 1800  # a cold release build of the tools, swift-syntax included, takes more than ten minutes


def commands(text):
    """Returns the lines of shell blocks, without comments, and the commands in the running text."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
        yield from (re.sub(r"\s+# .*", "", line).strip() for line in block.splitlines() if line.strip())
    for quoted in re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        quoted = " ".join(quoted.split())
        if INLINE.match(quoted):
            yield quoted


def table():
    """Returns {command: (how, what)}; how is "", "slow" or "elsewhere"."""
    rows = {}
    for line in TABLE.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"(.+?) (=>|=slow>|==) (.+)", line)
        if not match:
            sys.exit(f"{TABLE.relative_to(ROOT)}: what is this line? {line}")
        rows[match[1]] = {"=>": "", "=slow>": "slow", "==": "elsewhere"}[match[2]], match[3]
    return rows


def main(out, *options):
    rows, found, failed, ran = table(), {}, [], 0
    out = pathlib.Path(out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    for document in DOCUMENTS:
        for command in commands(document.read_text()):
            found.setdefault(command, document.relative_to(ROOT))
    unused = [command for command in rows if command not in found]
    if unused:
        sys.exit(f"{TABLE.relative_to(ROOT)}: no document has these any more: {unused}")
    for command, document in found.items():
        # The programs that were built are on the PATH.
        how, short = rows.get(command, ("", re.sub(r"^swift run --package-path \S+ ", "", command)))
        if how == "elsewhere" or (how == "slow" and "--slow" not in options):
            continue
        ran += 1
        began = time.monotonic()
        try:
            done = subprocess.run(["bash", "-euc", short], cwd=ROOT, env={**os.environ, "out": str(out)}, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS)
            status, said = done.returncode, done.stdout
        except subprocess.TimeoutExpired as late:
            status, said = f"no end within {SECONDS} s", (late.stdout or b"").decode(errors="replace")
        if status != 0:
            failed.append(command)
            print(f"{document}: \"{command}\" fails, status {status}: {short}\n{said[-3000:]}", flush=True)
        elif time.monotonic() - began > 5:
            print(f"{time.monotonic() - began:4.0f} s  {short}", flush=True)
    print(f"documents: {ran} commands run, {len(failed)} fail, of {len(found)} that {len(DOCUMENTS)} documents name")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
