"""Adds to the symbol graphs what parameters mean that have the same meaning in many functions.

usage: parameters.py GRAPHS

A doc comment describes the parameters of its function, and says what is special. If it describes none, as that of an overload or of a
method with one obvious argument, they are described here, once for all functions, or by their names. The place and the actor of a call,
which no call gives, are never described elsewhere.
"""

import json
import pathlib
import re
import sys

CALL = {
    "fileID": "The file of the call, which reports name.",
    "filePath": "The path of this file, for the test's issue.",
    "file": "The file of the call, which reports name.",
    "line": "The line of the call, which reports name.",
    "column": "The column of the call, for the test's issue.",
    "isolation": "The actor of the code that calls, on which the closure is called.",
}
SHARED = {
    # Observing
    "keyPath": "The key path, from the object.",
    "keyPaths": "The key paths, from the object.",
    "first": "The first key path to observe.",
    "second": "The second key path to observe.",
    "others": "More key paths to observe.",
    "object": "The object. It is not retained.",
    "observedObject": "The object to observe. It is not retained.",
    "observer": "The object whose `observeValue(forKeyPath:of:change:context:)` is called. It is not retained.",
    "context": "A pointer that is passed to the observer and distinguishes registrations.",
    "options": "Which values a change includes, and whether the closure or the observer is also called now and before changes.",
    "receiver": "Any class instance, which the closure gets. It is not retained, and its deallocation ends the observation.",
    "userInfo": "Anything that reports and the graph show with the observation.",
    "initial": "Whether the closure is also called before the method returns, with the present value as both values.",
    "delivery": "Where the closure is called.",
    "handler": "The closure to call.",
    "changeHandler": "The closure to call.",
    "buffering": "How many elements wait while the loop is busy.",
    "tokens": "The tokens that are kept. The observation ends when it is removed from them.",
    "snapshot": "The observers, or `nil`.",
    "observableClass": "The class whose objects are observed.",
    # Changes
    "change": "What has changed, with the keys of ``NSKeyValueChangeKey``.",
    "changeKind": "The kind of the change.",
    "kinds": "The kinds, in order.",
    "oldValue": "The value before the change, if there is one.",
    "newValue": "The value after the change, if there is one.",
    "isPrior": "Whether the change is about to be made.",
    "mutationKind": "What is done with the argument.",
    # Key-value coding
    "key": "The key: the name of a property, not a key path.",
    "keyedValues": "The values by their keys.",
    "path": "The key path of the property.",
    # Collections
    "elements": "The elements, in order.",
    "indexes": "The indexes of the elements.",
    "position": "The index of the element. One out of range is fault KVO0037.",
    "positions": "The indexes of the elements. One out of range is fault KVO0037.",
    "bounds": "The range of indexes. One out of range is fault KVO0037.",
    "ranges": "The ranges of indexes.",
    "number": "How many elements.",
    "keepingCapacity": "Whether the memory of the elements is kept for others.",
    "isPicked": "Decides for an element.",
    "belongsInSecondPartition": "Decides whether an element is moved behind the others.",
    "areInIncreasingOrder": "Decides whether its first argument comes before its second.",
    "comparator": "Compares two elements.",
    "generator": "What random numbers are taken from.",
    # Sources and bindings
    "source": "The object that the bindings observe.",
    "origin": "The property of that object.",
    "target": "The object whose property is set. It is not retained.",
    "left": "The property of this object.",
    "right": "The property of the other object.",
    "other": "The other object. It is not retained.",
    "initially": "Whether, and from which side, a property is also set now.",
    "exclusive": "Whether this binding ends the other ones into the property.",
    "applied": "Is called after each time the binding has set a property.",
    "binding": "The key of the property.",
    "transformer": "The transformer, or `nil`.",
    # Classes without the macro, and of C
    "read": "A function that reads the property and passes its value on.",
    "get": "A function that reads the property.",
    "set": "A function that sets the property.",
    "store": "A function that stores the new value.",
    "access": "A function that reads the property.",
    "mutation": "A function that changes the property.",
    "chained": "The key path from an optional object.",
    "inPlace": "A function that passes the property `inout` to another function.",
    "cls": "The class.",
    "getter": "The C function that reads the property.",
    "setter": "The C function that sets it, or `nil` for a property that is only read.",
    "affectedBy": "The keys that change this property.",
    "isManual": "Whether its changes are announced by the program, not by the setter.",
    "isDone": "Whether the end of the operation is announced.",
    # Tests
    "body": "The code, which is run once.",
    "values": "The new values, in the order of the changes.",
    "changes": "The old and the new value of each change, in order.",
    "expectedValue": "The value, or `nil` if any change fulfills the expectation.",
    "predicate": "Decides whether a change fulfills the expectation.",
    # Protocols of the standard library
    "lhs": "One value.",
    "rhs": "The other value.",
}
PARAMETER = re.compile(r"\s*- (?:Parameter (\w+):|(\w+):)")


def parameters(symbol):
    signature = symbol.get("functionSignature", {})
    return [each.get("internalName") or each["name"] for each in signature.get("parameters", [])]


def meaning(name):
    return SHARED.get(name) or CALL.get(name) or "The " + re.sub(r"(?<=[a-z])[A-Z]", lambda found: " " + found[0].lower(), name) + "."


def completed(texts, names):
    """The lines of a doc comment with the parameters that it does not describe."""
    start = next((index for index, text in enumerate(texts) if re.match(r"\s*- Parameters?\b", text)), None)
    if start is None:
        if not set(names) - CALL.keys():
            return texts
        wanted = {name: meaning(name) for name in names}
        end = next((index for index, text in enumerate(texts) if re.match(r"- (Returns|Throws|Note|Warning|Complexity):", text)), len(texts))
        return [*texts[:end], "", "- Parameters:", *(f"  - {name}: {text}" for name, text in wanted.items()), *texts[end:]]
    several = re.match(r"\s*- Parameters:", texts[start])
    end = start + 1
    while end < len(texts) and (re.match(r"\s+\S", texts[end]) or re.match(r"- Parameter ", texts[end])):
        end += 1
    described = {match[1] or match[2] for text in texts[start:end] if (match := PARAMETER.match(text))}
    form = "  - {}: {}" if several else "- Parameter {}: {}"
    return texts[:end] + [form.format(name, CALL[name]) for name in names if name in CALL and name not in described] + texts[end:]


def main(graphs):
    for path in pathlib.Path(graphs).rglob("*.symbols.json"):
        graph = json.loads(path.read_text())
        for symbol in graph["symbols"]:
            if lines := symbol.get("docComment", {}).get("lines"):
                # An added line has the place of the last one.
                names, last = parameters(symbol), lines[-1].get("range")
                texts = completed([line["text"] for line in lines], names)
                ranges = [line.get("range") for line in lines]
                ranges += [last] * (len(texts) - len(ranges))
                symbol["docComment"]["lines"] = [{"text": text} | ({"range": each} if each else {}) for text, each in zip(texts, ranges)]
        path.write_text(json.dumps(graph))


main(*sys.argv[1:])
