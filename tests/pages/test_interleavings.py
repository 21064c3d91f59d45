"""Stateful test: any page action in any order, in several tabs and browsers, with delays and foreign addresses.

Hypothesis drives three people in four browsers against the whole service. `Model` states the invariants.
GATEHOUSE_TESTS_INTERLEAVING_SECONDS sets the duration on each database; by default a few rounds run.
"""

from __future__ import annotations

import itertools
import os
import secrets
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.accounts.mailbox import link_in, links_in
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.interleaved import Model
from tests.support.visitors.people import AccountPerson, PageBrowser, forms_of, links_of
from tests.support.visitors.visitor import Visitor

pytestmark = pytest.mark.both_databases

SECONDS = float(os.environ.get("GATEHOUSE_TESTS_INTERLEAVING_SECONDS", "0"))
STEPS, ROUND, ROUNDS = 50, 8, 3
LIMITS = dict.fromkeys(
    (
        "register_per_minute_per_address", "sign_in_per_minute_per_address", "forgot_per_minute_per_address",
        "reset_per_minute_per_address",
    ),
    0,
)  # fmt: skip
STARTS = ("/login", "/register", "/forgot-password", "/profile", "/security", "/emails", "/change-password", "/logout")
MACHINES = ("Barracuda Sentinel (EE)", "", "Mozilla/5.0 (compatible; SafeLinks preview)", "curl/8.1")
WAITS = (1, 31, 31, 31, 300, 901, 3700, 90_000, 270_000)
MODES = st.fixed_dictionaries(
    {
        "email_verification": st.sampled_from(["required", "required", "optional"]),
        "login_on_email_verification": st.booleans(),
        "login_on_password_reset": st.booleans(),
        "logout_on_email_verification": st.booleans(),
        "reset_password_codes": st.booleans(),
    }
)
INDEX = st.integers(0, 200)


