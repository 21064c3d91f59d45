"""A themed page costs the calls and statements of ours, and each template of a theme is compiled once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from app.hub.tenants import own_templates
from app.hub.tenants.own_templates import Blocks
from app.identity.administration.configuration.file.theme import read_folder
from app.kit.caching.lru_cache import SharedCache
from app.kit.templating.compiled import TemplateFailed
from tests.support.journeys.account_security import signed_in
from tests.support.oauth.world import World
from tests.support.races import at_once
from tests.support.visitors.visitor import NewVisitor, Visitor

LOGIN, FORGOT, SPLIT = "pages/sign_in/login.html", "pages/recovery/forgotten_credential.html", "layouts/split.html"
FILES = {
    LOGIN: "{% block lead %}<p>own</p>{% endblock %}",
    FORGOT: "{% block lead %}<p>own</p>{% endblock %}",
    SPLIT: "<p>own</p>{{ content() }}{{ languages() }}",
}


@pytest.fixture
def bank() -> dict[str, Any]:
    """The look of an example theme with layouts, a page, texts and a style sheet."""
    brand = read_folder.folder_of(Path("examples/themes/bank")).brand
    assert {"layouts/split.html", "layouts/console.html", LOGIN} <= brand.templates.keys()
    assert brand.css
    assert brand.texts
    return brand.model_dump(exclude_unset=True)


def cost(visitor: Visitor, path: str) -> tuple[int, int, int]:
    """Return the calls, statements and commits of the second visit of a page, which finds the tenant cached."""
    visitor.open(path)
    spent = visitor.open(path).cost
    return spent["api"], spent["sql"], spent["commits"]


@pytest.mark.parametrize("path", ["/login", "/register", "/forgot-password", "/no-such-page", "/error"])
def test_anonymous_page_of_theme_makes_no_call(world: World, visitor: Visitor, bank: dict[str, Any], path: str) -> None:
    world.change_brand(**bank)
    assert cost(visitor, path) == (0, 0, 0)
    assert 'class="own-' in visitor.open(path).html


@pytest.mark.parametrize("path", ["/profile", "/security", "/change-password", "/no-such-page"])
def test_themed_page_costs_what_ours_costs(
    world: World, new_visitor: NewVisitor, bank: dict[str, Any], path: str
) -> None:
    visitor = new_visitor()
    signed_in(visitor, world.person("ada@example.com"))
    ours = cost(visitor, path)
    world.change_brand(**bank)
    visitor.open("/profile")  # its response says that the tenant has changed
    assert cost(visitor, path) == ours
    assert 'class="own-' in visitor.open(path).html


def test_visit_compiles_the_templates_of_its_page_alone(world: World, visitor: Visitor) -> None:
    world.change_brand(templates=FILES, sentence={"en": "A theme of its own"})
    own_templates.COMPILED.clear()
    assert "own" in visitor.open("/login").text
    assert {name for name, _ in own_templates.COMPILED.keys(world.name)} == {LOGIN, SPLIT}


def test_template_is_compiled_once_for_all_visits() -> None:
    own, compiled = own_templates.own_templates(FILES), []

    def counted(name: str) -> Blocks:
        compiled.append(name)
        return own.compile(name)

    own_templates.COMPILED.clear()
    themes = [replace(own, compile=counted) for _ in range(20)]  # of several hosts and versions of a tenant
    at_once([partial(at.blocks, LOGIN) for at in themes])
    assert compiled == [LOGIN]


def test_template_that_fails_is_compiled_once() -> None:
    own = own_templates.own_templates({LOGIN: "{% block lead %}<script></script>{% endblock %}"})
    compiled: list[str] = []

    def counted(name: str) -> Blocks:
        compiled.append(name)
        return own.compile(name)

    own_templates.COMPILED.clear()
    for _ in range(3):
        with pytest.raises(TemplateFailed, match="line 1: "):
            replace(own, compile=counted).blocks(LOGIN)
    assert compiled == [LOGIN]


@pytest.mark.parametrize("fault", [MemoryError, RecursionError])
def test_fault_of_ours_is_logged_and_tried_again(fault: type[Exception], caplog: pytest.LogCaptureFixture) -> None:
    own = own_templates.own_templates(FILES)

    def failing(name: str) -> Blocks:
        raise fault(name)

    own_templates.COMPILED.clear()
    with pytest.raises(TemplateFailed, match=fault.__name__):
        replace(own, compile=failing).blocks(LOGIN)
    assert "a template of a theme was not compiled" in caplog.text
    assert own.blocks(LOGIN)


def text_of(number: int) -> dict[str, str]:
    return {LOGIN: f"{{% block lead %}}<p>{number}</p>{{% endblock %}}"}


def test_compiled_templates_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_templates, "COMPILED", SharedCache(3))
    for number in range(10):
        assert own_templates.own_templates(text_of(number)).blocks(LOGIN)
    assert len(own_templates.COMPILED.keys("")) == 3


def test_brands_of_a_tenant_evict_no_others_template(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_templates, "COMPILED", SharedCache(4))
    other = own_templates.own_templates(FILES, tenant="globex")
    held = other.blocks(LOGIN)
    for number in range(20):
        assert own_templates.own_templates(text_of(number), tenant="acme").blocks(LOGIN)
    assert other.blocks(LOGIN) is held


def test_brands_share_a_template_that_both_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_templates, "COMPILED", SharedCache(4))
    one, another = (own_templates.own_templates({**FILES, **more}, tenant="acme") for more in ({}, {SPLIT: "<p></p>"}))
    assert one.digest != another.digest
    assert one.blocks(LOGIN) is another.blocks(LOGIN)


def test_template_with_another_file_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_templates, "COMPILED", SharedCache(4))
    shown = {LOGIN: '{% block lead %}<img src="img/a.png" alt="">{% endblock %}'}
    one, another = (
        own_templates.own_templates(shown, files={"img/a.png": digit * 32}, tenant="acme") for digit in "01"
    )
    assert one.blocks(LOGIN) is not another.blocks(LOGIN)


def test_templates_are_compiled_without_waiting_for_others() -> None:
    own, both = own_templates.own_templates(FILES, tenant="acme"), Barrier(2)

    def meeting(name: str) -> Blocks:
        both.wait(60)  # raises unless the other one is compiled at the same time
        return own.compile(name)

    own_templates.COMPILED.clear()
    slow = replace(own, compile=meeting)
    assert all(at_once([partial(slow.blocks, LOGIN), partial(slow.blocks, FORGOT)]))
