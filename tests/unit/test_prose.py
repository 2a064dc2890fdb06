"""The prose linter: it finds the project's words where people read them, and nowhere else."""

from __future__ import annotations

from docsite.prose import findings, in_code, in_pages


def test_a_page_is_checked_but_for_its_code() -> None:
    text = "# Title\n\nIt begins anew. `anew`\n\n    anew\n\n```\nanew\n```\n"
    assert list(findings("page.md", text)) == ["page.md:3: 'anew': write: again, or: from scratch"]


def test_a_page_is_checked_by_what_proselint_knows() -> None:
    (found,) = findings("page.md", "A sentence with the the same word twice.\n")
    assert found.startswith("page.md:1: 'the the': ")


def test_code_is_checked_in_comments_docstrings_and_messages() -> None:
    text = (
        '"""Done anew."""\n\nanew = 1  # once more\nprint("in place of {anew}", anew)\n'
        'print(f"""for\nwant of {anew}""")\n'
    )
    found = [line.split(":")[1:3] for line in findings("module.py", text)]
    assert [(int(line), words.strip()) for line, words in found] == [
        (1, "'anew'"),
        (3, "'once more'"),
        (4, "'in place of'"),
        (5, "'for\\nwant of'"),
    ]


def test_only_comments_of_other_files_are_checked() -> None:
    assert list(findings("lab.toml", 'name = "anew"\n')) == []
    (found,) = findings("lab.toml", 'name = "a"  # made anew\n')
    assert found.startswith("lab.toml:1: ")


def test_every_character_keeps_its_place() -> None:
    page = "A [link](to.md) and `code`.\n\n    more\n"
    assert len(in_pages(page)) == len(page)
    assert in_pages(page).count("\n") == page.count("\n")
    code = "x = 1  # why\ny = 'text'\n"
    assert in_code(code) == "       # why\n    'text'\n"


def test_a_functions_docstring_begins_with_a_verb_and_others_with_a_noun() -> None:
    text = (
        'def a():\n    """What it holds."""\n\n\ndef b():\n    """Return what it holds."""\n\n\n'
        'class C:\n    """What holds."""\n\n    @property\n    def d(self):\n'
        '        """The number of rows."""\n\n'
        '    f: int\n    """How many."""\n\n'
        '    async def e(self):\n        """Whether it runs."""\n'
    )
    found = [line.split(":")[1:3] for line in findings("labctl/module.py", text)]
    verbs, nouns = [["1", " 'What'"], ["19", " 'Whether'"]], [["9", " 'What'"], ["17", " 'How'"]]
    assert found == [*verbs, *nouns]
    assert list(findings("tests/module.py", text)) == []
