"""Finds the possible mutations of a C source: a lexer, and the kinds of mutations.

The kind `order` makes a store or a fence relaxed that was sequentially consistent. The other orders are none on x86, where every load is an
acquire, every store a release, and every exchange a barrier: no program behaves differently without them."""

import re

from source import COMPARISONS, LOGIC, TRUTH, Mutant

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)
      | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|\d+\.\d+\w*|\d+(?:[eE][+-]?\d+)?\w*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.X | re.M | re.S,
)

SWAPPED = {"+": "-", "-": "+", "|": "&", "&": "|", "+=": "-=", "-=": "+=", "++": "--", "--": "++", "<<": ">>", ">>": "<<",
           "|=": "&=", "&=": "|="}
NEEDS_LEFT = {"+", "-", "|", "&"}
NOT_STATEMENTS = {"return", "if", "else", "while", "for", "do", "switch", "case", "default", "goto", "typedef", "struct", "enum",
                  "union", "static", "const", "extern", "unsigned", "signed", "int", "char", "bool", "void", "long", "short",
                  "float", "double", "size_t", "_Thread_local", "_Atomic", "volatile", "_Static_assert", "__asm__", "asm"}
# What a program cannot detect: a hint to the compiler, the processor or the kernel, and that an assertion tests less.
HINTS = {"__builtin_ia32_pause", "sched_yield", "kvo__assert"}
# A size that is greater than necessary is no mistake, so it is only made smaller.
ALLOCATORS = {"kvo__alloc", "malloc", "calloc", "realloc", "make_apart"}
# A greater number is a size or limit whose exact value is not specified, so it is not changed.
MOST = 15
LOCKS = {"kvo__lock": "kvo__unlock", "kvo__acquire": "kvo__release"}


class Token:
    def __init__(self, kind, match):
        self.kind, self.text, self.start, self.end = kind, match.group(), match.start(), match.end()
        # The ordinal of the function whose body contains the token; 0 outside.
        self.function = 0
        self.partner = None


def tokens(source):
    found = [Token(match.lastgroup, match) for match in TOKEN.finditer(source) if match.lastgroup != "skip"]
    open_ones, function, functions = [], 0, 0
    for i, token in enumerate(found):
        if token.text in "([{" and token.kind == "sign":
            if token.text == "{" and not open_ones and i > 0 and found[i - 1].text == ")":
                functions += 1
                function = functions
            open_ones.append(i)
        token.function = function
        if token.text in ")]}" and token.kind == "sign" and open_ones:
            begin = open_ones.pop()
            token.partner, found[begin].partner = begin, i
            if not open_ones:
                function = 0
    return found


def mutants(path, source):
    found = tokens(source)
    text = lambda i: found[i].text if 0 <= i < len(found) else ""

    def made(kind, *edits):
        return Mutant(path, source, kind, list(edits))

    def replaced(kind, i, new):
        return made(kind, (found[i].start, found[i].end, new))

    for i, token in enumerate(found):
        if token.kind == "number" and re.fullmatch(r"\d+[uUlL]*", token.text):
            if text(i - 1) == "{" and text(i + 1) == "}":  # = {0}
                continue
            digits = re.match(r"\d+", token.text)[0]
            is_limit = not token.function and "<<" in (text(i - 1), text(i + 1))
            if int(digits) > MOST or is_limit or is_array_size(found, i):
                continue
            suffix = token.text[len(digits):]
            if callee(found, i) not in ALLOCATORS:
                yield replaced("constant", i, str(int(digits) + 1) + suffix)
            if int(digits) > 1:
                yield replaced("constant", i, str(int(digits) - 1) + suffix)
        if not token.function or callee(found, i) == "kvo__assert":
            continue
        if token.kind == "word":
            if token.text in TRUTH and callee(found, i) != "__builtin_expect":
                yield replaced("constant", i, TRUTH[token.text])
            if token.text in ("if", "while") and text(i + 1) == "(":
                begin, end = found[i + 1], found[found[i + 1].partner]
                yield made("negate", (begin.end, begin.end, "!("), (end.start, end.start, ")"))
            if token.text == "memory_order_seq_cst" and callee(found, i) in ("atomic_store_explicit", "atomic_thread_fence"):
                yield replaced("order", i, "memory_order_relaxed")
            if token.text == "atomic_store" and text(i + 1) == "(":
                end = found[found[i + 1].partner]
                yield made("order", (token.end, token.end, "_explicit"), (end.start, end.start, ", memory_order_relaxed"))
            if token.text in LOCKS and text(i + 1) == "(":
                edits = lock_pair(found, i)
                if edits:
                    yield made("lock", *edits)
        if token.kind == "sign":
            for kind, others in ("compare", COMPARISONS), ("logic", LOGIC):
                if token.text in others:
                    yield replaced(kind, i, others[token.text])
            left = found[i - 1].kind in ("word", "number") and text(i - 1) not in ("return", "case", "else") or text(i - 1) in ")]"
            if token.text in SWAPPED and (token.text not in NEEDS_LEFT or left):
                yield replaced("arithmetic", i, SWAPPED[token.text])
        if begins_statement(found, i):
            end = i
            while end < len(found) and text(end) not in (";", "{", "}"):
                end = found[end].partner + 1 if text(end) in "([" else end + 1
            if text(end) == ";" and is_removable(found, i):
                yield made("statement", (token.start, found[end].start, "(void)0"))
    for i, token in enumerate(found):
        if token.function and token.text == "for" and text(i + 1) == "(":
            last = found[i + 1].partner
            semicolons, at = [], i + 2
            while at < last:
                if text(at) == ";":
                    semicolons.append(at)
                at = found[at].partner + 1 if text(at) in ("(", "[", "{") else at + 1
            if len(semicolons) == 2 and semicolons[1] > semicolons[0] + 1:
                yield made("negate", (found[semicolons[0]].end, found[semicolons[0]].end, " !("),
                           (found[semicolons[1]].start, found[semicolons[1]].start, ")"))