class People(RuleBasedStateMachine):
    """The rules. An index is taken modulo the number of choices, so every step acts."""

    def __init__(self, new_world: NewWorld, new_visitor_at: Callable[[World], Visitor]) -> None:
        super().__init__()
        self.new_world, self.new_visitor_at = new_world, new_visitor_at
        self.model: Model | None = None

    @initialize(mode=MODES)
    def start_world(self, mode: dict[str, Any]) -> None:
        unlimited = {"amount": 0, "minutes": 60}
        sending = {"mails": unlimited, "mails_in_all": unlimited, "mails_by_type": {}}
        world = self.new_world(limits=LIMITS, sending=sending, lockout={"type": "none"}, **mode)
        self.model = Model(world, lambda: self.new_visitor_at(world), mode["email_verification"] == "required")

    @rule(who=INDEX, state=INDEX)
    def start_sign_in(self, who: int, state: int) -> None:
        browser = self._browser(who)
        self._model.opened(browser, browser.visitor.authorize(self._model.shop, state=f"{browser.owner.name} {state}"))

    @rule(who=INDEX, typing=INDEX, from_shop=st.booleans())
    def register(self, who: int, typing: int, from_shop: bool) -> None:
        self._open_and_submit(self._browser(who), "/register", from_shop, typing)

    @rule(who=INDEX, typing=INDEX, from_shop=st.booleans())
    def forget_password(self, who: int, typing: int, from_shop: bool) -> None:
        self._open_and_submit(self._browser(who), "/forgot-password", from_shop, typing)

    @rule(who=INDEX, typing=INDEX, from_shop=st.booleans())
    def sign_in(self, who: int, typing: int, from_shop: bool) -> None:
        self._open_and_submit(self._browser(who), "/login", from_shop, typing)

    @rule(who=INDEX, typing=INDEX, tab=st.integers(0, 3))
    def type_code(self, who: int, typing: int, tab: int) -> None:
        browser = self._browser(who)
        asking = [page for page in browser.pages if any("code" in form.fields for form, _ in forms_of(page))]
        if asking:
            shown = asking[-1 - tab % len(asking)]
            form, button = next((form, button) for form, button in forms_of(shown) if "code" in form.fields)
            self._model.pressed(browser, shown, form, button, typing)

    @rule(who=INDEX, where=st.sampled_from(STARTS))
    def open_page(self, who: int, where: str) -> None:
        browser = self._browser(who)
        self._model.opened(browser, browser.visitor.open(where))

    @rule(who=INDEX, page=INDEX, which=INDEX, typing=INDEX)
    def press_on_last_page(self, who: int, page: int, which: int, typing: int) -> None:
        self._press(self._browser(who), page % 2, which, typing)

    @rule(who=INDEX, page=INDEX, which=INDEX, typing=INDEX)
    def go_back_and_press(self, who: int, page: int, which: int, typing: int) -> None:
        self._press(self._browser(who), page, which, typing)

    @rule(who=INDEX, page=INDEX, which=INDEX, typing=INDEX)
    def press_twice(self, who: int, page: int, which: int, typing: int) -> None:
        browser = self._browser(who)
        if browser.pages:
            shown = browser.pages[-1 - page % len(browser.pages)]
            for _ in range(2):
                self._press(
                    browser,
                    next((n for n, item in enumerate(reversed(browser.pages)) if item is shown), 0),
                    which,
                    typing,
                )

    @rule(who=INDEX, page=INDEX, which=INDEX)
    def follow_link(self, who: int, page: int, which: int) -> None:
        browser = self._browser(who)
        links = links_of(browser.pages[-1 - page % len(browser.pages)]) if browser.pages else []
        if links:
            self._model.opened(browser, browser.visitor.open(links[which % len(links)]))

    @rule(who=INDEX, page=INDEX)
    def refresh(self, who: int, page: int) -> None:
        browser = self._browser(who)
        if browser.pages:
            self._model.opened(browser, browser.visitor.open(browser.pages[-1 - page % len(browser.pages)].address))

    @rule(who=INDEX, which=st.integers(0, 5))
    def open_mail(self, who: int, which: int) -> None:
        browser = self._browser(who)
        if link := self._link(browser.owner, which):
            self._model.opened(browser, browser.visitor.open(link))

    @rule(who=INDEX, which=st.integers(0, 3))
    def open_mail_and_submit(self, who: int, which: int) -> None:
        browser = self._browser(who)
        if link := self._link(browser.owner, which):
            self._model.opened(browser, browser.visitor.open(link))
            self._press(browser, 0, 0, 0)

    @rule(
        who=INDEX,
        which=st.integers(0, 5),
        method=st.sampled_from(["GET", "HEAD", "OPTIONS"]),
        agent=st.sampled_from(MACHINES),
    )
    def scan_mail(self, who: int, which: int, method: str, agent: str) -> None:
        if link := self._link(self._browser(who).owner, which):
            self._model.scanned(method, link, agent)

    @rule(seconds=st.sampled_from(WAITS))
    def time_passes(self, seconds: int) -> None:
        self._model.waited(seconds)

    @rule(who=INDEX)
    def close_browser(self, who: int) -> None:
        self._browser(who).visitor.forget("session")

    @precondition(lambda self: self.model is not None)
    @invariant()
    def invariants_hold(self) -> None:
        self._model.check()

    @property
    def _model(self) -> Model:
        assert self.model is not None
        return self.model

    def _browser(self, who: int) -> PageBrowser:
        return self._model.browsers[who % len(self._model.browsers)]

    def _link(self, person: AccountPerson, which: int) -> str:
        links = [link_in(mail) for mail in person.mails() if links_in(mail)]
        return links[-1 - which % len(links)] if links else ""

    def _open_and_submit(self, browser: PageBrowser, where: str, from_shop: bool, typing: int) -> None:
        """Open a page, optionally through the shop's sign-in, and submit its first form."""
        if from_shop:
            page = browser.visitor.authorize(self._model.shop, state=f"{browser.owner.name} {typing}")
            self._model.opened(browser, page)
            where = next((link for link in links_of(page) if where in link), "") or (
                "" if page.answer is None else where
            )
        if where:
            self._model.opened(browser, browser.visitor.open(where))
            self._press(browser, 0, 0, typing)

    def _press(self, browser: PageBrowser, page: int, which: int, typing: int) -> None:
        if not browser.pages:
            return
        shown = browser.pages[-1 - page % len(browser.pages)]
        if forms := forms_of(shown):
            self._model.pressed(browser, shown, *forms[which % len(forms)], typing)


@pytest.mark.timeout(SECONDS + 300)
def test_invariants_hold_under_any_interleaving(
    new_world: NewWorld, new_visitor_at: Callable[[World], Visitor]
) -> None:
    ends_at, first = time.monotonic() + SECONDS, 0 if settings().derandomize else secrets.randbelow(1_000_000)
    run_settings = settings(
        max_examples=ROUND, stateful_step_count=STEPS, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    people: Any = lambda: People(new_world, new_visitor_at)  # noqa: E731 - a class by its declaration, called alone
    for number in itertools.count(first):
        run_state_machine_as_test(seed(number)(people), settings=run_settings)
        if number + 1 >= first + ROUNDS and time.monotonic() > ends_at:
            break
