"""A validator, a check of the visit or a header that is added in one place holds for every request of its kind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from flask import Flask
from werkzeug.exceptions import TooManyRequests
from wtforms.fields.core import UnboundField
from wtforms.validators import ValidationError as Refused

from app.hub.forms.profile_fields import FieldsForm
from app.hub.pages.recovery.forgotten_credential import ForgotForm
from app.hub.pages.registration.registration_form import RegisterForm
from app.hub.pages.sign_in.login.form import LoginForm
from app.hub.rendering.form import HubForm
from app.hub.web import security_headers, visit_opening
from tests.support.oauth.world import World
from tests.support.visitors.scripted_answers import Page, ScriptedHub, page_of
from tests.support.visitors.visitor import NewVisitor, Visitor

EVERYTHING: Final[dict[str, Any]] = {
    "two_factor": "optional", "passkeys": True, "deletion_days": 3, "phone_login": True, "username_login": True, "email_login": True,
    "organizations": {"enabled": True, "self_service_creation": True}, "security_questions": {"pet": "Your first pet?"},
    "pin": {"is_on": True}, "passwordless_email": True, "smart_login": True,
}  # fmt: skip
PACKAGE: Final = Path(visit_opening.__file__).parents[2]
BUTTONS: Final = (
    "", "again", "choose", "decline", "forget", "join", "link", "own", "passkey", "prove", "rename", "renew", "resend", "skip",
    "there", "yes",
)  # fmt: skip
"""Values of `do` and `action`, by which views with several buttons branch."""
FIRST_VALUES: Final = {"protocol": "oidc", "app": "shop", "method": "mail", "name": "profile"}


@pytest.fixture
def page(world: World, visitor: Visitor) -> Page:
    """A sign-in page of an application, in the browser of a signed-in person, where everything is on."""
    world.change_settings(**EVERYTHING)
    ada = world.person("ada@example.com", FirstName="Ada")
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    assert visitor.session_cookie()
    shop = world.application("shop", client_name="Acme Shop")
    shown = visitor.authorize(shop, prompt="login")
    return page_of(visitor, shown.address, "Continue")


def addresses(app: Flask, method: str) -> Iterator[str]:
    """Yield an address of each route."""
    for rule in app.url_map.iter_rules():
        if method in (rule.methods or ()):
            path = re.sub(r"<any\((\w+).*?\)[^>]*>", r"\1", rule.rule)
            yield re.sub(r"<(?:\w+:)?(\w+)>", lambda name: FIRST_VALUES.get(name[1], "x"), path)


def refuse_form(form: HubForm, *_: object) -> bool:
    form.form_errors.append("The added validator refuses.")
    return False


def test_no_form_acts_that_a_validator_refuses(
    scripted: ScriptedHub, hub_app: Flask, page: Page, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """It asks for no more than a form with an invalid CSRF token, which is refused before anything else."""
    own = {name: text for name, text in page.fields.items() if name != "attempt"}
    forged = {"token": "A" * 43}
    for path in addresses(hub_app, "POST"):
        with subtests.test(path):
            for fields in (page.fields, own):
                for button in BUTTONS:
                    sent = {**fields, "do": button, "action": button, "vtoken": "x"}
                    refused = scripted.post(None, path, {**sent, **forged}, headers=page.headers)
                    when_forged = {*scripted.called, "hub.tenant"}
                    with monkeypatch.context() as context:
                        context.setattr(HubForm, "validate", refuse_form)
                        answer = scripted.post(None, path, sent, headers=page.headers)
                    assert set(scripted.called) <= when_forged, button
                    assert 500 not in (refused.status, answer.status), button


HIDDEN: Final = ("remember", "security_answer", "security_question", "connects")
"""Fields of the sign-in page whose errors have no place on it in its first state."""


def refuse(*_: object) -> None:
    raise Refused("The added validator refuses.")


FORMS: Final[dict[str, tuple[type[HubForm], str, str, dict[str, str]]]] = {
    "/login": (LoginForm, "password", "Sign in", {"identifier": "ada", "password": "her password"}),
    "/register": (
        RegisterForm,
        "email",
        "Create account",
        {"email": "new@example.com", "password": "correct-horse-77!"},
    ),
    "/forgot-password": (ForgotForm, "identifier", "Send reset link", {"identifier": "ada"}),
}


@pytest.mark.parametrize("path", FORMS)
def test_added_validator_refuses_right_forms(
    world: World, new_visitor: NewVisitor, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    world.change_settings(limits={"register_per_minute_per_address": 0})
    ada = world.person("ada@example.com")
    form, field, button, typed = FORMS[path]
    typed = {name: {"ada": ada.email, "her password": ada.password}.get(text, text) for name, text in typed.items()}
    assert new_visitor().open(path).press(button, **typed).status == 200
    monkeypatch.setattr(form, f"validate_{field}", refuse, raising=False)
    refused = new_visitor().open(path).press(button, **typed)
    assert refused.status == 422
    assert "The added validator refuses." in refused.text


def with_validator(field: UnboundField[Any]) -> UnboundField[Any]:
    """Return the declaration of a field with one validator more."""
    label, validators, *others = (*field.args, None, None)[: max(2, len(field.args))]
    validators = validators or field.kwargs.get("validators", ())
    more = {name: value for name, value in field.kwargs.items() if name not in ("label", "validators")}
    label = field.kwargs.get("label", label)
    return UnboundField(field.field_class, label, [*validators, refuse], *others, **more)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/login", name)
        for name in ("identifier", "password", "remember", "security_answer", "security_question", "connects")
    ]
    + [("/forgot-password", "identifier")],
)
def test_validator_added_to_a_declared_field_refuses(
    world: World, new_visitor: NewVisitor, monkeypatch: pytest.MonkeyPatch, path: str, field: str
) -> None:
    ada = world.person("ada@example.com")
    form, _, button, typed = FORMS[path]
    typed = {name: {"ada": ada.email, "her password": ada.password}.get(text, text) for name, text in typed.items()}
    monkeypatch.setattr(form, field, with_validator(getattr(form, field)))
    refused = new_visitor().open(path).press(button, **typed)
    assert refused.status == 422
    assert "The added validator refuses." in refused.text or field in HIDDEN


def test_no_module_of_the_hub_replaces_validators() -> None:
    """A validator that is added to a field's declaration would be lost."""
    written = [
        f"{path.name}:{node.lineno}"
        for path in (PACKAGE / "hub").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "validators" and not isinstance(node.ctx, ast.Load)
    ]
    assert written == []


