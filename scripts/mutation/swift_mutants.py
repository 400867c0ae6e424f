"""Finds the possible mutations of a Swift source. Each changes an expression or statement and can be enabled at run time."""

import re

from source import COMPARISONS, LOGIC, TRUTH, Mutant

KEYWORDS = re.compile(r"(return|let|var|if|else|guard|for|while|repeat|switch|case|default|throw|func|class|struct|enum|extension|init|"
                      r"deinit|super\.init|self\.init|precondition\w*|assert\w*|fatalError|import|public|private|internal|fileprivate|"
                      r"open|static|final|override|nonisolated|unsafe|try|await|defer|do|catch|break|continue|where|get|set|inout|"
                      r"protocol|typealias|package|some|any|weak|unowned|mutating|convenience|required|macro|as|is)\b")
STATEMENT = re.compile(r"^([ \t]+)([A-Za-z_][\w.!?]*(?:\[[^\]\n]*\])?[!?]?(?:\([^{}\n]*\)|[ ]?[-+*]?=[ ][^\n{}]+|[\w.!?]*\([^{}\n]*\)))$", re.M)


def mutants(path, source):
    code = blanked(source)

    def made(kind, start, end, new):
        return Mutant(path, source, kind, [(start, end, new)])

    for start, end in conditions(code):
        yield made("negate", start, end, f"!({source[start:end]})")
        yield from operators(made, code, source, start, end)
    for match in re.finditer(r"^[ \t]+return ([^\n{}]+)$", code, re.M):
        start, end = match.span(1)
        if source[start:end] in TRUTH:
            yield made("constant", start, end, TRUTH[source[start:end]])
        elif balanced(code[start:end]):
            yield from operators(made, code, source, start, end)
    for match in STATEMENT.finditer(code):
        start, end = match.span(2)
        text = source[start:end]
        if KEYWORDS.match(text) or not balanced(code[start:end]) or in_initializer(code, start) or initializes(code, text):
            continue
        before = code[:match.start()].rstrip()
        after = code[end:].lstrip()
        if before[-1:] not in ("{", "}", ")", "]") and not re.search(r"[\w\"!?]$", before):
            continue
        if before[-1:] in (",", "(", "[", "=", "&", "|", "?", ":", "+") or after[:1] in (".", "?", ":", "&", "|", "+", "=", ",", ")", "]"):
            continue
        yield made("statement", start, end, "()")
    for match in re.finditer(r"(?<=[-+<>=] )\d+(?![\w.])", code):
        start, end = match.span()
        if code[:start].rsplit("\n", 1)[-1].lstrip().startswith(("@", "#", "case", "let _", "//")) or re.search(r"#\S*$", code[:start]):
            continue
        value = int(source[start:end])
        if value <= 16:
            yield made("constant", start, end, str(value + 1))


def blanked(source):
    """Replaces comments and strings by spaces, so that offsets do not change."""
    pattern = r'//[^\n]*|/\*.*?\*/|"""(?:\\.|[^\\])*?"""|"(?:\\\((?:[^()]|\([^()]*\))*\)|\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", "_" if match[0][0] == '"' else " ", match[0]), source, flags=re.S)


def conditions(code):
    """Finds the Boolean clauses of if, guard and while."""
    for match in re.finditer(r"\b(if|guard|while) ", code):
        depth, at, start, clauses = 0, match.end(), match.end(), []
        while at < len(code):
            sign = code[at]
            if sign in "([":
                depth += 1
            elif sign in ")]":
                depth -= 1
            elif depth == 0 and sign == ",":
                clauses.append((start, at))
                start = at + 1
            elif depth == 0 and (sign == "{" or (match[1] == "guard" and re.match(r"\belse\b", code[at:]) and code[at - 1].isspace())):
                clauses.append((start, at))
                break
            elif sign in "{}" or depth < 0:
                break
            at += 1
        for begin, end in clauses:
            while begin < end and code[begin].isspace():
                begin += 1
            while end > begin and code[end - 1].isspace():
                end -= 1
            text = code[begin:end]
            if text and not re.match(r"(let|var|case|try|await|#)\b|#", text) and "\n" not in text and balanced(text):
                yield begin, end


def operators(made, code, source, start, end):
    """Yields the mutant of a clause that has exactly one operator outside brackets."""
    text, depth, found = code[start:end], 0, []
    for match in re.finditer(r"[()\[\]{}]|(?<= )(===|!==|==|!=|<=|>=|<|>|&&|\|\||\?\?|\?|:|=)(?= )", text):
        if match[0] in "([{":
            depth += 1
        elif match[0] in ")]}":
            depth -= 1
        elif depth == 0:
            found.append(match)
    if len(found) != 1:
        return
    match = found[0]
    whole = source[start:end]
    for kind, others in ("compare", COMPARISONS), ("logic", LOGIC):
        if match[0] in others:
            yield made(kind, start, end, whole[: match.start()] + others[match[0]] + whole[match.end() :])


def balanced(text):
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))


def initializes(code, text):
    """Returns whether a statement sets a variable that is declared without a value; such a statement cannot be removed."""
    name = re.match(r"(\w+) = ", text)
    return bool(name and re.search(rf"^[ \t]+(?:let|var) {name[1]}: [^\n={{]+$", code, re.M))


def in_initializer(code, at):
    """Returns whether a stored property may be initialized here; such a statement cannot be removed."""
    heads = re.findall(r"^[ \t]*(?:[\w@()]+ )*(?:(init|func|deinit|subscript|get|set)\b|var [^\n=]*\{)", code[:at], re.M)
    return bool(heads) and heads[-1] == "init"
