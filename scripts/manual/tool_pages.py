"""Makes manual pages of the command kvo, kvo(1) and one for each subcommand, from what it says about itself.

    tool_pages.py PROGRAM FOLDER
"""
import datetime
import json
import pathlib
import subprocess
import sys


def text(of):
    """Text in roff: a backslash, and a dot or a quote at the beginning of a line, would be requests."""
    return "\n".join(
        ("\\&" if line[:1] in (".", "'") else "") + line for line in of.replace("\\", "\\e").replace("-", "\\-").split("\n")
    )


def spelling(name):
    return ("-" if name["kind"] == "short" else "--") + name["name"]


def entry(argument):
    """An argument's heading: `-o, --output FILE`, or the name of a positional one."""
    names = ", ".join("\\fB" + text(spelling(name)) + "\\fR" for name in argument.get("names", []))
    value = "" if argument["kind"] == "flag" else "\\fI" + text(argument["valueName"]) + "\\fR"
    return " ".join(filter(None, [names, value]))


def synopsis(command, arguments):
    parts = ["\\fB" + text(command) + "\\fR"]
    for argument in arguments:
        if argument["kind"] == "positional":
            part = entry(argument) + (" ..." if argument["isRepeating"] else "")
            parts.append(f"[{part}]" if argument["isOptional"] else part)
    if any(argument["kind"] != "positional" for argument in arguments):
        parts.insert(1, "[\\fIoptions\\fR]")
    return " ".join(parts)


def page(command, of, version, see_also):
    """The page of a command, such as `kvo view`."""
    name = command.replace(" ", "-")
    arguments = [argument for argument in of.get("arguments", []) if argument["shouldDisplay"]]
    subcommands = [each for each in of.get("subcommands", []) if each["shouldDisplay"] and each["commandName"] != "help"]
    lines = [
        f'.TH "{name.upper()}" 1 "{datetime.date.today()}" "swift\\-kvo {version}" "Key\\-value observing"',
        ".SH NAME",
        f"{text(name)} \\- {text(of['abstract'].rstrip('.'))}",
        ".SH SYNOPSIS",
        synopsis(command, arguments) + (" \\fIsubcommand\\fR" if subcommands else ""),
    ]
    if of.get("discussion"):
        lines += [".SH DESCRIPTION", text(of["discussion"]).replace("\n\n", "\n.PP\n")]
    if subcommands:
        lines.append(".SH SUBCOMMANDS")
        for each in subcommands:
            lines += [".TP", f"\\fB{text(each['commandName'])}\\fR", text(each["abstract"])]
    if arguments:
        lines.append(".SH OPTIONS")
        for argument in arguments:
            lines += [".TP", entry(argument), text(argument.get("abstract", ""))]
            if argument.get("defaultValue"):
                lines[-1] += f" (default: {text(argument['defaultValue'])})"
    lines += [".SH SEE ALSO", ",\n".join(f".BR {text(each)} (1)" for each in see_also if each != name).replace(",\n.BR", " ,\n.BR")]
    return name, "\n".join(lines) + "\n"


def main(program, folder):
    whole = json.loads(subprocess.check_output([program, "--experimental-dump-help"]))["command"]
    version = subprocess.check_output([program, "--version"], text=True).strip()
    subcommands = [each for each in whole["subcommands"] if each["shouldDisplay"] and each["commandName"] != "help"]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.1"):
        old.unlink()
    names = [f"kvo-{each['commandName']}" for each in subcommands]
    pages = [page("kvo", whole, version, names)]
    pages += [page(f"kvo {each['commandName']}", each, version, ["kvo"] + names) for each in subcommands]
    for name, content in pages:
        (folder / f"{name}.1").write_text(content)


main(*sys.argv[1:])
