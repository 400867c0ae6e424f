"""Mutants of the Swift layer: many per build, each enabled by an environment variable and tested by the package's tests.

The tests are the objects of 'swift build --build-tests'. Only the module KeyValueObserving is compiled again, with the command in the
build's manifest, and linked with them."""

import json
import pathlib
import re
import subprocess

import swift_mutants
from programs import Memory, Program, require_passing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODULE = "Sources/KeyValueObserving"
MODULES = ("CoreTests", "ObservingTests", "MacroUsageTests", "CollectionTests", "CodingTests", "ConformanceTests", "InteropTests",
           "PortingTests", "EverydayTests", "TestingTests", "FaultPageTests")
# The number of mutants per build.
BATCH = 120
SWITCH = """import Foundation
@usableFromInline let __mutantNumber = Int(ProcessInfo.processInfo.environment["KVO_MUTANT"] ?? "") ?? 0
@usableFromInline func __mutant(_ number: Int) -> Bool { number == __mutantNumber }
"""


def sources(names):
    for path in sorted((ROOT / MODULE).rglob("*.swift")):
        # These are not compiled without the trait; the client packages of scripts/check-clients.sh test them.
        if (not names or path.name in names) and "\n#if OpenCombine\n" not in path.read_text():
            yield str(path.relative_to(ROOT))


def mutants(path):
    return swift_mutants.mutants(path, (ROOT / path).read_text())


def switched(mutant, number):
    """Returns the text of a mutant in a build of many."""
    [(start, end, new)] = mutant.edits
    old = mutant.source[start:end]
    return f"if !__mutant({number}) {{ {old} }}" if mutant.kind == "statement" else f"(__mutant({number}) ? ({new}) : ({old}))"


