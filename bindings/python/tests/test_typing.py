"""The types that a checker sees."""

import textwrap

import pytest


def test_a_type_checker_knows_the_elements_of_lists_and_reports_misspelt_properties(tmp_path):
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import kvo

            class Document(kvo.Object):
                tags = kvo.List(kvo.String)
                prices = kvo.List(kvo.Double, default=[1.0])
                anything = kvo.List()

            document = Document()
            reveal_type(document.prices[0])
            reveal_type(document.tags[0:1])
            reveal_type(document.prices + [1.0])
            document.prices = [1.0, 2.0]
            document.anything.append("x")
            document.prices.append("x")
            document.titel = 1
            """
        )
    )
    text, errors, _ = api.run([str(program), "--cache-dir", str(tmp_path / "cache"), "--no-error-summary"])
    lines = [line.split(": ", 1)[1] for line in text.splitlines()]
    assert errors == ""
    assert lines[0] == 'note: Revealed type is "float"'
    assert lines[1].startswith('note: Revealed type is "list[')
    assert lines[2] == 'note: Revealed type is "list[float]"'
    assert '"append"' in lines[3] and "[arg-type]" in lines[3]
    assert lines[4].startswith('error: "Document" has no attribute "titel"')
    assert len(lines) == 5
