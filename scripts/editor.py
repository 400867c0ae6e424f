#!/usr/bin/env python3
"""Asks sourcekit-lsp what an editor shows in a program, and judges the completions and hovers. check-editor.sh calls it.

  editor.py PROGRAM FLAG…

PROGRAM is a text with Swift code, in which comments point at positions of the line above: ^ complete:NAME and ^ hover:NAME. FLAGs are those
of the compiler.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

# Members that a class with the macro must have: the header, the requirement of the protocol, and the methods that subclasses override.
NEEDED = {"_$kvo", "__keyValueObject", "__keyValueProperties", "__describeKeyValueProperties"}
# Behind each, these must be offered.
OFFERED = {"object": "onChange", "subclass": "addObserver", "token": "invalidate", "type": "init"}


class Server:
    """sourcekit-lsp, in a folder with a compilation database."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            ["sourcekit-lsp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0
        # A server that answers nothing would block the check forever.
        self.limit = threading.Timer(300, self.process.kill)
        self.limit.start()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("editor.py: sourcekit-lsp ended or gave no answer for 5 minutes")
            if line == b"\r\n":
                return json.loads(self.process.stdout.read(length))
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])

    def ask(self, method, parameters):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        while True:
            answer = self.receive()
            if "method" in answer and "id" in answer:
                self.send({"id": answer["id"], "result": None})  # a request of the server, such as to show progress
            elif answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"editor.py: {method}: {answer['error'].get('message')}")
                return answer["result"]

    def tell(self, method, parameters):
        self.send({"method": method, "params": parameters})

    def close(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.wait(timeout=60)
        self.limit.cancel()


def positions(text):
    """The marks of the text: their kinds and names, and the positions above them that they point at."""
    for line, content in enumerate(text.splitlines()):
        mark = re.fullmatch(r"\s*//\s*\^ (complete|hover):(\w+)", content)
        if mark:
            yield mark[1], mark[2], line - 1, content.index("^")


def wrong_completion(name, items):
    names = {item["label"].split("(")[0] for item in items}
    if hidden := {label for label in names if label.startswith("_")} - NEEDED:
        return f"offers {sorted(hidden)}"
    return None if OFFERED[name] in names else f"does not offer {OFFERED[name]}"


def wrong_hover(hover):
    # The first block of code is the declaration, the next ones are examples.
    return "shows nothing" if not hover else None if hover["contents"]["value"].count("```") >= 4 else "shows no example"


def main():
    asked = failed = 0
    text, flags = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "Program.swift"
        program.write_text(text)
        command = ["swiftc", *flags, "-parse-as-library", str(program)]
        database = [{"directory": folder, "file": str(program), "arguments": command}]
        (pathlib.Path(folder) / "compile_commands.json").write_text(json.dumps(database))
        server = Server(folder)
        server.ask("initialize", {
            "processId": None, "rootUri": pathlib.Path(folder).as_uri(),
            "capabilities": {"textDocument": {"completion": {"completionItem": {"snippetSupport": False}}}},
            "initializationOptions": {"backgroundIndexing": False},
        })
        server.tell("initialized", {})
        uri = program.as_uri()
        server.tell("textDocument/didOpen",
                    {"textDocument": {"uri": uri, "languageId": "swift", "version": 1, "text": text}})
        for kind, name, line, column in positions(text):
            where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}
            if kind == "complete":
                problem = wrong_completion(name, server.ask("textDocument/completion", where)["items"])
            else:
                problem = wrong_hover(server.ask("textDocument/hover", where))
            asked += 1
            if problem:
                failed += 1
                print(f"check-editor: {name} {problem}")
        server.close()
    print(f"check-editor: {asked - failed} passed, {failed} failed")
    return failed > 0 or asked < 20


sys.exit(main())
