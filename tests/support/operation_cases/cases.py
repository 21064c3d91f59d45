"""Calls of the operations of the interface: an account, one line per refusal, and every variant of a request."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import select
from werkzeug.test import TestResponse

from app.identity.credentials.passwords.breached_passwords import BreachedPasswordIndex
from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.customers import UNLIMITED, Customer, a_customer
from tests.support.accounts.mailbox import sent_messages
from tests.support.fakes.breached_passwords import breached_password_server
from tests.support.operation_cases.expected_operations import ROWS, Row, status_of
from tests.support.operation_cases.shapes import differs, narrowed
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, refused
from tests.support.visitors.captchas import worked
from tests.support.visitors.plain_client import PlainClient

QUESTIONS = {"pet": "Your first pet?", "city": "Where were you born?"}
RATES = {
    **UNLIMITED, "register_per_minute_per_address": 0, "availability_per_minute_per_address": 0,
    "captcha_question_per_minute_per_address": 0, "passkeys_per_minute_per_address": 0,
}  # fmt: skip
PAGE, STRANGE_PAGE = "https://shop.example/back", "https://evil.example/back"


@dataclass
class AccountHolder(Customer):
    """An account with a verified address, a username, a number, security answers and an access token."""

    stored_token: str = ""

    @property
    def bearer(self) -> str:
        """An access token of theirs."""
        self.stored_token = self.stored_token or str(self.tenant.tokens(self.uid)["access_token"])
        return self.stored_token

    def own(self, row: str, body: Any = None, *, at: Mapping[str, str] | None = None, **query: Any) -> TestResponse:
        """Ask a row with the access token; `at` fills the path."""
        path = ROWS[row].path.format(**(at or {}))
        return self.tenant.send(ROWS[row].method, path, body, bearer=self.bearer, **query)

    def call(self, row: str, body: Any = None, **query: Any) -> TestResponse:
        """Ask a row with the API key alone."""
        return self.tenant.send(ROWS[row].method, ROWS[row].path, body, with_secret=False, **query)

    def managed(self, row: str, body: Any = None, *, at: Mapping[str, str] | None = None, **query: Any) -> TestResponse:
        """Ask a row with the secret; `at` fills the path."""
        path = ROWS[row].path.format(**{"uid": self.uid, **(at or {})})
        return self.tenant.send(ROWS[row].method, path, body, **query)

    def update_account(self, **members: Any) -> AccountHolder:
        """Let the tenant's server change the account."""
        self.tenant.update(self.uid, members)
        return self

    def advance_clock(self, **by: float) -> None:
        """Advance the clock."""
        pass_time(self.tenant.services, **by)

    def mailed(self, to: str = "") -> dict[str, Any]:
        """Return the newest mail to an address, by default the account's own."""
        stored = sent_messages(self.tenant.services, self.tenant.tenant_id)
        return [message for message in stored if message["to"] == (to or self.email)][-1]


def account_holder(make: NewTenantServer, **settings: Any) -> AccountHolder:
    """Return an account at a new tenant with these settings."""
    stated = {
        "captcha": {"work_bits": 8},
        "security_questions": QUESTIONS,
        "url_whitelist": ("https://shop.example",),
        "limits": RATES,
    }
    return AccountHolder(**vars(a_customer(make, **{**stated, **settings})))


Act = Callable[[AccountHolder], TestResponse]


@dataclass(frozen=True)
class Refusal:
    """One pair of operation and code: the action, and the tenant in which it happens."""

    row: str
    code: int
    act: Act
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.row} {self.code}"

    def check(self, make: NewTenantServer) -> None:
        """Raise it for real."""
        answer = self.act(account_holder(make, **self.settings))
        assert refused(answer) == (status_of(self.row, self.code), self.code), answer.text


@contextmanager
def without_sms(who: AccountHolder) -> Iterator[None]:
    """Run without a sender of text messages."""
    services = who.tenant.services
    former, services.settings = services.settings, replace(services.settings, sms_url="", mail_url="smtp://127.0.0.1:9")
    try:
        yield
    finally:
        services.settings = former


@contextmanager
def with_breached(who: AccountHolder, *passwords: str) -> Iterator[None]:
    """Put these passwords on the list of breached passwords for a while."""
    services = who.tenant.services
    former = services.breached_passwords
    with breached_password_server(*passwords) as other:
        services.breached_passwords = BreachedPasswordIndex(other.url)
        try:
            yield
        finally:
            services.breached_passwords = former


def solved(refusal: TestResponse) -> dict[str, Any]:
    """Return the answer to the captcha that a refusal holds."""
    requested = refusal.get_json()["Data"]["Captcha"]
    return {
        "captcha_challenge": requested["Token"],
        "captcha_work": worked(requested["WorkSeed"], requested["WorkBits"]),
    }


def refusals(row: str, *lines: tuple[Any, ...]) -> list[Refusal]:
    """Return the refusals of one row: (code, act) or (code, act, settings) each."""
    return [Refusal(row, line[0], line[1], *line[2:]) for line in lines]


