"""The page that a program wants a mail to lead to: it may say nothing in the place of our link's token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from app.contract.messages import MailTemplate
from tests.support.customers import NEW, UNLIMITED, Customer, a_customer
from tests.support.mailbox import link_in, mails_to
from tests.support.message_templates import states
from tests.support.registering import register
from tests.support.tenant_server import NewTenantServer, answered, refused

SHOP, ADDED, FREE = "https://shop.example/app", "second@example.test", "free@example.test"
THEIRS = "THEIR-own-token"
SPELLINGS = pytest.mark.parametrize(
    "query",
    [f"vtoken={THEIRS}", f"y=1&VTOKEN={THEIRS}", f"v%74oken={THEIRS}&vtoken={THEIRS}"],
    ids=["same", "case", "encoded"],
)


def reset(ada: Customer, url: str) -> Any:
    return ada.forgot(resetpasswordurl=url)


def deletion(ada: Customer, url: str) -> Any:
    bearer = answered(ada.logs_in())["access_token"]
    return ada.tenant.send("DELETE", "/identity/v2/auth/account", bearer=bearer, deleteurl=url)


def addition(ada: Customer, url: str) -> Any:
    bearer = answered(ada.logs_in())["access_token"]
    body = {"email": ADDED, "type": "Secondary"}
    return ada.tenant.send("POST", "/identity/v2/auth/email", body, bearer=bearer, verificationurl=url)


def registration(ada: Customer, url: str) -> Any:
    return register(ada.tenant, FREE, query={"verificationurl": url})


ASKED: dict[str, tuple[Callable[[Customer, str], Any], str]] = {
    "reset": (reset, ""),
    "deletion": (deletion, ""),
    "addition": (addition, ADDED),
    "registration": (registration, FREE),
}
WAYS = pytest.mark.parametrize("way", ASKED)


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> Customer:
    open_ = UNLIMITED | {"register_per_minute_per_address": 0}
    return a_customer(new_tenant_server, url_whitelist=("https://shop.example",), limits=open_)


@SPELLINGS
@WAYS
def test_a_mail_has_one_token_and_it_is_ours(ada: Customer, way: str, query: str) -> None:
    ask, to = ASKED[way]
    answered(ask(ada, f"{SHOP}?{query}#/next?{query}"))
    mail = mails_to(ada.tenant.services, ada.tenant.tenant_id, to or ada.email)[-1]
    assert THEIRS not in str(mail)
    told = parse_qsl(urlsplit(link_in(mail)).query)
    assert [name.lower() for name, _ in told].count("vtoken") == 1
    assert len(dict(told)["vtoken"]) == 43


@WAYS
@pytest.mark.parametrize(
    "page", ["/reset-password?vtoken=", "/verify?a=1&VTOKEN=", "/auth.aspx?vtype=reset&x=", "/?attempt="]
)
def test_our_own_pages_take_no_query_of_theirs(ada: Customer, way: str, page: str) -> None:
    own = ada.tenant.services.settings.hub_url(ada.tenant.name)
    ask, to = ASKED[way]
    assert refused(ask(ada, f"{own}{page}{THEIRS}")) in ((403, 1249), (403, 1251))
    answered(ask(ada, f"{own}/auth.aspx?return_url=https%3A%2F%2Fshop.example&lang=de"))
    assert link_in(mails_to(ada.tenant.services, ada.tenant.tenant_id, to or ada.email)[-1]).startswith(own)


def test_a_template_shows_the_link_s_own_token(ada: Customer) -> None:
    """Not what a program says in its place: a stranger would write the mail."""
    own = {"type": "forgotpassword", "subject": "Reset", "html": "<p>Token: #GUID#.</p><p>#Url#</p>"}
    states(ada.tenant, MailTemplate.model_validate(own))
    answered(ada.forgot(resetpasswordurl=f"{SHOP}?vtoken=INVALID-your+account+was+hacked,+call+0900+123"))
    mail = ada.mails()[-1]
    token = dict(parse_qsl(urlsplit(link_in(mail)).query))["vtoken"]
    assert f"Token: {token}." in mail["text"]
    assert "0900" not in str(mail)
    answered(ada.reset(resettoken=token, password=NEW))
