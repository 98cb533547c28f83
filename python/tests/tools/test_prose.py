"""The prose linter finds rejected phrases in pages, help and messages, and nothing in code."""

import prose


def found(text: str) -> list[tuple[int, str]]:
    return [(line, phrase) for line, phrase, _ in prose.findings(text)]


def test_a_phrase_is_found_with_its_line_in_any_case():
    assert found("one\nBeside it, in the mean, two") == [(2, "Beside"), (2, "in the mean")]
    assert found("the besides of a meaning") == []


def test_code_and_the_glossary_of_a_page_are_not_checked():
    text = "`beside`\n```\nbeside\n```\n## Glossary\n| beside |\n## Word list\nbeside\n"
    assert found(prose.page(text)) == [(8, "beside")]


def test_of_python_raised_messages_are_checked_or_every_text_but_docstrings():
    source = '"""Beside."""\nx = "a beside"\nraise UsageError(f"{x} beside b")\n'
    messages = list(prose.python_texts(source, every=False))
    assert messages == [(3, " beside b")]
    assert {line for line, _ in prose.python_texts(source, every=True)} == {2, 3}


def test_of_rust_the_messages_of_derived_errors_are_checked():
    source = 'let x = "beside";\n#[error(\n    "a \\"b\\" beside"\n)]\n'
    assert list(prose.rust_texts(source)) == [(3, 'a \\"b\\" beside')]


def test_every_replacement_belongs_to_its_phrase():
    samples = {"whoever": "the caller, the component", "set-up": "configuration", "of today": "current"}
    assert {text: instead for text in samples for _, _, instead in prose.findings(text)} == samples
