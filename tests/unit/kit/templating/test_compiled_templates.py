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
