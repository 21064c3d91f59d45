"""The blocks of a template's file, each with the line where its source begins."""

from __future__ import annotations

import pytest

from app.kit.templating.blocks import Block, blocks_of


def test_file_is_split_into_its_blocks() -> None:
    source = """{# Ours, in short. #}
{% block subject %}Hello {{ name }}{% endblock %}

{% block intro %}
<p>{% if name %}Welcome{% else %}Hello{% endif %}</p>
{% endblock intro %}
"""

    found = blocks_of(source)

    assert not found.problems
    assert found.blocks == {
        "subject": Block("Hello {{ name }}", 2),
        "intro": Block("<p>{% if name %}Welcome{% else %}Hello{% endif %}</p>\n", 5),
    }


def test_lines_stay_where_tags_take_white_space_away() -> None:
    source = "{% block a -%}\n\n<p>\n\n{%- if b %}\n\n{{ c }}{% endif %}\n</p>{% endblock %}"

    block = blocks_of(source).blocks["a"]

    lines = ["" for _ in range(block.line - 1)] + block.source.split("\n")
    assert ["{{ c }}" in line for line in lines].index(True) + 1 == 7


def test_words_like_tags_are_text_in_strings_and_raw() -> None:
    source = (
        """{% block a %}{{ "{% endblock %}" }}{% raw %}{% endblock %}{% endraw %}{# {% endblock %} #}!{% endblock %}"""
    )

    found = blocks_of(source)

    assert not found.problems
    assert found.blocks["a"].source.endswith("!")


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("<p>\n{% block a %}{% endblock %}", 1, "within a {% block NAME %}"),
        ("{% block a %}{% endblock %}\n\n{{ name }}", 3, "within a {% block NAME %}"),
        ("{% extends layout %}", 1, "no {% extends %}"),
        ("{% if a %}{% block a %}{% endblock %}{% endif %}", 1, "within a {% block NAME %}"),
        ("\n{% endblock %}", 2, "without a {% block NAME %}"),
        ("{% block %}{% endblock %}", 1, "one name alone"),
        ("{% block a scoped %}{% endblock %}", 1, "one name alone"),
        ("{% block a %}\n{% block b %}{% endblock %}\n{% endblock %}", 2, "no block within the block a"),
        ("{% block a %}{% endblock %}\n{% block a %}{% endblock %}", 2, "the block a once"),
        ("\n{% block a %}\n", 2, "{% endblock %} for this {% block a %}"),
        ("{% block a %}\n{% endblock b %}", 2, "{% endblock a %}"),
        ("\n{% block a", 2, "this tag has no end"),
        ("{% block a %}\n{# never closed", 2, "valid Jinja"),
        ("{% raw %}{% block a %}{% endblock %}", 1, "within a {% block NAME %}"),
    ],
)
def test_anything_outside_of_blocks_is_a_problem(source: str, line: int, words: str) -> None:
    first = blocks_of(source).problems[0]

    assert (first.line, words in first.sentence) == (line, True), first
