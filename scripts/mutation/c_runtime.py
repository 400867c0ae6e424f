"""Mutants of the C runtime: each is compiled into a copy of CShim, which runs the C suite, the saved fuzzing inputs and sanitizers."""

import base64
import pathlib
import re
import shutil
import subprocess

import c_mutants
from programs import Memory, Program, require_passing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COPIED = ("CShim", "Tests", "Documentation", "Tools/Sources/CCrashScenarios", "scripts")
FUZZERS = ("sequences", "parsers", "coding", "methods")


def sources(names):
    for path in sorted((ROOT / "CShim/src").rglob("*.c")):
        if not names or path.name in names:
            yield str(path.relative_to(ROOT))


def mutants(path):
    return c_mutants.mutants(path, (ROOT / path).read_text())


def copy(folder):
    """Copies the sources; unchanged files keep their modification times, so that they are not compiled again."""
    for part in COPIED:
        present, wanted = folder / part, ROOT / part
        known = set()
        for path in wanted.rglob("*"):
            if path.is_dir():
                continue
            target = present / path.relative_to(wanted)
            known.add(target)
            if not target.exists() or target.read_bytes() != path.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
        for path in present.rglob("*"):
            if path.is_file() and path not in known:
                path.unlink()


class Stage:
    """One build of the runtime, and the programs that test it."""

    def __init__(self, name, folder, project, compiler, flags, targets, below="", options=()):
        self.name, self.folder, self.targets, self.below = name, folder / "build" / name, targets, below
        linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=bfd", "-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=bfd"] if compiler != "gcc" else []
        self.configure = ["cmake", "-S", folder / project, "-B", self.folder, "-G", "Ninja", f"-DCMAKE_C_COMPILER={compiler}",
                          "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_C_FLAGS={flags} -w", "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON",
                          "-DKVO_BUILD_TESTS=ON", "-DKVO_ASSERTIONS=ON", *linker, *options]
        self.programs = []

    def ninja(self, *targets):
        return subprocess.run(["ninja", "-C", self.folder, "-j1", *targets], stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def begin(self):
        done = subprocess.run(self.configure, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode == 0:
            done = self.ninja("all")
        if done.returncode != 0:
            raise SystemExit(f"mutate: cannot build {self.folder}\n{done.stdout}{done.stderr}")

        self.links = [line for line in self.commands(*self.targets) if " -c " not in line]
        self.compiles, self.originals = {}, {}
        for line in self.commands("all"):
            if match := re.search(r"-o (\S*kvo_objects\.dir/(src/[\w/]+\.c)\.o) -c ", line):
                self.compiles[match[2]] = match[1], line

    def commands(self, *targets):
        return self.ninja("-t", "commands", *targets).stdout.splitlines()

    def run(self, command):
        return subprocess.run(command, cwd=self.folder, shell=True, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0

    def compile(self, source):
        """Compiles a source. Returns None if that fails, otherwise whether the object code differs from the original's."""
        name, command = self.compiles[str(pathlib.Path(source).relative_to("CShim"))]
        path = self.folder / name
        original = self.originals.setdefault(path, path.read_bytes())
        return path.read_bytes() != original if self.run(command) else None

    def link(self):
        return all(self.run(command) for command in self.links)

    def restore(self):
        for path, code in self.originals.items():
            if path.read_bytes() != code:
                path.write_bytes(code)


def unpack_corpora(packed, into):
    """Writes the fuzzers' inputs as files: a line in base64 is one."""
    for target in packed.glob("*.txt"):
        folder = into / target.stem
        folder.mkdir(parents=True, exist_ok=True)
        for number, line in enumerate(target.read_text().split()):
            (folder / str(number)).write_bytes(base64.b64decode(line))


class Worker:
    """A copy of the runtime with its builds, for one mutant at a time."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        clang = subprocess.check_output([ROOT / "scripts/clang.sh"], text=True).strip()
        watched = "-O1 -fsanitize=address,undefined -fno-sanitize=function -fno-sanitize-recover=undefined"
        kept = [folder / "corpus", folder / "Tests/Fuzzing/regressions"]
        plain = Stage("plain", folder, "CShim", "gcc", "-O2", ["kvo", "kvo_crash"])
        asan = Stage("asan", folder, "Tests/Fuzzing", clang, watched, ["kvo", "kvo_crash", *(f"fuzz_{name}" for name in FUZZERS)], "kvo/")
        tsan = Stage("tsan", folder, "Tests/Stress", "gcc", "-O1 -fsanitize=thread", ["kvo", "stress"], "kvo/")
        self.plain, self.asan, self.tsan = plain, asan, tsan
        copy(folder)
        unpack_corpora(folder / "Tests/Fuzzing/corpus", folder / "corpus")
        crash = {"KVO_CRASH_SECONDS": "60"}
        for stage, options in ((plain, ["--reports", folder / "Tests/Crash/reports.txt"]), (asan, ["--record"])):
            stage.programs.append(Program(f"{stage.name} crash", [folder / "scripts/crashes.py", *options, stage.folder / "tests/kvo_crash"], crash,
                                          (8 << 30) if stage is plain else None))
        for name in FUZZERS:
            asan.programs.append(Program(f"asan fuzz {name}", [asan.folder / f"fuzz_{name}", "-runs=0", "-timeout=20",
                                                               f"-artifact_prefix={folder}/",
                                                               *(each / name for each in kept if (each / name).exists())]))
        tsan.programs.append(Program("tsan stress", [tsan.folder / "stress", "--seconds", "6", "--seed", "1"],
                                     {"TSAN_OPTIONS": "halt_on_error=1"}))
        self.memory = Memory(folder / "kills.json")

    def begin(self):
        """Builds, and stops if a program fails without a mutation."""
        for stage in self.stages():
            stage.begin()
            stage.programs += self.suite(stage)
            require_passing(stage.programs, self.folder, patience=300)

    def suite(self, stage):
        """Returns the programs of the C suite to run; ThreadSanitizer runs those with threads only."""
        environment = {"KVO_TEST_FEWER": "4"}  # survivors run all programs of all builds
        if stage is not self.plain:
            environment |= {"KVO_TEST_TOOL": stage.name, "ASAN_OPTIONS": "hard_rss_limit_mb=4000", "TSAN_OPTIONS": "halt_on_error=1"}
        labels = ["-L", "threads"] if stage is self.tsan else []
        listing = subprocess.run(["ctest", "-N", *labels], cwd=stage.folder / stage.below, capture_output=True, text=True).stdout
        for topic in re.findall(r"^ *Test +#\d+: (\w+)$", listing, re.M):
            path = stage.folder / stage.below / "tests" / f"test_{topic}"
            if path.exists():
                yield Program(f"{stage.name} {topic}", [path], environment, (8 << 30) if stage is self.plain else None)

    def stages(self):
        return [self.plain] if self.options.quick else [self.plain, self.asan, self.tsan]

    def judged(self, queue, listed):
        """Yields pairs of a mutant and its verdict."""
        for mutant in queue:
            yield mutant, ("equivalent", "") if mutant.key() in listed else self.judge(mutant)

    def judge(self, mutant):
        """Returns ("killed", by what), ("survived", ""), ("same code", "") or ("broken", "")."""
        path = self.folder / mutant.path
        path.write_text(mutant.text)
        try:
            for stage in self.stages():
                differs = stage.compile(mutant.path)
                if differs is None:
                    return "broken", ""
                if not differs:
                    return "same code", ""  # after optimization
                if noticed := self.notice(stage, mutant):
                    return "killed", noticed
            return "survived", ""
        finally:
            for stage in self.stages():
                stage.restore()
            path.write_text(mutant.source)

    def notice(self, stage, mutant):
        if not stage.link():
            return "linking"
        for program in self.memory.ordered(mutant.path, stage.programs):
            if noticed := program.run(self.folder):
                self.memory.note(mutant.path, program.name)
                return f"{program.name}: {noticed}"
        return None