def callee(found, i):
    """Returns what precedes the innermost parenthesis around the token: the name of the function that is called, or another word."""
    at = i - 1
    while at > 0 and not (found[at].text == "(" and found[at].partner is not None and found[at].partner > i):
        at = found[at].partner - 1 if found[at].text in (")", "]", "}") and found[at].partner is not None else at - 1
        if at > 0 and found[at].text in (";", "{"):
            return ""
    return found[at - 1].text if at > 0 else ""


def is_array_size(found, i):
    """Returns whether the token is in the brackets of a declaration: T name[512];"""
    return found[i - 1].text == "[" and found[i + 1].text == "]" and found[i - 2].kind == "word" and (
        found[i - 3].kind == "word" or found[i - 3].text == "*")


def begins_statement(found, i):
    if not i or found[i - 1].text not in (";", "{", "}", "else", "do", ")", ":"):
        return False
    before = found[i - 1]
    if before.text == ")":
        opener = before.partner
        return opener is not None and found[opener - 1].text in ("if", "while", "for")
    if before.text == ":":
        at = i - 2
        while at > 0 and found[at].text not in (";", "{", "}", "?", "case", "default"):
            at -= 1
        return found[at].text in ("case", "default")
    # Not in the head of a for statement or in an initializer.
    depth, at = 0, i - 1
    while at >= 0:
        if found[at].text in (")", "]", "}") and found[at].partner is not None:
            at = found[at].partner - 1
            continue
        if found[at].text in ("(", "["):
            return False
        if found[at].text == "{":
            return found[at - 1].text in (")", "else", "do", ":", "{", "}", ";")
        at -= 1
    return False


def is_removable(found, i):
    """Returns whether the statement is a call, an assignment or a break. Declarations and single lock calls do not count."""
    first, second = found[i], found[i + 1]
    if first.text in NOT_STATEMENTS or first.text in HINTS or first.text in LOCKS or first.text in LOCKS.values():
        return False
    if first.text in ("{", "}", ";", ")"):
        return False
    if first.kind == "word" and second.kind == "word":
        return False
    if first.kind == "word" and second.text == "*":  # T *name
        return False
    if first.text == "(" and found[first.partner - 1].text == "void" and first.partner == i + 2:  # (void)unused
        return found[i + 4].text == "("
    return True


def lock_pair(found, i):
    """Returns edits that remove a lock call, and each matching unlock call in the function before the next lock call."""
    def argument(at):
        return "".join(token.text for token in found[at + 2 : found[at + 1].partner])

    def call(at):
        return found[at].start, found[found[at + 1].partner].end, "(void)0"

    lock, unlock, of = found[i].text, LOCKS[found[i].text], argument(i)
    edits = [call(i)]
    for at in range(i + 1, len(found)):
        if found[at].function != found[i].function:
            break
        if found[at].text == lock and argument(at) == of:
            break
        if found[at].text == unlock and found[at + 1].text == "(" and argument(at) == of:
            edits.append(call(at))
    return edits if len(edits) > 1 else None
