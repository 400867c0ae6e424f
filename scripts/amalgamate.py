"""Makes kvo.h and kvo.c: amalgamate.py CSHIM FOLDER. Names that files have for themselves get the name of the file where they would meet."""
import pathlib
import re
import subprocess
import sys

root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
version = ".".join(re.findall(r"#define KVO_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (root / "include/kvo/kvo_base.h").read_text()))
token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\d[\w.]*|->|\s+|.', re.S)
identifier = re.compile(r"[A-Za-z_]\w*$")
local_include = re.compile(r'^#include ("([^"]+)"|<(kvo/[^>]+)>).*\n', re.M)
system_include = re.compile(r"^#include <(?!kvo/)[^>]+>\n", re.M)
keywords = set("void int char bool struct union enum static const if while for switch return sizeof defined _Static_assert _Alignas _Alignof __attribute__ __asm__".split())


def expanded(path, seen):
    """The text of a header with those that it includes in their places; of each header once."""
    if path in seen:
        return ""
    seen.add(path)
    base = root / ("include" if path.is_relative_to(root / "include") else "src")
    return local_include.sub(lambda m: expanded(base / (m.group(2) or m.group(3)), seen) if (base / (m.group(2) or m.group(3))).exists() else "",
                             path.read_text())


def code_tokens(text):
    return [t for t in token.findall(text) if not t.isspace() and not t.startswith(("/*", "//"))]


def file_scope_names(text):
    """The names that a source declares for itself: functions, variables, types, tags and constants at file scope."""
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    names, depth, parens, statement, in_enum = set(), 0, 0, [], False
    for t in code_tokens(text):
        if t in "([":
            parens += 1
        elif t in ")]":
            parens -= 1
        elif t == "{":
            if depth == 0:
                in_enum = "enum" in statement and "(" not in statement and "=" not in statement
                is_type = any(w in ("struct", "union", "enum") for w in statement) and "(" not in statement and "=" not in statement
                if is_type and len(statement) > 1 and identifier.match(statement[-1]) and statement[-2] in ("struct", "union", "enum"):
                    names.add(statement[-1])
                if not is_type and "=" not in statement:
                    names |= declared(statement)
            depth += 1
            if depth == 1:
                inside = []
            continue
        elif t == "}":
            depth -= 1
            if depth == 0:
                if in_enum:
                    names |= set(re.findall(r"(?:^|, )([A-Za-z_]\w*)", " ".join(inside).replace(" ,", ",")))
                # A type's declarator follows; a function ends here.
                statement = ["struct"] if in_enum or is_type else statement if "=" in statement else []
                in_enum = False
            continue
        if depth == 0:
            if t == ";" and parens == 0:
                names |= declared(statement)
                statement = []
            else:
                statement.append(t)
        elif depth == 1 and in_enum:
            inside.append(t)
    return {n for n in names if not n.startswith(("kvo_", "KVO_")) and n not in keywords}


def declared(statement):
    """The names that one declaration declares."""
    text = re.sub(r"__attribute__ \( \(.*?\) \)", "", " ".join(statement)).split(" = ")[0]
    if not text or "extern" in text.split():
        return set()
    function = re.search(r"\( \* ([A-Za-z_]\w*) \(", text) or re.search(r"([A-Za-z_]\w*) \(", text)
    if function and function.group(1) not in keywords:
        is_own = "static" in text.split() or re.match(r"INLINE\b", text)
        return {function.group(1)} if is_own else set()
    return set(re.findall(r"([A-Za-z_]\w*)(?: \[.*?\])?(?= ,|$)", text))


def system_names(includes):
    """The names that the system's headers declare."""
    text = "#define _GNU_SOURCE\n" + "".join(includes)
    done = subprocess.run(["gcc", "-E", "-P", "-"], input=text, capture_output=True, text=True, check=True)
    macros = subprocess.run(["gcc", "-E", "-dM", "-"], input=text, capture_output=True, text=True, check=True)
    return set(re.findall(r"[A-Za-z_]\w*", done.stdout)) | set(re.findall(r"^#define (\w+)", macros.stdout, re.M))


def renamed(text, names, suffix):
    """The text with these names renamed, other than as members of structures."""
    tokens = token.findall(text)
    visible = [i for i, t in enumerate(tokens) if not t.isspace() and not t.startswith(("/*", "//"))]
    bodies, statement = [], []
    for n, i in enumerate(visible):
        t = tokens[i]
        before = tokens[visible[n - 1]] if n > 0 else ""
        after = tokens[visible[n + 1]] if n + 1 < len(visible) else ""
        if t == "{":
            bodies.append(any(w in ("struct", "union") for w in statement[-3:]) and before != ")" and before != "=")
            statement = []
        elif t == "}":
            bodies.pop()
            statement = []
        elif t == ";":
            statement = []
        else:
            statement.append(t)
        offset = before == "," and bool({"offsetof", "KVO_SIZE_TO"} & {tokens[visible[n - 4]], tokens[visible[n - 5]]})
        is_member = offset or before in (".", "->") or (bodies and bodies[-1] and after in (";", ",", "[", ":"))
        if t in names and not is_member:
            tokens[i] = t + "_in_" + suffix
    return "".join(tokens)


headers = [root / "include/kvo/kvo.h"] + sorted((root / "include/kvo").glob("*.h"))
inner = sorted((root / "src").rglob("*.h"))
lists = (root / "CMakeLists.txt").read_text()
listed = re.findall(r"^    (src/\S+?\.c)", lists, re.M)
sources = [root / name for name in listed]
guests = [root / name for name in re.findall(r"src/\S+?\.c", re.search(r"set\(KVO_GUESTS[^)]*", lists).group(0))]

(out / "include/kvo").mkdir(parents=True, exist_ok=True)
with open(out / "kvo.h", "w") as file:
    file.write(f"/* kvo.h - libkvo {version}: all its headers in one file, by scripts/amalgamate.sh. */\n")
    seen = set()
    for path in headers:
        file.write("\n" + expanded(path, seen))
for path in headers:
    (out / "include/kvo" / path.name).write_text('#include "../../kvo.h"\n')

texts = {path: path.read_text() for path in inner + sources}
includes = sorted({m.group(0) for text in texts.values() for m in system_include.finditer(text)})
scopes = {path: file_scope_names(texts[path]) for path in sources}
taken = system_names(includes)
for path in inner:
    taken |= set(re.findall(r"[A-Za-z_]\w*", " ".join(code_tokens(texts[path]))))
counts = {}
for names in scopes.values():
    for name in names:
        counts[name] = counts.get(name, 0) + 1
kinds = re.compile(r"^#define (\w+)", re.M)

with open(out / "kvo.c", "w") as file:
    file.write(f"/* kvo.c - libkvo {version}: all its sources in one file, by scripts/amalgamate.sh. Link with -lffi -pthread. */\n")
    file.write("#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#ifndef KVO_DIAGNOSTICS\n#define KVO_DIAGNOSTICS 1\n#endif\n")
    # Of inline functions not all are used in each profile.
    for warning in ("unused-function", "unneeded-internal-declaration"):
        file.write(f'#ifdef __clang__\n#pragma clang diagnostic ignored "-W{warning}"\n#endif\n')
    file.write('#define KVO_NO_SITES\n#include "kvo.h"\n\n' + "".join(includes))
    seen = set()
    for path in inner:
        file.write("\n" + system_include.sub("", expanded(path, seen)))
    for path in sources:
        text = local_include.sub("", system_include.sub("", texts[path].replace("#define _GNU_SOURCE\n", "")))
        names = {name for name in scopes[path] if counts[name] > 1 or name in taken}
        text = renamed(text, names, "_".join(path.relative_to(root / "src").with_suffix("").parts))
        watches = path in guests
        macros = sorted(set(kinds.findall(texts[path])) - {"_GNU_SOURCE"})
        file.write("\n" + ("#if KVO_DIAGNOSTICS\n" if watches else "") + text)
        file.write("".join(f"#undef {name}\n" for name in macros) + ("#endif\n" if watches else ""))