@dataclass(frozen=True)
class Ask:
    """The request."""

    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] = field(default_factory=dict)
    at: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def once(done: object, requested: Ask) -> Ask:
    """Return the request that follows an action."""
    assert done
    return requested


@dataclass(frozen=True)
class Answer:
    """A row that answers 200: how one comes to be able to ask it, and what the answer is, member by member."""

    row: str
    prepare: Callable[[AccountHolder], Ask]
    shape: Any
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_flat: bool = True  # members of members have no form-encoded spelling
    events: tuple[str, ...] = ()  # every event of the request, silent where the caller suppresses webhooks

    def __str__(self) -> str:
        return self.row

    def variants(self) -> Iterable[str]:
        """Yield every variant of the request, each named by its spellings.

        Each spelling is in one variant; those that cannot hide each other's failure share a request.
        """
        row = ROWS[self.row]
        schemes, marks = row.auth.split("+"), row.marks.split()
        has_body = row.method != "GET"
        yield "as stated"
        yield _variant("odd letter case", ("fields", "F" in marks), ("X-PreventWebhook", "PW" in marks))
        yield _variant(
            "key in a header",
            ("secret in a header", "S" in schemes),
            ("token in the query", "U" in schemes),
            ("prevent_webhook", "PW" in marks),
        )
        if "U" in schemes and has_body:
            yield "token in the body"
        if row.takes_form and has_body and self.is_flat:
            yield "form"
        yield from (f"at {other}" for other in row.also)

    def check(self, make: NewTenantServer, variant: str) -> None:
        """Send this variant of the request."""
        who = account_holder(make, **self.settings)
        requested = self.prepare(who)
        began = len(events(who.tenant))
        answer = send(who, self.row, requested, variant)
        assert answer.status_code == 200, answer.text
        assert answer.headers["Content-Type"] == "application/json"
        shape = narrowed(self.shape) if "fields" in variant.split(", ") else self.shape
        assert differs(shape, answer.get_json()) == "", answer.text
        recorded = events(who.tenant)[began:]
        names = sorted(name for name, _ in recorded)
        assert names == sorted(self.events)
        assert {silent for _, silent in recorded} <= {"ebhook" in variant}


def _variant(first: str, *others: tuple[str, bool]) -> str:
    return ", ".join([first, *(name for name, applies in others if applies)])


def send(who: AccountHolder, row_id: str, requested: Ask, variant: str) -> TestResponse:
    """Send one variant of a request."""
    spellings = variant.split(", ")
    row, base = ROWS[row_id], f"http://{who.tenant.services.settings.api_hostname}"
    body = dict(requested.body) if requested.body is not None else None
    query, headers = dict(requested.query), dict(requested.headers)
    _show(who, row, spellings, query, headers)
    path = next((spelling.removeprefix("at ") for spelling in spellings if spelling.startswith("at ")), row.path)
    if "token in the body" in spellings:
        body = {**(body or {}), "access_token": who.bearer}
    if "odd letter case" in spellings:
        path = re.sub(r"[a-z]+(?![a-z]*})", lambda found: found[0].title(), path)
        query = {name.upper(): value for name, value in query.items()}
        body = {_odd(name): value for name, value in body.items()} if body is not None else None
    if "fields" in spellings:
        query["fields"] = "Uid,email/value"
    if "prevent_webhook" in spellings:
        query["prevent_webhook"] = "true"
    if "X-PreventWebhook" in spellings:
        headers["X-PreventWebhook"] = "true"
    sent: dict[str, Any] = {"json": body} if body is not None else {}
    if "form" in spellings:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        sent = {"data": urlencode(body or {})}
    path = path.format(**{"uid": who.uid, **requested.at})
    return PlainClient(who.tenant.app).open(
        path, method=row.method, query_string=query, base_url=base, headers=headers, **sent
    )


def _show(
    who: AccountHolder, row: Row, spellings: Collection[str], query: dict[str, Any], headers: dict[str, str]
) -> None:
    """Show the key, the secret and the token that the row asks for, each where these spellings have it."""
    if "key in a header" in spellings:
        headers["X-Acme-ApiKey"] = who.tenant.api_key
    else:
        query["apikey"] = who.tenant.api_key
    if "S" in row.auth and "secret in a header" in spellings:
        headers["x-lr-apisecret"] = who.tenant.api_secret
    elif "S" in row.auth:
        query["apisecret"] = who.tenant.api_secret
    if "U" in row.auth and "token in the query" in spellings:
        query["access_token"] = who.bearer
    elif "U" in row.auth and "token in the body" not in spellings:
        headers["Authorization"] = f"Bearer {who.bearer}"


def _odd(name: str) -> str:
    return name.upper() if name[:1].islower() else name.lower()


def events(tenant: TenantServer) -> list[tuple[str, bool]]:
    """Return the account events of the tenant in order, and whether webhooks are suppressed."""
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        requested = select(audit.c.event, audit.c.facts).where(audit.c.tenant_id == tenant.tenant_id)
        rows = work.all(requested.order_by(audit.c.entry_id))
    return [(row.event[6:], bool(row.facts["silent"])) for row in rows if row.event.startswith("event.")]
