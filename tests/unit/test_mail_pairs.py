"""Two mails in a row, in every order: the second is the one that it is alone, whatever is kept of the first."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

import pytest

from app.contract.branding import Brand
from app.contract.messages import MailKind
from app.identity.messaging import kept_mails, rendering
from app.identity.messaging.message import Branding, Facts
from app.kit.languages import LANGUAGES

MOMENT = datetime(2026, 5, 4, 3, 2, tzinfo=UTC)
ADA: dict[str, Any] = {
    "to": "ada@example.com",
    "url": "https://acme.example/r?t=1",
    "otp": "123456",
    "minutes": 10,
    "username": "ada",
}
FACTS = {
    "Ada": Facts(**ADA, email="ada@example.com"),
    "Grace": Facts("grace@example.com", url="https://acme.example/r?t=2", otp="654321", minutes=10, username="grace"),
    "no code": Facts(**{**ADA, "otp": ""}),
    "no link": Facts(**{**ADA, "url": ""}),
    "later": Facts(**{**ADA, "minutes": 60}, otp_minutes=5),
    "a name": Facts(**ADA, name="Ada %(otp)s {otp} <b>"),
    "markup": Facts(**{**ADA, "username": "<b>&%s"}),
    "app": Facts(**ADA, factor="totp", change="added"),
    "sms": Facts(**ADA, factor="sms", change="added"),
    "device": Facts(**ADA, device="Firefox", browser="Firefox", system="Linux", place="Oslo", asked_at=MOMENT),
    "application": Facts(**ADA, application="Shop %s"),
    "organization": Facts(
        **ADA, organization="Corp", domain="corp.example", inviter="Eve", organization_color="#8a3b12"
    ),
    "provider": Facts(**ADA, provider="Google", added_by="e***e@example.com", until=MOMENT),
}
BRANDINGS = {
    "Acme": Branding("Acme", Brand(), "https://acme.example"),
    "Other": Branding("Other %s", Brand.model_validate({"color": "#8a3b12"}), "https://other.example"),
    "elsewhere": Branding("Acme", Brand(), "https://login.acme.example"),
}


@pytest.mark.parametrize("kind", MailKind)
def test_second_mail_is_the_one_that_it_is_alone(kind: MailKind) -> None:
    mails = [*itertools.product(FACTS, ("Acme",), ("en",)), *itertools.product(("Ada",), BRANDINGS, ("de", "ar"))]

    def rendered(mail: tuple[str, str, str]) -> object:
        facts, branding, tag = mail
        return rendering.render(kind, BRANDINGS[branding], FACTS[facts], LANGUAGES[tag])

    alone = {}
    for mail in mails:
        kept_mails._kept.clear()
        alone[mail] = rendered(mail)
    for first in mails:
        kept_mails._kept.clear()
        rendered(first)
        assert [mail for mail in mails if rendered(mail) != alone[mail]] == [], f"after {first}"
