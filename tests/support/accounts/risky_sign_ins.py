"""Sign-ins from other places and browsers."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from werkzeug.test import TestResponse

from app.identity.authentication.sign_in.locations.text_file import ListedLocations
from tests.support.accounts.customers import OLD
from tests.support.operation_cases.cases import AccountHolder, Act
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.plain_client import PlainClient

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"


CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36"


LINZ, VIENNA, PARIS = "203.0.113.7", "198.51.100.7", "192.0.2.7"


PLACES = "203.0.113.0/24,Austria,Linz\n198.51.100.0/24,Austria,Vienna\n192.0.2.0/24,France,Paris\n2001:db8::/32,Spain,\nnonsense\n"


def from_another_city(user_agent: str, address: str) -> Act:
    """Sign in from the known address, then from this user agent and address."""

    def act(who: AccountHolder) -> TestResponse:
        services = who.tenant.services
        with TemporaryDirectory() as folder:
            (Path(folder) / "places.csv").write_text(PLACES)
            saved, services.locations = services.locations, ListedLocations(Path(folder) / "places.csv")
        try:
            sign_in(who)
            return attempt_sign_in(who, user_agent, address)
        finally:
            services.locations = saved

    return act


def sign_in(who: AccountHolder, user_agent: str = FIREFOX, address: str = LINZ, **query: Any) -> None:
    answered(attempt_sign_in(who, user_agent, address, **query))


def attempt_sign_in(
    who: AccountHolder, user_agent: str = FIREFOX, address: str = LINZ, *, password: str = OLD,
    path: str = "/identity/v2/auth/login", **query: Any,
) -> TestResponse:  # fmt: skip
    base, query_string = f"http://{who.tenant.services.settings.api_hostname}", {"apikey": who.tenant.api_key, **query}
    return PlainClient(who.tenant.app).post(
        path, json={"email": who.email, "password": password}, query_string=query_string, base_url=base,
        headers={"User-Agent": user_agent}, environ_base={"REMOTE_ADDR": address},
    )  # fmt: skip


def is_refusal(mail: dict[str, Any]) -> bool:
    """Whether the mail reports a sign-in that was refused."""
    return "Sign-in blocked" in mail["text"] and "all set" not in mail["text"]


def notices(who: AccountHolder) -> list[str]:
    return [mail["text"] for mail in who.mails() if "New sign-in to" in mail["text"] or is_refusal(mail)]
