"""A checked template escapes its values, and stays within its bounds."""

from __future__ import annotations

from typing import Any

import pytest

from app.kit.templating import compiled
from app.kit.templating.compiled import CompiledTemplate, TemplateFailed
from app.kit.templating.contract import Items, Part, TemplateContract, Value, ValueKind

CONTRACT = TemplateContract(
    values={"name": Value(ValueKind.TEXT, ""), "rows": Items({"text": Value(ValueKind.TEXT, "")}, "")},
    parts={"content": Part("")},
)
HOSTILE = "\"><script>alert(1)</script>&'"


def rendered(source: str, **values: Any) -> str:
    shown = {"name": HOSTILE, "rows": [{"text": HOSTILE}], **values}
    return CompiledTemplate(source, CONTRACT).render(shown, {"content": "<form>"}, lambda key: f"<{key}>")


def test_values_and_texts_are_escaped_and_parts_are_not() -> None:
    found = rendered('<p title="{{ name }}">{{ name }}{{ text("a") }}{{ text("b") | upper }}</p>{{ content() }}')
    assert "<script" not in found
    assert found.count("&lt;script&gt;") == 2
    assert "&lt;a&gt;&lt;B&gt;" in found
    assert found.endswith("</p><form>")
    assert "<script" not in rendered("{% for row in rows %}{{ row.text }}{{ row.text | title }}{% endfor %}")


@pytest.mark.parametrize("bound", ["MAX_OUTPUT", "MAX_SECONDS"])
def test_bound_ends_a_template(monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(compiled, bound, 0 if bound == "MAX_OUTPUT" else -1.0)
    with pytest.raises(TemplateFailed, match="too large, or it took too long"):
        rendered("<p>{{ name }}</p>")


@pytest.mark.parametrize(
    "source", ["{{ absent.name }}", "{{ name() }}", "{{ name.__class__.__mro__ }}", "{{ rows.append(1) }}"]
)
def test_error_of_a_template_is_one_kind(source: str) -> None:
    with pytest.raises(TemplateFailed):
        rendered(source)


def test_view_is_not_changed_and_nothing_else_is_seen() -> None:
    for name in ("range", "dict", "lipsum", "cycler", "joiner", "namespace", "config", "request", "g"):
        with pytest.raises(TemplateFailed):
            rendered(f"{{{{ {name}() }}}}")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ heading() }}{% if has_methods %}{{ methods() }}{% endif %}{{ body() }}", "HCB"),
        ("{% if has_methods %}{{ methods() }}{% endif %}{{ body() }}", "CB"),
        ("{{ body() }}{{ heading() }}", "BHC"),
    ],
)
def test_newer_part_is_beside_one_that_is_always_there(source: str, expected: str) -> None:
    newer = TemplateContract(
        values={"has_methods": Value(ValueKind.FLAG, "")},
        parts={
            "heading": Part("", is_required=True),
            "methods": Part("", is_required=True),
            "captcha": Part("", is_required=True, since=2),
            "body": Part("", is_required=True),
        },
    ).written_for(1)
    parts = {"heading": "H", "methods": "M", "captcha": "C", "body": "B"}
    assert CompiledTemplate(source, newer).render({"has_methods": False}, parts, str) == expected


def test_template_without_a_place_for_a_newer_part_fails() -> None:
    newer = TemplateContract(
        {"a": Value(ValueKind.FLAG, "")}, {"body": Part(""), "new": Part("", True, 2)}
    ).written_for(1)
    with pytest.raises(TemplateFailed, match="no place for new"):
        CompiledTemplate("{% if a %}{{ body() }}{% endif %}", newer)
