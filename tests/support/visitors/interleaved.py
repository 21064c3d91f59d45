"""The invariants of tests/pages/test_interleavings.py."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import note
from sqlalchemy import Column, bindparam, select

from app.identity.authentication.sign_in.tables import sessions
from app.identity.credentials.one_time_tokens.one_time_token_store import one_time_tokens
from app.identity.directory.accounts.identifiers import normalize_email
from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.accounts.mailbox import links_in
from tests.support.oauth.relying_party import claims_in
from tests.support.oauth.world import World
from tests.support.services.identity_service import CHEAP, pass_time
from tests.support.visitors.people import (
    ADDRESSES,
    PASSWORDS,
    AccountPerson,
    PageBrowser,
    PressedButton,
    forms_of,
    leads_on,
)
from tests.support.visitors.visitor import Form, VisitedPage, Visitor

PEOPLE = {
    "ada": ("ada@example.test", "ada.too@example.test"),
    "bob": ("bob@example.test",),
    "eve": ("eve@example.test",),
}
ACCOUNT = [accounts.c[name] for name in ("uid", "email", "emails", "is_deleted", "password_hash")]
IDENTIFIER = [identifiers.c.kind, identifiers.c.value]
SESSION = [sessions.c.uid, sessions.c.session_hash, sessions.c.expires_at]
LINK = [one_time_tokens.c.token_id, one_time_tokens.c.state]
CONFIRMED, CHANGED, CHECK_MAIL = "Email verified", "Password changed", "Check your email"


class Model:
    """Three people at a tenant: Ada with two browsers, Bob, and Eve, who types foreign addresses."""

    def __init__(self, world: World, new_visitor: Callable[[], Visitor], is_required: bool) -> None:
        self.world, self.is_required, self._new_visitor = world, is_required, new_visitor
        self.shop = world.application("shop", client_name="Shop")
        self.people = {name: AccountPerson(world, name, addresses) for name, addresses in PEOPLE.items()}
        self.browsers = [self._browser(self.people[name], new_visitor()) for name in ("ada", "ada", "bob", "eve")]
        self.confirmed: dict[str, str] = {}  # address -> uid; a confirmed address must not be lost
        self.used_tokens: set[str] = set()
        self.revoked_hashes: set[str | None] = set()  # password hashes that a security alert leaves until the reset
        self.hashes: dict[str, str | None] = {}
        self._match_cache: dict[tuple[str | None, str], bool] = {}

    def _browser(self, person: AccountPerson, visitor: Visitor) -> PageBrowser:
        made = PageBrowser(person, visitor)
        person.browsers.append(made)
        if not person.passwords:
            person.new_password()
        return made

    # Actions.

    def opened(self, browser: PageBrowser, page: VisitedPage) -> None:
        """Record a page opened with GET."""
        browser.saw(page)
        self._check_page(browser, page)
        assert self._changed() == [], "a look changed a password"

    def pressed(self, browser: PageBrowser, page: VisitedPage, form: Form, button: str, typing: int) -> None:
        """Press a button, except to confirm an address which the person never registered."""
        typed = self._typed(browser.owner, form, typing)
        if links_in(page.address) and not self._is_own(browser.owner, page):
            return
        mails = len(browser.owner.mails())
        note(f"  {browser.owner.name} presses {button} on {_shown(page)}")
        done = browser.press(page, form, button, typed)
        if "email" in done.sent and "password" in done.sent:
            browser.owner.registered_addresses |= {done.sent["email"].lower()} & set(browser.owner.addresses)
        self._check_page(browser, done.after)
        self._record_result(browser, done, mails)

    def waited(self, seconds: int) -> None:
        """Advance the clock; after a day, people no longer confirm their registrations."""
        pass_time(self.world.services, seconds=seconds)
        if seconds > 86_400:
            for person in self.people.values():
                person.registered_addresses.clear()

    def scanned(self, method: str, link: str, agent: str) -> None:
        """Open a mailed link as a scanner, which must not use it up."""
        before = self._token_states()
        visitor = self._new_visitor()
        seen = visitor.send(method, link, None, **{"User-Agent": agent})
        assert seen.status < 500, (method, link, seen.status)
        assert not visitor.cookies("session")
        assert self._token_states() == before, f"{method} by {agent!r} spent something"

    # Invariants.

    def check(self) -> None:
        rows = {row.uid: row for row in self._rows(*ACCOUNT)}
        self._check_unique_addresses(rows)
        if self.is_required:
            self._check_ownership(rows)
        for address, uid in self.confirmed.items():
            row = rows.get(uid)
            assert row is not None, f"{address} was confirmed, and its account is gone"
            stored = [email for email in row.emails if normalize_email(email["Value"]) == address]
            assert all(email.get("verified") for email in stored), f"{address} was confirmed, and is not any more"
        browser_by_session: dict[str, PageBrowser] = {}
        now = self.world.services.clock.now()
        live = {row.session_hash: row for row in self._rows(*SESSION) if row.expires_at > now}
        for browser in self.browsers:
            if not browser.visitor.cookies("session"):
                continue
            token = browser.visitor.session_cookie()
            assert token not in browser_by_session, "two browsers hold one session"
            browser_by_session[token] = browser
            session = live.get(randomness.digest(token))
            if session is not None:
                self._check_session(browser.owner, rows[session.uid])

    def _check_ownership(self, rows: dict[str, Any]) -> None:
        """Check that a verified address belongs to an account with a password of the address's owner."""
        for person in self.people.values():
            for row in rows.values():
                proved = {normalize_email(email["Value"]) for email in row.emails if email.get("verified")}
                if (
                    proved & set(person.addresses)
                    and row.password_hash
                    and row.password_hash not in self.revoked_hashes
                ):
                    assert self._knows_password(person, row), (
                        f"{proved} is in an account with a password of another person"
                    )

    def _check_unique_addresses(self, rows: dict[str, Any]) -> None:
        stored = [normalize_email(row.email) for row in rows.values() if row.email and not row.is_deleted]
        assert len(stored) == len(set(stored)), f"two accounts of one address: {stored}"
        known = [row.value for row in self._rows(*IDENTIFIER) if row.kind == "email"]
        assert len(known) == len(set(known))
        proved = [
            normalize_email(email["Value"]) for row in rows.values() for email in row.emails if email.get("verified")
        ]
        assert len(proved) == len(set(proved)), f"one address proved twice: {proved}"

    def _check_session(self, person: AccountPerson, row: Any) -> None:
        """Check that a session belongs to the mailbox's owner, or to one who knows the password of an unverified account."""
        proved = {normalize_email(email["Value"]) for email in row.emails if email.get("verified")}
        outsiders = proved - set(person.addresses)
        if self.is_required:
            assert not outsiders, f"{person.name} is signed in as the owner of {outsiders}"
        if proved & set(person.addresses):
            return
        assert self._knows_password(person, row), (
            f"{person.name} is signed in as {row.email} without password or mailbox"
        )

    def _knows_password(self, person: AccountPerson, row: Any) -> bool:
        return any(self._is_password(row, password) for password in reversed(person.passwords))

    def _is_password(self, row: Any, password: str) -> bool:
        """Return whether the password matches; cached, since hashing is slow."""
        requested = (row.password_hash, password)
        if requested not in self._match_cache:
            self._match_cache[requested] = self.world.services.hashing.is_match(*requested, CHEAP)
        return self._match_cache[requested]

    def _check_page(self, browser: PageBrowser, page: VisitedPage) -> None:
        """Check that an answer is no server error, has a way on, and returns the right person to the application."""
        note(f"  {browser.owner.name}{self.browsers.index(browser)}: {page.status} {_shown(page)}")
        assert page.status < 500, (page.address, page.status, page.html[:2000])
        if page.answer is not None and page.answer.mimetype == "text/html" and page.status != 304:
            assert leads_on(page), f"no way forward from {page.address}: {page.text}"
        if not page.address.startswith(self.shop.redirect_uri):
            return
        assert page.query["state"].startswith(browser.owner.name), "an attempt of another browser"
        if code := page.query.get("code"):
            answer = self.shop.redeem(code)
            assert answer.status_code == 200, answer.text
            uid = claims_in(answer.json["id_token"])["sub"]  # type: ignore[index]  # a JSON object
            self._check_session(browser.owner, next(row for row in self._rows(*ACCOUNT) if row.uid == uid))

    def _record_result(self, browser: PageBrowser, done: PressedButton, mails: int) -> None:
        """Record what the page acknowledged, which must hold from now on."""
        changed = self._changed()
        heading, person = done.after.heading if "<h1" in done.after.html else "", browser.owner
        assert len(changed) < 2, "one step changed two passwords"
        if changed and done.token:
            assert done.token not in self.used_tokens, "a link set a password twice"
            self.used_tokens.add(done.token)
        if changed and done.sent.get("do") == "alarm":
            self.revoked_hashes.add(self.hashes[changed[0]])
        if changed and CHANGED in done.after.text:
            typed_password = done.sent.get("new_password", done.sent.get("password", ""))
            row = next(row for row in self._rows(*ACCOUNT) if row.uid == changed[0])
            assert self._is_password(row, typed_password), (
                "the page says that the password is changed, and it is another"
            )
        if heading == CHECK_MAIL and "Create account" in done.button and done.sent.get("email") in person.addresses:
            assert len(person.mails()) > mails, f"the page announces a mail to {done.sent['email']}, and there is none"
        for row in self._rows(*ACCOUNT):
            for email in row.emails:
                if email.get("verified"):
                    self.confirmed.setdefault(normalize_email(email["Value"]) or "", row.uid)

    # Typed values.

    def _typed(self, person: AccountPerson, form: Form, typing: int) -> dict[str, str]:
        whose = [person.addresses[0], person.addresses[0], *person.addresses]
        if person.name == "eve":  # mostly Ada's address
            whose = [PEOPLE["ada"][0]] * 3 + [*(address for addresses in PEOPLE.values() for address in addresses)]
        address = whose[typing % len(whose)]
        if typing % 7 == 3:
            address = address.upper()
        typed = dict.fromkeys(ADDRESSES, address) | dict.fromkeys(PASSWORDS, person.passwords[-1])
        typed["old_password"] = person.passwords[-1]
        if typing % 5 == 4 or "new_password" in form.fields or {"vtoken", "username"} <= set(form.fields):
            typed["new_password"] = typed["password"] = person.new_password()
        typed["code"] = person.code() if typing % 4 else "000000"
        return {**typed, "email_code": typed["code"]}

    def _is_own(self, person: AccountPerson, page: VisitedPage) -> bool:
        return any(address in page.html.lower() for address in person.registered_addresses) or not forms_of(page)

    # Stored rows.

    def _rows(self, *columns: Column[Any]) -> list[Any]:
        work = UnitOfWork(self.world.services.database, self.world.tenant_id)
        try:
            return list(work.all(_of_tenant(*columns), {"tenant": self.world.tenant_id}))
        finally:
            work.rollback()

    def _token_states(self) -> set[tuple[str, str]]:
        return {(row.token_id, row.state) for row in self._rows(*LINK)}

    def _changed(self) -> list[str]:
        """Return the accounts whose password hash changed since the last call."""
        before, self.hashes = self.hashes, {row.uid: row.password_hash for row in self._rows(*ACCOUNT)}
        return [uid for uid, hashed in self.hashes.items() if uid in before and before[uid] != hashed]


@cache
def _of_tenant(*columns: Column[Any]) -> Compiled:
    return Compiled(select(*columns).where(columns[0].table.c.tenant_id == bindparam("tenant")))


def _shown(page: VisitedPage) -> str:
    return f"{page.heading!r} of {page.address[:60]}" if "<h1" in page.html else page.address[:60]
