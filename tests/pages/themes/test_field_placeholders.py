"""A tenant's placeholders of fields: in the page's language, beside the label, and nowhere without them."""

from __future__ import annotations

import re
from html import unescape
from itertools import product
from typing import Any

import pytest

from app.hub.gallery import KEYS
from app.kit.text.tenant_texts import FIELD_LABELS, PLACEHOLDER
from tests.support.browsers import page_samples
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, Visitor

ALL = {f"{PLACEHOLDER}{label}": label for label in FIELD_LABELS}
PASSWORD: dict[str, Any] = {"name": "password", "type": "password", "required": True}
LINES = (
    "prefix", "first_name", "middle_name", "last_name", "nick_name", "gender", "company", "website", "main_address", "city",
    "state", "about",
)  # fmt: skip


def placeholders(html: str) -> list[tuple[str, str]]:
    """Return the type of each element with a placeholder, and the placeholder."""
    found = [
        (tag, re.search(r' placeholder="([^"]*)"', tag))
        for tag in re.findall(r"<(?:input|select|textarea)[^>]*>", html)
    ]
    return [(re.split(r"[ >]", tag[1:])[0], unescape(match[1])) for tag, match in found if match]


def form_of(*fields: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": "email", "required": True}, *fields, PASSWORD]


def test_placeholder_is_in_the_language_of_the_page(
    world: World, new_world: NewWorld, new_visitor: NewVisitor, new_visitor_at: NewVisitorAt
) -> None:
    world.change_brand(texts={"de": {"placeholder.email": "name@firma.example"}})
    for path in ("/login", "/register", "/forgot-password"):
        german = new_visitor().open(f"{path}?lang=de")
        assert placeholders(german.html) == [("input", "name@firma.example")], path
        assert re.search(r"<label [^>]*>E\u2011Mail-Adresse</label>", german.html), path
        for other in ("en", "ar"):
            assert placeholders(new_visitor().open(f"{path}?lang={other}").html) == [], (path, other)
        assert placeholders(new_visitor_at(new_world()).open(f"{path}?lang=de").html) == [], path


def test_placeholder_stays_beside_what_was_typed(world: World, visitor: Visitor) -> None:
    world.change_brand(texts={"en": {"placeholder.email": "ada@example.com", "email": "ada@example.com"}})
    page = visitor.open("/login").press("Sign in", identifier="grace@example.test", password="")
    field = next(tag for tag in re.findall(r"<input[^>]*>", page.html) if 'name="identifier"' in tag)
    assert 'value="grace@example.test"' in field
    assert 'placeholder="ada@example.com"' in field
    assert ">ada@example.com</label>" in page.html, "a placeholder may be as the label is"


def test_markup_in_a_placeholder_is_plain_text(world: World, visitor: Visitor) -> None:
    hostile = "\"><img src=x onerror=alert(1)>' & 100 %"
    world.change_brand(texts={"en": dict.fromkeys(ALL, hostile)})
    for path in ("/login", "/register", "/forgot-password"):
        page = visitor.open(path)
        assert hostile in [text for _, text in placeholders(page.html)], path
        assert "<img src=x" not in page.html, path


def test_field_with_a_label_of_the_form_has_its_placeholder(world: World, new_visitor: NewVisitor) -> None:
    company = {"name": "company", "label": {"en": "Employer", "de": "Arbeitgeber"}}
    world.change_settings(registration_form=form_of(company))
    world.change_brand(texts={"de": {"placeholder.company": "Hasel GmbH"}})
    german = new_visitor().open("/register?lang=de")
    assert "Arbeitgeber" in german.text
    assert placeholders(german.html) == [("input", "Hasel GmbH")]
    assert placeholders(new_visitor().open("/register").html) == []


def test_choices_dates_and_codes_have_none(world: World, visitor: Visitor) -> None:
    gender = {"name": "gender", "type": "option", "options": [{"value": "f", "text": {"en": "Female"}}]}
    world.change_settings(registration_form=form_of(gender, {"name": "birth_date"}))
    world.change_brand(texts={"en": ALL})
    page = visitor.open("/register")
    assert "Gender" in page.text
    assert "Date of birth" in page.text
    assert placeholders(page.html) == [("input", "email"), ("input", "password")]


def test_every_placeholder_has_a_field(world: World, new_visitor: NewVisitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    world.change_brand(texts={"en": ALL})
    fields = [{"name": name, "type": "text" if name == "about" else "string"} for name in LINES]
    shown = set()
    for email, phone, username in product((True, False), repeat=3):
        if email or phone or username:
            world.change_settings(
                email_login=email, phone_login=phone, username_login=username, registration_form=form_of(*fields)
            )
            shown |= {text for _, text in placeholders(new_visitor().open("/login").html)}
    shown |= {text for _, text in placeholders(new_visitor().open("/register").html)}
    for name in ("AddEmailPage", "ChangePasswordPage", "AddDomainPage"):
        for state in page_samples.states()[name]:
            found = placeholders(page_samples.rendered(name, state, KEYS).html)
            shown |= {text.removeprefix(PLACEHOLDER) for _, text in found if text.startswith(PLACEHOLDER)}
    assert shown == set(FIELD_LABELS)