def test_added_validator_refuses_an_edit_of_the_profile(
    world: World, visitor: Visitor, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = visitor.open("/profile/edit")
    monkeypatch.setattr(FieldsForm, "validate_first_name", refuse, raising=False)
    assert shown.press("Save", first_name="Augusta").status == 422
    assert "Augusta" not in visitor.open("/profile").text


def test_added_check_of_the_visit_refuses_every_request(
    scripted: ScriptedHub, hub_app: Flask, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("/login", "/register", "/forgot-password"):  # their pages are in memory from here on
        assert scripted.get(None, path, headers={"Accept-Encoding": "gzip"}).status == 200

    def refuse_visit(_: object) -> None:
        raise TooManyRequests

    monkeypatch.setattr(visit_opening, "refuse_shed", refuse_visit)
    for method in ("GET", "POST", "HEAD"):
        for path in addresses(hub_app, method):
            for headers in (page.headers, {"Accept-Encoding": "gzip"}):
                answer = scripted.get(None, path, method=method, headers=headers)
                assert (answer.status, scripted.called) in ((429, []), (429, ["hub.tenant"])), (method, path)


def test_added_header_is_in_every_response(
    scripted: ScriptedHub, hub_app: Flask, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(security_headers, "HEADERS", (*security_headers.HEADERS, ("X-Added", "1")))
    for method in ("GET", "POST", "DELETE", "OPTIONS"):
        for path in (*addresses(hub_app, "GET"), "/nowhere", "/login?attempt=unknown", "/login", "/login"):
            answer = scripted.get(None, path, method=method, headers=page.headers)
            assert answer.response.headers["X-Added"] == "1", (method, path)
