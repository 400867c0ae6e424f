"""A mutant: one change of a source file, how it is displayed, and how it is found in the list of equivalent mutants; what both languages
replace."""

import difflib
import hashlib
import pathlib

COMPARISONS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "===": "!==", "!==": "==="}
LOGIC = {"&&": "||", "||": "&&"}
TRUTH = {"true": "false", "false": "true"}


class Mutant:
    """`edits` are (start, end, text) in `source`, in ascending order without overlaps."""

    def __init__(self, path, source, kind, edits):
        self.path, self.source, self.kind, self.edits = path, source, kind, edits
        self._key = None

    @property
    def text(self):
        text, at = "", 0
        for start, end, new in self.edits:
            text += self.source[at:start] + new
            at = end
        return text + self.source[at:]

    @property
    def line(self):
        return self.source.count("\n", 0, self.edits[0][0]) + 1

    def around(self):
        """Returns the old and new lines from the first edit to the last, which is faster than a diff of the whole file."""
        first = self.source.rfind("\n", 0, self.edits[0][0]) + 1
        last = self.source.find("\n", self.edits[-1][1])
        last = len(self.source) if last < 0 else last
        old = self.source[first:last]
        new, at = "", first
        for start, end, text in self.edits:
            new += self.source[at:start] + text
            at = end
        new += self.source[at:last]
        return old.splitlines(), new.splitlines()

    def key(self):
        """Returns the key in a list of equivalent mutants: the file and the changed lines, independent of their position."""
        if self._key is None:
            old, new = ([" ".join(line.split()) for line in lines] for lines in self.around())
            changed = [code for code in difflib.SequenceMatcher(None, old, new, False).get_opcodes() if code[0] != "equal"]
            lines = [("-", line) for _, a, b, _, _ in changed for line in old[a:b]]
            lines += [("+", line) for _, _, _, a, b in changed for line in new[a:b]]
            self._key = self.path, tuple(lines)
        return self._key

    def shown(self):
        path, lines = self.key()
        return "\n".join([f"{path}:{self.line} ({self.kind})", *(f"  {sign} {line}" for sign, line in lines)])


def drawn(mutants, seed):
    """Sorts mutants in the order of a seed. A mutant's rank does not depend on changes elsewhere in the sources."""
    seen, keyed = {}, []
    for mutant in mutants:
        key = repr(mutant.key())
        seen[key] = seen.get(key, 0) + 1
        digest = hashlib.sha256(f"{seed}|{mutant.kind}|{key}|{seen[key]}".encode()).hexdigest()
        keyed.append((digest, mutant))
    return [mutant for _, mutant in sorted(keyed, key=lambda pair: pair[0])]


def equivalents(path):
    """Returns the entries of the list as {key: reason}. An entry is a file, lines that begin with - and +, the reason, an empty line."""
    listed = {}
    for block in path.read_text().split("\n\n") if path.exists() else []:
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
        if not lines:
            continue
        changes = tuple((line[0], " ".join(line[1:].split())) for line in lines[1:] if line[0] in "+-")
        source = " ".join(pathlib.Path(lines[0].strip()).read_text().split())
        if stale := [text for sign, text in changes if sign == "-" and text not in source]:
            raise SystemExit(f"{path}: {lines[0]} no longer has: {stale[0]}")
        listed[(lines[0].strip(), changes)] = " ".join(line.strip() for line in lines[1:] if line[0] not in "+-")
    return listed
