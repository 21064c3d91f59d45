"""Target pages of emailed links: a target URL from the caller cannot inject or replace the link's token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from app.contract.messages.models import MailTemplate
from tests.support.accounts.customers import NEW, UNLIMITED, Customer, a_customer
from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.accounts.registering import register
from tests.support.tenants.message_templates import add_templates
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

SHOP, ADDED, FREE = "https://shop.example/app", "second@example.test", "free@example.test"
INJECTED = "THEIR-own-token"
SPELLINGS = pytest.mark.parametrize(
    "query",
    [f"vtoken={INJECTED}", f"y=1&VTOKEN={INJECTED}", f"v%74oken={INJECTED}&vtoken={INJECTED}"],
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


REQUESTS: dict[str, tuple[Callable[[Customer, str], Any], str]] = {
    "reset": (reset, ""),
    "deletion": (deletion, ""),
    "addition": (addition, ADDED),
    "registration": (registration, FREE),
}
KINDS = pytest.mark.parametrize("kind", REQUESTS)


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> Customer:
    open_ = UNLIMITED | {"register_per_minute_per_address": 0}
    return a_customer(new_tenant_server, url_whitelist=("https://shop.example",), limits=open_)


@SPELLINGS
@KINDS
def test_mail_contains_only_the_issued_token(ada: Customer, kind: str, query: str) -> None:
    ask, to = REQUESTS[kind]
    answered(ask(ada, f"{SHOP}?{query}#/next?{query}"))
    mail = mails_to(ada.tenant.services, ada.tenant.tenant_id, to or ada.email)[-1]
    assert INJECTED not in str(mail)
    query_pairs = parse_qsl(urlsplit(link_in(mail)).query)
    assert [name.lower() for name, _ in query_pairs].count("vtoken") == 1
    assert len(dict(query_pairs)["vtoken"]) == 43


@KINDS
@pytest.mark.parametrize(
    "page",
    [
        *("/reset-password?vtoken=", "/verify?a=1&VTOKEN=", "/auth.aspx?vtype=reset&x=", "/?attempt="),
        *("/r/", "/R/", "/v/x", "//n/", "/%72/", "/verify/../s/", "/x/%2e%2e/a/"),
    ],
)
def test_hub_page_with_token_in_address_is_refused(ada: Customer, kind: str, page: str) -> None:
    own = ada.tenant.services.settings.hub_url(ada.tenant.name)
    ask, to = REQUESTS[kind]
    assert refused(ask(ada, f"{own}{page}{INJECTED}")) in ((403, 1249), (403, 1251))
    answered(ask(ada, f"{own}/auth.aspx?return_url=https%3A%2F%2Fshop.example&lang=de"))
    assert link_in(mails_to(ada.tenant.services, ada.tenant.tenant_id, to or ada.email)[-1]).startswith(own)


def test_template_guid_is_the_issued_token(ada: Customer) -> None:
    """A caller's query in its place would let an attacker write text into the mail."""
    template = {"type": "forgotpassword", "subject": "Reset", "html": "<p>Token: #GUID#.</p><p>#Url#</p>"}
    add_templates(ada.tenant, MailTemplate.model_validate(template))
    answered(ada.forgot(resetpasswordurl=f"{SHOP}?vtoken=INVALID-your+account+was+hacked,+call+0900+123"))
    mail = ada.mails()[-1]
    token = dict(parse_qsl(urlsplit(link_in(mail)).query))["vtoken"]
    assert f"Token: {token}." in mail["text"]
    assert "0900" not in str(mail)
    answered(ada.reset(resettoken=token, password=NEW))
