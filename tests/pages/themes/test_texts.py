"""A tenant's own texts on its pages, in its emails and in its text messages."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.messages.models import MailKind, SmsKind
from app.contract.tenants.branding import Brand
from app.identity.messaging import rendering, text_message
from app.identity.messaging.message import Branding, MessageFacts
from app.kit.text import source_texts, tenant_texts
from app.kit.text.languages import LANGUAGES
from app.kit.text.source_texts import SourceText, TextKeys, text_keys
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, Visitor

HOSTILE = "\"><img src=x onerror=alert(1)>' & 100 %"
ESCAPED = "&#34;&gt;&lt;img src=x onerror=alert(1)&gt;&#39; &amp; 100 %"


def key_of(text: str, context: str = "") -> str:
    """The key of a source text, whatever it is called."""
    return next(key for key, source in text_keys().current.items() if (source.text, source.context) == (text, context))


def texts(*wordings: tuple[str, Any], tag: str = "en") -> dict[str, Any]:
    return {tag: {key_of(text): wording for text, wording in wordings}}


def test_text_of_the_tenant_is_on_its_pages_alone(
    world: World, new_world: NewWorld, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    world.change_brand(texts=texts(("Sign in to %(name)s", "Enter {name}"), ("Forgot password?", "Lost it?")))
    page = visitor.open("/login")
    assert page.heading == f"Enter {world.name.title()}"
    assert "Lost it?" in page.text
    assert "Forgot password?" not in page.text
    assert "Forgot password?" in new_visitor_at(new_world()).open("/login").text


def test_text_is_of_one_language(world: World, new_visitor: NewVisitor) -> None:
    world.change_brand(texts=texts(("Forgot password?", "Weg?"), tag="de"))
    assert "Weg?" in new_visitor().open("/login?lang=de").text
    assert "Forgot password?" in new_visitor().open("/login").text


def test_changed_text_is_on_the_next_page(
    world: World, new_visitor: NewVisitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    for wording in ("First", "Second"):
        world.change_brand(texts=texts(("Forgot password?", wording)))
        assert wording in new_visitor().open("/login").text


@pytest.mark.parametrize("path", ["/login", "/register", "/forgot-password"])
def test_markup_in_a_text_is_plain_text(world: World, visitor: Visitor, path: str) -> None:
    plain = {
        key: HOSTILE for key, source in text_keys().current.items() if not source.plural and not source.placeholders
    }
    world.change_brand(texts={"en": plain})
    page = visitor.open(path)
    assert ESCAPED in page.html
    assert HOSTILE not in page.html
    assert "<img src=x" not in page.html


def test_every_form_of_text_can_be_replaced(world: World, visitor: Visitor) -> None:
    plural = next(source for source in text_keys().current.values() if source.text == "At least %(num)d character")
    world.change_brand(
        texts={
            "en": {
                key_of(plural.text): {"one": "{num} sign", "other": "{num} signs, 5 %"},
                key_of("A number", "rule of a password"): "one digit, 5 %",
                key_of("Error: %(title)s", "page title"): "Oops: {title}",
                key_of("Create your account"): "Join",
            }
        }
    )
    page = visitor.open("/register")
    assert "10 signs, 5 %" in page.text
    assert "one digit, 5 %" in page.text
    assert page.press("Create account").title.startswith("Oops: Join")


def test_text_that_an_upgrade_retired_leaves_ours(
    world: World, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = text_keys()
    renamed = TextKeys({**known.current, key_of("Forgot password?"): SourceText("Forgot %(what)s?")}, {"old": ""})
    wording = {key_of("Forgot password?"): "Lost {other}?", "old": "x", key_of("Sign in to %(name)s"): "Enter {name}"}
    world.change_brand(texts={"en": wording})
    monkeypatch.setattr(tenant_texts, "text_keys", lambda: renamed)
    page = visitor.open("/login")
    assert page.heading.startswith("Enter")
    assert "Forgot password?" in page.text


def test_emails_and_text_messages_have_the_texts() -> None:
    own = texts(
        ("Expires in %(time)s", "Only {time} left <b>"),
        ("%(code)s is your %(tenant)s code.", "{code}: your code"),
    )
    branding = Branding("Acme", Brand.model_validate({"texts": own}))
    facts = MessageFacts(to="ada@example.com", url="https://acme.example/v/1", otp="123456", minutes=30)
    mail = rendering.render(MailKind.VERIFICATION, branding, facts, LANGUAGES["en"])
    assert "Only 30 minutes left <b>" in mail.text
    assert "Only 30\u00a0minutes left &lt;b&gt;" in mail.html
    ours = rendering.render(MailKind.VERIFICATION, Branding("Acme", Brand()), facts, LANGUAGES["en"])
    assert "Only" not in ours.text
    sentence = text_message.sentence(SmsKind.VERIFICATION, "Acme", facts, branding.texts.catalogue("en"))
    assert sentence.startswith("123456: your code")


def test_keys_of_this_version_are_read_once() -> None:
    assert source_texts.text_keys() is source_texts.text_keys()
    assert not text_keys().retired.keys() & text_keys().current.keys()
