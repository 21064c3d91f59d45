"""The whole journey in Chromium, between processes: from the example shop to its "Welcome", by mails that a mail server took."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.hub_in_browser import Opened
from tests.support.installation import eventually, installed
from tests.support.scenario import HOW, NEW, OLD, Scenario, Tab, the_shop

ORDERS = pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["the first first", "the second first"])
_PEOPLE = itertools.count()


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    with installed(tmp_path_factory.mktemp("scenario")) as ours:
        ours.start()
        shop = ours.open_shop()
        sending = {"mails": {"amount": 0, "minutes": 60}, "mails_by_type": {}}
        ours.tenant(the_shop(shop), email_login=True, reset_password_codes=True, sending=sending)
        eventually(ours.knows_the_tenant, "the tenant is there")
        yield Scenario(ours, shop)


@pytest.fixture
def email() -> str:
    return f"person{next(_PEOPLE)}@example.test"


@pytest.fixture
def known(scenario: Scenario, email: str) -> str:
    """The address of somebody who has an account, proved."""
    created = {"Email": [{"Type": "Primary", "Value": email}], "Password": OLD, "EmailVerified": True}
    answer = scenario.ours.send("POST", "/identity/v2/manage/account", created, with_secret=True)
    assert answer.status_code == 200, answer.text
    return email


@HOW
def test_who_signs_up_is_welcome_at_the_shop(
    scenario: Scenario, opened: Opened, email: str, how: dict[str, Any]
) -> None:
    tab = Tab(scenario, opened(**how), email)
    tab.signs_up()
    expect(tab.page.get_by_text(email)).to_be_visible()
    tab.speaks(how.get("locale", "en"))
    tab.confirms()
    tab.is_welcome()


@HOW
def test_a_forgotten_password_is_reset_by_the_link(
    scenario: Scenario, opened: Opened, known: str, how: dict[str, Any]
) -> None:
    tab = Tab(scenario, opened(**how), known)
    tab.forgets()
    tab.opens_reset()
    tab.speaks(how.get("locale", "en"))
    tab.sets_password()
    tab.signs_in(NEW)
    tab.is_welcome()


@HOW
def test_a_forgotten_password_is_reset_by_the_code(
    scenario: Scenario, opened: Opened, known: str, how: dict[str, Any]
) -> None:
    tab = Tab(scenario, opened(**how), known)
    tab.forgets()
    tab.types_code(is_arabic="locale" in how)
    tab.sets_password()
    tab.signs_in(NEW)
    tab.is_welcome()


@ORDERS
def test_who_signs_up_in_two_tabs_is_welcome_in_both(
    scenario: Scenario, opened: Opened, email: str, order: tuple[int, int]
) -> None:
    first = Tab(scenario, opened(), email)
    first.signs_up()
    first.mail("verify")
    second = Tab(scenario, first.page.context.new_page(), email)
    second.signs_up()
    first.mail("verify", 2)
    tabs = (first, second)
    tabs[order[0]].confirms(2, which=order[0])
    tabs[order[0]].is_welcome()
    other = tabs[order[1]]
    other.page.locator("button[name=do][value=opened]").click()
    other.page.wait_for_load_state()
    if not other.page.url.startswith(scenario.shop):  # the same person typed another registration there: they sign in
        other.page.locator("main a[href]").first.click()
    other.is_welcome()


@ORDERS
def test_who_forgets_in_two_tabs_is_welcome_in_both(
    scenario: Scenario, opened: Opened, known: str, order: tuple[int, int]
) -> None:
    first = Tab(scenario, opened(), known)
    first.forgets()
    first.mail("reset-password")
    second = Tab(scenario, first.page.context.new_page(), known)
    second.forgets()
    first.mail("reset-password", 2)
    tabs = (first, second)
    done, other = tabs[order[0]], tabs[order[1]]
    done.types_code(count=2)
    done.sets_password()
    done.signs_in(NEW)
    done.is_welcome()
    other.page.reload()
    other.is_welcome()
