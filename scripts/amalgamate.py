"""Makes kvo.h and kvo.c: amalgamate.py CSHIM FOLDER. The sources may stand in one file, because none uses a name of another for something
else."""
import pathlib
import re
import sys

root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
version = ".".join(re.findall(r"#define KVO_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (root / "include/kvo/kvo_base.h").read_text()))
local_include = re.compile(r'^#include ("([^"]+)"|<(kvo/[^>]+)>).*\n', re.M)
system_include = re.compile(r"^#include <(?!kvo/)[^>]+>\n", re.M)


def expanded(path, seen):
    """The text of a header with those that it includes in their places; of each header once."""
    if path in seen:
        return ""
    seen.add(path)
    base = root / ("include" if path.is_relative_to(root / "include") else "src")
    return local_include.sub(lambda m: expanded(base / (m.group(2) or m.group(3)), seen) if (base / (m.group(2) or m.group(3))).exists() else "",
                             path.read_text())


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
        watches = path in guests
        macros = sorted(set(kinds.findall(texts[path])) - {"_GNU_SOURCE"})
        file.write("\n" + ("#if KVO_DIAGNOSTICS\n" if watches else "") + text)
        file.write("".join(f"#undef {name}\n" for name in macros) + ("#endif\n" if watches else ""))
