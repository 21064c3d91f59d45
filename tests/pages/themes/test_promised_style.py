"""What the contract of themes promises to style sheets is true: pages have its classes, and our sheets read its properties."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from app.contract.themes import theme_contract
from app.hub import gallery
from app.hub.tenants.own_templates import own_templates
from app.kit.package_files import STATIC
from tests.support.browsers import page_samples

PROMISED = theme_contract.style()
OURS = "".join(path.read_text() for path in (STATIC / "css").glob("*.css"))
_CLASS = re.compile(r' class="([^"]*)"')


def classes_of(page: str, state: str, look: str = "acme") -> set[str]:
    html = page_samples.rendered(page, state, "en", look).html
    return {name for found in _CLASS.findall(html) for name in found.split()}


def test_every_promised_class_is_on_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = {"layouts/split.html": "{{ mark() }}{{ content() }}{{ footer() }}"}
    monkeypatch.setitem(gallery.TENANTS, "promised", replace(gallery.TENANTS["acme"], templates=own_templates(layout)))
    monkeypatch.setitem(gallery.TENANTS, "promised-alone", replace(gallery.TENANTS["acme"], scene="none"))
    seen = classes_of("LoginPage", "fresh", "promised") | classes_of("LoginPage", "fresh", "promised-alone")
    seen = seen.union(*(classes_of(page, state) for page, state in page_samples.names()))
    assert {name for name in PROMISED["classes"] if name not in seen} == set()


def test_our_sheets_have_every_promised_class() -> None:
    named = {"own", *re.findall(r"\.([a-z][\w-]*)", OURS)}  # `own` is for themes with a layout
    assert {name for name in PROMISED["classes"] if name not in named} == set()


def test_our_sheets_read_every_promised_property() -> None:
    assert {name for name in PROMISED["properties"] if f"var({name}" not in OURS} == set()


def test_name_without_promise_has_its_line() -> None:
    css = "/* .chip */\n.own-a .menu { color: var(--ink) }\n.dns,\n.row > .what { content: '.dns'; background: url(img/a.png) }\n"
    css += ".dns { padding: var(--pad) 1.5em }\n:root { --own-x: 1px }"
    assert [*theme_contract.unpromised(css)] == [(3, ".dns"), (5, "--pad")]
