"""Forms with a tenant's fields are the tenant's, in the visitor's language, although their classes are kept."""

from __future__ import annotations

from typing import Any

from tests.support.oauth.world import NewWorld
from tests.support.visitors.visitor import NewVisitorAt

EMAIL = {"name": "email", "required": True}
PASSWORD = {"name": "password", "type": "password", "required": True}
BUTTONS = {"en": "Create account", "de": "Konto erstellen"}


def form(**labels: str) -> dict[str, Any]:
    company = {"name": "company", "required": True, "label": labels}
    return {"registration_form": [EMAIL, PASSWORD, company]}


def test_each_language_has_its_labels(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(**form(en="Your firm", de="Ihre Firma"))
    for language, label in (("en", "Your firm"), ("de", "Ihre Firma"), ("en", "Your firm")):
        visitor = new_visitor_at(tenant)
        visitor.language = language
        page = visitor.open("/register?ui=1")
        assert label in page.text
        assert label in page.press(BUTTONS[language], email="ada@example.com").text


def test_each_tenant_has_its_fields(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    item, two = new_world(**form(en="Your firm")), new_world(**form(en="Your guild"))
    for tenant, label in ((item, "Your firm"), (two, "Your guild"), (item, "Your firm")):
        assert label in new_visitor_at(tenant).open("/register?ui=1").text


def test_changed_form_shows_at_once(new_world: NewWorld, new_visitor_at: NewVisitorAt, monkeypatch: Any) -> None:
    tenant = new_world(**form(en="Your firm"))
    assert "Your firm" in new_visitor_at(tenant).open("/register?ui=1").text
    tenant.change_settings(**form(en="Your guild"))
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    assert "Your guild" in new_visitor_at(tenant).open("/register?ui=1").text


def test_error_of_one_form_is_not_in_the_next(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(**form(en="Your firm"))
    sent = new_visitor_at(tenant).open("/register?ui=1").press("Create account", email="ada@example.com")
    assert "Fill in this field." in sent.text
    assert "Fill in this field." not in new_visitor_at(tenant).open("/register?ui=1").text
