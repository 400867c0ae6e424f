"""The command line of scripts/mutate.sh: selects mutants, tests each, and prints the survivors and the score."""

import argparse
import collections
import importlib
import pathlib
import signal
import sys
import time

from source import drawn, equivalents

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LANGUAGES = {"c": "c_runtime", "swift": "swift_layer"}


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/mutate.sh", description="Changes the sources at random places; tests have to notice.")
    parser.add_argument("--language", choices=LANGUAGES, default="c")
    parser.add_argument("--count", type=int, default=50, help="how many mutants, not counting those that change nothing (50)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--files", default="", help="names of sources, or name:line, with commas; all unless told")
    parser.add_argument("--kinds", default="", help="kinds of mutations, with commas; all unless told")
    parser.add_argument("--budget", type=float, default=0, help="begin no mutant after so many seconds")
    parser.add_argument("--quick", action="store_true", help="without sanitizers and fuzzers: survivors may be known to them")
    parser.add_argument("--list", action="store_true", help="print the drawn mutants only")
    return parser.parse_args()


def candidates(engine, options):
    places, kinds = set(filter(None, options.files.split(","))), set(filter(None, options.kinds.split(",")))

    def is_wanted(mutant):
        name = mutant.path.rsplit("/", 1)[-1]
        return (not kinds or mutant.kind in kinds) and (not places or name in places or f"{name}:{mutant.line}" in places)

    names = {place.split(":")[0] for place in places}
    found = [mutant for path in engine.sources(names) for mutant in engine.mutants(path) if is_wanted(mutant)]
    if not found:
        raise SystemExit("mutate: no mutants: check --files and --kinds")
    return found


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mutate: ended"))  # and what it runs with it
    engine = importlib.import_module(LANGUAGES[options.language])
    found = candidates(engine, options)
    queue = drawn(found, options.seed)
    listed = equivalents(ROOT / "Tests/Mutation/equivalent.txt")
    if options.list:
        for mutant in queue[: options.count]:
            print(mutant.shown())
        return 0
    print(f"mutate: {len(found)} possible mutants; seed {options.seed}", flush=True)
    folder = ROOT / "build/mutants" / options.language
    worker = engine.Worker(folder, options)
    worker.begin()

    began, results, skipped = time.monotonic(), [], collections.Counter()
    for mutant, (verdict, by) in worker.judged(queue, listed):
        if verdict in ("killed", "survived"):
            results.append((mutant, verdict))
            mark = "killed  " if verdict == "killed" else "SURVIVED"
            print(f"{len(results):4} {mark} {mutant.path.rsplit('/', 1)[-1]}:{mutant.line} {mutant.kind}  {by}", flush=True)
            if verdict == "survived":
                print("\n".join(mutant.shown().splitlines()[1:]), flush=True)
        else:
            skipped[verdict] += 1
        if len(results) >= options.count or (options.budget and time.monotonic() - began > options.budget):
            break

    survivors = [mutant for mutant, verdict in results if verdict == "survived"]
    if survivors:
        print("\nSurvivors:")
        for mutant in survivors:
            print(mutant.shown())
    died = len(results) - len(survivors)
    score = 100 * died / len(results) if results else 100
    left_out = ", ".join(f"{count} {verdict}" for verdict, count in skipped.items())
    print(f"\nmutate: {died} of {len(results)} mutants were killed, {score:.0f} %; seed {options.seed}; not counted: {left_out or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
