"""The code of README.md."""

import pathlib
import re

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"


def test_the_code_of_readme_prints_what_its_comments_say(capsys):
    objects, observers, bindings, _ = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.M | re.S)
    exec(compile(objects + observers + bindings, str(README), "exec"), {"__name__": "readme"})
    expected = re.findall(r"# (.* -> .*)$", observers + bindings, re.M)
    assert capsys.readouterr().out.splitlines() == expected