class Worker:
    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        folder.mkdir(parents=True, exist_ok=True)
        self.program = folder / "tests"
        self.memory = Memory(folder / "kills.json")
        environment = {"NO_COLOR": "1", "KVO_ZOMBIES": "65536"}
        self.programs = [Program(name, [self.program, "--testing-library", "swift-testing", "--filter", f"^{name}\\."], environment)
                         for name in MODULES]

    def begin(self):
        subprocess.run(["scripts/quietly.sh", "mutate-swift", "swift", "build", "--build-tests"], cwd=ROOT, check=True)
        manifest = (ROOT / ".build/debug.yaml").read_text()
        commands = [json.loads(match) for match in re.findall(r"^ +args: (\[.*\])$", manifest, re.M)]
        self.link = next(args for args in commands if any(arg.endswith("swift-kvoPackageTests.xctest") for arg in args)
                         and "-emit-executable" in args)
        tests = next(arg for arg in self.link if arg.startswith("@"))[1:]
        self.objects = [line for line in pathlib.Path(tests).read_text().splitlines() if line]
        variant = "-tool" if "-tool.product" in tests else ""
        self.compile = next(args for args in commands if "KeyValueObserving" in args and "-c" in args
                            and f"/KeyValueObserving{variant}.build/" in " ".join(args) and "-emit-module" in args)
        # The tests are linked with this build; without a mutation all have to pass.
        self.build([])
        require_passing(self.programs, ROOT, patience=900)

    def judged(self, queue, listed):
        waiting = list(queue)
        while waiting:
            batch, rest, taken = [], [], {}
            for mutant in waiting:
                start, end, _ = mutant.edits[0]
                overlaps = any(start < other and before < end for before, other in taken.get(mutant.path, ()))
                if overlaps or len(batch) >= min(BATCH, 2 * self.options.count):
                    rest.append(mutant)
                elif mutant.key() in listed:
                    yield mutant, ("equivalent", "")
                else:
                    taken.setdefault(mutant.path, []).append((start, end))
                    batch.append(mutant)
            broken = self.build(batch)
            for number, mutant in enumerate(batch, 1):
                yield mutant, ("broken", "") if number in broken else self.judge(number, mutant)
            waiting = rest

    def judge(self, number, mutant):
        for program in self.memory.ordered(mutant.path, self.programs):
            program.environment["KVO_MUTANT"] = str(number)
            if noticed := program.run(ROOT):
                self.memory.note(mutant.path, program.name)
                return "killed", f"{program.name}: {noticed}"
        return "survived", ""

    def build(self, batch):
        """Compiles and links the module with these mutants. Returns the numbers of those that do not compile."""
        broken = set()
        while True:
            lines = self.write(batch, broken)
            done = subprocess.run(self.compiling(), cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            said = done.stdout + done.stderr
            if done.returncode == 0:
                break
            wrong = set()
            for path, line in re.findall(r"^\S*/sources/(\S+\.swift):(\d+):\d+: error:", said, re.M):
                # Of a missing result the error is on the line after the mutant.
                at = next((line for line in range(int(line), int(line) - 3, -1) if (path, line) in lines), None)
                wrong |= lines.get((path, at), set())
            if not wrong - broken:
                raise SystemExit(f"mutate: the Swift layer does not compile\n{said[-4000:]}")
            broken |= wrong
        kept = [line for line in self.objects if "/KeyValueObserving-tool.build/" not in line and "/KeyValueObserving.build/" not in line]
        listing = self.folder / "objects.txt"
        listing.write_text("\n".join([*kept, *map(str, sorted((self.folder / "objects").glob("*.o")))]) + "\n")
        link = [f"@{listing}" if arg.startswith("@") else arg for arg in self.link]
        link[link.index("-o") + 1] = str(self.program)
        done = subprocess.run(link, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"mutate: the tests cannot be linked\n{done.stdout}{done.stderr}")
        return broken

    def write(self, batch, broken):
        """Writes the sources with the switches. Returns, for each (file, line), the numbers of its mutants."""
        lines = {}
        by_path = {}
        for number, mutant in enumerate(batch, 1):
            if number not in broken:
                by_path.setdefault(mutant.path, []).append((mutant.edits[0][0], mutant.edits[0][1], number, mutant))
        target = self.folder / "sources"
        target.mkdir(exist_ok=True)
        for path in (ROOT / MODULE).rglob("*.swift"):
            source, at, text = path.read_text(), 0, ""
            for start, end, number, mutant in sorted(by_path.get(str(path.relative_to(ROOT)), []), key=lambda each: each[:3]):
                text += source[at:start]
                first = text.count("\n") + 1
                text += switched(mutant, number)
                for line in range(first, text.count("\n") + 2):
                    lines.setdefault((path.name, line), set()).add(number)
                at = end
            (target / path.name).write_text(text + source[at:])
        (target / "Mutant.swift").write_text(SWITCH)
        return lines

    def compiling(self):
        """Returns the compiler's command in the manifest, with other folders for sources and results."""
        objects, args, skip = self.folder / "objects", [], 0
        objects.mkdir(exist_ok=True)
        outputs = {}
        for path in sorted((self.folder / "sources").glob("*.swift")):
            outputs[str(path)] = {"object": str(objects / f"{path.stem}.o")}
        (self.folder / "outputs.json").write_text(json.dumps({"": {}, **outputs}))
        replaced = {"-emit-module-path": str(self.folder / "KeyValueObserving.swiftmodule"),
                    "-output-file-map": str(self.folder / "outputs.json"),
                    "-emit-objc-header-path": str(self.folder / "KeyValueObserving-Swift.h")}
        given = iter(self.compile)
        for arg in given:
            if arg in replaced:
                args += [arg, replaced[arg]]
                next(given)
            elif arg == "-index-store-path":
                next(given)
            elif arg in ("-incremental", "-emit-dependencies", "-serialize-diagnostics", "-parseable-output"):
                continue
            elif arg.startswith("@"):
                args += outputs
            else:
                args.append(arg)
        return args
