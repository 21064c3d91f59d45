"""Registration and password reset from the example shop, in Chromium across processes with a real mail server.

Here in Arabic without scripts, and with them in two tabs; both in one process in test_register, test_verification and test_recovery.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.shop_user import BARE
from tests.support.processes.installation import eventually, installed
from tests.support.processes.scenario import OLD, Scenario, SignInTab, shop_client

ORDERS = pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["first tab first", "second tab first"])
_PEOPLE = itertools.count()


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    with installed(tmp_path_factory.mktemp("scenario")) as installation:
        installation.start()
        shop = installation.open_shop()
        sending = {"mails": {"amount": 0, "minutes": 60}, "mails_by_type": {}}
        installation.tenant(shop_client(shop), email_login=True, reset_password_codes=True, sending=sending)
        eventually(installation.knows_the_tenant, "the tenant is configured")
        yield Scenario(installation, shop)


@pytest.fixture
def email() -> str:
    return f"person{next(_PEOPLE)}@example.test"


@pytest.fixture
def known_email(scenario: Scenario, email: str) -> str:
    """Return the verified address of an account."""
    created = {"Email": [{"Type": "Primary", "Value": email}], "Password": OLD, "EmailVerified": True}
    answer = scenario.installation.send("POST", "/identity/v2/manage/account", created, with_secret=True)
    assert answer.status_code == 200, answer.text
    return email


def test_registration_returns_to_the_shop(scenario: Scenario, opened: Opened, email: str) -> None:
    tab = SignInTab(scenario, opened(**BARE), email)
    tab.register()
    expect(tab.page.get_by_text(email)).to_be_visible()
    tab.expect_language("ar")
    tab.confirm(has_script=False)
    tab.expect_shop()


def test_password_is_reset_by_link(scenario: Scenario, opened: Opened, known_email: str) -> None:
    tab = SignInTab(scenario, opened(**BARE), known_email)
    tab.request_reset()
    tab.open_reset_link()
    tab.expect_language("ar")
    tab.set_password()
    tab.expect_shop()


def test_password_is_reset_by_code(scenario: Scenario, opened: Opened, known_email: str) -> None:
    tab = SignInTab(scenario, opened(**BARE), known_email)
    tab.request_reset()
    tab.type_code()
    tab.set_password()
    tab.expect_shop()


@ORDERS
def test_registration_in_two_tabs_completes_in_both(
    scenario: Scenario, opened: Opened, email: str, order: tuple[int, int]
) -> None:
    first = SignInTab(scenario, opened(), email)
    first.register()
    first.mail("verify")
    second = SignInTab(scenario, first.page.context.new_page(), email)
    second.register()
    first.mail("verify", 2)
    tabs = (first, second)
    tabs[order[0]].confirm(2, which=order[0])
    tabs[order[0]].expect_shop()
    other = tabs[order[1]]  # continues by itself
    other.expect_shop()


@ORDERS
def test_reset_in_two_tabs_completes_in_both(
    scenario: Scenario, opened: Opened, known_email: str, order: tuple[int, int]
) -> None:
    first = SignInTab(scenario, opened(), known_email)
    first.request_reset()
    first.mail("reset-password")
    second = SignInTab(scenario, first.page.context.new_page(), known_email)
    second.request_reset()
    first.mail("reset-password", 2)
    tabs = (first, second)
    first_done, other = tabs[order[0]], tabs[order[1]]
    first_done.type_code(count=2)
    first_done.set_password()
    first_done.expect_shop()
    other.expect_shop()  # it continues by itself
