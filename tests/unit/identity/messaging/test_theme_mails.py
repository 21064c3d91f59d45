"""Mails of a theme: its blocks and layout in HTML and text, and ours where they fail."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from jinja2 import Environment, meta

from app.contract.messages.models import MailKind
from app.contract.tenants.branding import Brand
from app.contract.themes import mail_templates, theme_problems
from app.identity.messaging import rendering
from app.identity.messaging.message import Branding, MessageFacts, RenderedMessage
from app.identity.messaging.samples import EMAIL_SAMPLES
from app.kit.package_files import TEMPLATES
from app.kit.templating.contract import Items, ValueKind
from app.kit.text.languages import LANGUAGES

LAYOUT = """<table role="presentation" width="100%"><tr><td bgcolor="#0a3d2c" style="padding:24px;color:#ffffff">
{{ mark() }}<div class="own-card" style="padding:16px 0">{{ content() }}</div>
<p>{{ sentence }} {% for link in links %}<a href="{{ link.address }}">{{ link.text }}</a>{% endfor %}</p>{{ reason() }}
</td></tr></table>"""
RESET = """{% block subject %}{{ name | upper }}:
  {{ super() }}{% endblock %}
{% block heading %}Hello <em>{{ recipient }}</em>{% endblock %}
{% block intro %}<p class="ink">Read <a href="/login">this</a> &amp; that.</p><div>{{ super() }}</div>{% endblock %}
"""
SAMPLES = [(kind, state) for kind, states in EMAIL_SAMPLES.items() for state in states]


def branding_of(templates: dict[str, str]) -> Branding:
    brand = Brand(templates=templates, sentence={"en": "Good to see you."}, links={"help": "https://acme.example/help"})
    assert not [*theme_problems.problems(brand)]
    return Branding("Acme & Co", brand, "https://login.acme.example")


def rendered(
    templates: dict[str, str], kind: MailKind = MailKind.RESET, facts: MessageFacts | None = None, tag: str = "en"
) -> RenderedMessage:
    facts = facts or next(iter(EMAIL_SAMPLES[kind].values()))
    return rendering.render(kind, branding_of(templates), facts, LANGUAGES[tag])


def test_blocks_of_a_theme_stand_in_the_place_of_ours() -> None:
    message = rendered({"mails/reset.html": RESET})

    assert message.subject == "ACME & CO: Reset your Acme & Co password"
    assert "Hello <em>Ada</em></h1>" in message.html
    assert '<a href="https://login.acme.example/login">this</a> &amp; that.</p>' in message.html
    assert "We got a request to reset your <bdi>Acme &amp; Co</bdi> password." in message.html
    assert "Didn’t ask for this?" in message.html, "a block without an own one"


def test_plain_text_has_the_sentences_without_markup() -> None:
    text = rendered({"mails/reset.html": RESET}).text

    assert text.startswith("Hello Ada\n\nRead this (https://login.acme.example/login) & that.\n\nWe got a request")
    assert "<" not in text


@pytest.mark.parametrize(("kind", "state"), SAMPLES)
def test_every_mail_keeps_link_code_and_reason(kind: MailKind, state: str) -> None:
    facts = EMAIL_SAMPLES[kind][state]
    blocks = "".join(f"{{% block {name} %}}Own {name}{{% endblock %}}\n" for name in mail_templates.BLOCKS)
    file = f"mails/{kind.name.lower()}.html"

    message = rendered({"mails/layout.html": LAYOUT, file: blocks}, kind, facts)

    assert message.subject == "Own subject"
    assert "Own intro" in message.html
    assert "Own stranger" in message.text
    assert "Sent to" in message.html
    for needed in filter(None, (facts.url, facts.otp)):
        assert needed in message.text
        assert needed in message.html


EVERY_FACT = MessageFacts(
    to="ada@example.com",
    name="Ada",
    url="https://acme.example.com/r/1",
    otp="123456",
    minutes=30,
    username="ada",
    sign_in_name="ada",
    added_by="a…@example.com",
    device="Chrome, Linux",
    factor="totp",
    provider="Google",
    change="added",
    organization="Maple",
    domain="maple",
    inviter="Grace",
    event="Login",
    webhook="w1",
    until=datetime(2027, 1, 2, tzinfo=UTC),
    theme_file="mails/reset.html",
    problem="line 1",
    failed_at=datetime(2027, 1, 2, tzinfo=UTC),
)


@pytest.mark.parametrize("kind", MailKind)
@pytest.mark.parametrize("block", ["subject", "intro"])
def test_every_value_of_a_contract_can_be_shown(kind: MailKind, block: str) -> None:
    values = mail_templates.block_contract(kind, block).values
    shown = "|".join(
        f"{{% if {name} %}}yes{{% endif %}}"
        if not isinstance(value, Items) and value.kind is ValueKind.FLAG
        else f"{{{{ {name} }}}}"
        for name, value in values.items()
    )

    message = rendered(
        {f"mails/{kind.name.lower()}.html": f"{{% block {block} %}}[{shown}]{{% endblock %}}"}, kind, EVERY_FACT
    )

    found = re.search(r"\[(.*)\]", message.subject if block == "subject" else message.text)
    assert found is not None
    assert all(found[1].split("|")), found[1]


@pytest.mark.parametrize("kind", MailKind)
def test_contract_has_the_values_that_ours_reads(kind: MailKind) -> None:
    environment = Environment(extensions=["jinja2.ext.i18n"])
    source = (TEMPLATES / "mails" / f"{kind.name.lower()}.html").read_text(encoding="utf-8")
    read = meta.find_undeclared_variables(environment.parse(source))
    ours = {"_trans", "bdi", "changed_by", "gettext", "layout", "self", "super", "tenant", "url"}

    assert read - ours <= set(mail_templates.block_contract(kind, "intro").values)


def test_layout_surrounds_the_card_of_every_mail() -> None:
    message = rendered({"mails/layout.html": LAYOUT}, MailKind.WELCOME)

    assert re.search(r'class="own-card"[^>]*><table[^>]*><tr><td class="card"', message.html)
    assert '<p>Good to see you. <a href="https://acme.example/help">Help</a></p>' in message.html
    assert message.html.count("Sent to <bdi>ada@example.com</bdi>") == 1
    assert message.html.count("<h1") == 1


def test_paragraphs_of_message_templates_have_the_layout_too() -> None:
    document, failure = rendering.render_in_frame(
        branding_of({"mails/layout.html": LAYOUT}), LANGUAGES["en"], "Spring", "<p>It’s spring.</p>"
    )

    assert re.search(r'class="own-card".*<td class="card".*<p>It’s spring.</p>', document, re.DOTALL)
    assert failure is None


def test_one_template_leaves_the_other_mails_ours() -> None:
    facts = EMAIL_SAMPLES[MailKind.VERIFICATION]["link and code"]

    assert rendered({"mails/reset.html": RESET}, MailKind.VERIFICATION, facts) == rendered(
        {}, MailKind.VERIFICATION, facts
    )


@pytest.mark.parametrize(
    "stored",
    [
        {"mails/reset.html": "{% block heading %}{{ of_another_version }}{% endblock %}"},
        {"mails/reset.html": "{% block of_another_version %}{% endblock %}"},
        {"mails/reset.html": "{% block heading %}<h1>Hello</h1>{% endblock %}"},
        {"mails/reset.html": "{% block heading %}{% if has_link and not has_link %}Never{% endif %}{% endblock %}"},
        {"mails/reset.html": "{% block heading %}"},
        {"mails/layout.html": "{{ content() }}"},
        {"mails/layout.html": "{{ content() }}{{ reason() }}{{ gone() }}"},
    ],
)
def test_failing_template_leaves_our_mail_and_a_reason(stored: dict[str, str]) -> None:
    facts = EMAIL_SAMPLES[MailKind.RESET]["link and code"]
    branding, ours = Branding("Acme", Brand(templates=stored), ""), Branding("Acme", Brand(), "")

    message = rendering.render(MailKind.RESET, branding, facts, LANGUAGES["en"])

    assert replace(message, failure=None) == rendering.render(MailKind.RESET, ours, facts, LANGUAGES["en"])
    assert message.failure is not None
    assert message.failure.file == f"templates/{next(iter(stored))}"
    assert message.failure.reason


def test_values_are_escaped_and_the_subject_is_one_line() -> None:
    source = (
        "{% block subject %}{{ organization }} on\r\n{{ name }}{% endblock %}"
        '{% block intro %}<p title="{{ inviter }}">{{ organization }}</p>{% endblock %}'
    )
    facts = replace(
        next(iter(EMAIL_SAMPLES[MailKind.INVITATION].values())),
        organization='A"><script>alert(1)</script>\r\nBcc: eve@example.com',
        inviter='"onload="x',
    )

    message = rendered({"mails/invitation.html": source}, MailKind.INVITATION, facts)

    assert "\n" not in message.subject
    assert "\r" not in message.subject
    assert "<script" not in message.html
    assert 'title="&#34;onload=&#34;x"' in message.html


def test_subject_has_no_value_with_an_address() -> None:
    facts = replace(next(iter(EMAIL_SAMPLES[MailKind.INVITATION].values())), organization="win.example/prize")

    message = rendered(
        {"mails/invitation.html": "{% block subject %}Join {{ organization }}{% endblock %}"},
        MailKind.INVITATION,
        facts,
    )

    assert message.subject == "Join"


def test_names_keep_their_direction_from_right_to_left() -> None:
    message = rendered({"mails/reset.html": "{% block heading %}{{ email }}{% endblock %}"}, tag="ar")

    assert "\u2068ada@example.com\u2069</h1>" in message.html
