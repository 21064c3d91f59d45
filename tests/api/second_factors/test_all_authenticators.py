"""Rules of every authenticator. Each has a driver in tests/support/authenticators; rules of a single authenticator have
tests of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from app.identity.platform.services import IdentityServices
from tests.support.accounts.customers import OLD
from tests.support.authenticators import DRIVERS, Driver
from tests.support.authenticators.app import AppDriver
from tests.support.authenticators.sent import SmsDriver
from tests.support.credentials.factors import SecondFactorHolder, second_factor_holder
from tests.support.races import RACERS, at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

every = pytest.mark.parametrize("driver", DRIVERS, ids=str)
alone = pytest.mark.parametrize("driver", [driver for driver in DRIVERS if driver.stands_alone], ids=str)
counted = pytest.mark.parametrize("driver", [driver for driver in DRIVERS if driver.counts], ids=str)
NO_LOCK = {"type": "none"}
BLOCK = {"type": "block", "maximum_failed_attempts": 3}
# Without a lockout every response is checked; with one, concurrent responses must not lock the owner out.
in_both = pytest.mark.parametrize("lockout", [NO_LOCK, {}], ids=["no lock", "default lock"])
in_the_strictest = pytest.mark.parametrize("lockout", [NO_LOCK, BLOCK], ids=["no lock", "block"])


@pytest.fixture(autouse=True)
def external_services(driver: Driver, services: IdentityServices) -> Iterator[None]:
    with driver.external_services(services):
        yield


def without_factor(make: NewTenantServer, driver: Driver, **settings: Any) -> SecondFactorHolder:
    """Return an account that may enrol this authenticator."""
    return driver.equipped(second_factor_holder(make, **driver.tenant_settings(**settings)))


def enrolled(make: NewTenantServer, driver: Driver, **settings: Any) -> SecondFactorHolder:
    """Return an account that has enrolled it."""
    who = without_factor(make, driver, **settings)
    driver.enrol(who)
    return who


def neighbour(who: SecondFactorHolder, driver: Driver) -> SecondFactorHolder:
    """Return another account of the tenant that has enrolled it."""
    made = who.tenant.create(Password=OLD, EmailVerified=True)
    other = driver.equipped(SecondFactorHolder(who.tenant, made["Uid"], made["Email"][0]["Value"], ""))
    driver.enrol(other)
    return other


def is_wrong(driver: Driver, answer: Any) -> bool:
    status, code = refused(answer)
    return status == 403 and code in driver.wrong


def is_over(driver: Driver, answer: Any) -> bool:
    status, code = refused(answer)
    return status == 403 and code in driver.over


@every
def test_response_completes_sign_in(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver)
    token = who.token()
    login = answered(driver.show(who, token, driver.response(who, token)))
    assert login["Profile"]["Uid"] == who.uid
    assert login["SecondFactorAuthentication"] is None


@every
def test_response_and_challenge_are_single_use(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver)
    token = who.token()
    response = driver.response(who, token)
    answered(driver.show(who, token, response))
    assert is_over(driver, driver.show(who, token, response))
    again = driver.show(who, who.token(), response)
    assert is_wrong(driver, again) if driver.is_used_up else answered(again)


@pytest.mark.parametrize("driver", [driver for driver in DRIVERS if driver.lives_seconds], ids=str)
def test_response_expires(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver)
    token = who.token()
    response = driver.response(who, token)
    who.advance_clock(seconds=driver.lives_seconds or 0)
    assert is_wrong(driver, driver.show(who, token, response))


@every
def test_response_of_another_account_is_refused(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver)
    other = neighbour(who, driver)
    token = who.token()
    assert is_wrong(driver, driver.show(who, token, driver.response(other, other.token())))


@every
def test_challenge_and_response_are_bound_to_tenant(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who, outsider = enrolled(new_tenant_server, driver), enrolled(new_tenant_server, driver)
    token, foreign = who.token(), outsider.token()
    response = driver.response(who, token)
    assert is_over(driver, driver.show(outsider, token, response))
    assert is_wrong(driver, driver.show(outsider, foreign, response))
    assert answered(driver.show(who, token, response))["Profile"]["Uid"] == who.uid


@counted
def test_wrong_responses_lock_account(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver, lockout={"type": "suspend", "maximum_failed_attempts": 3})
    answer = who.ask("POST", {"email": who.email, "password": "wrong"}, path="/identity/v2/auth/login/2fa")
    assert refused(answer) == (401, 966)
    token = who.token()
    response = driver.response(who, token)
    assert is_wrong(driver, driver.show(who, token, driver.wrong_response(who, token)))
    assert refused(driver.show(who, token, driver.wrong_response(who, token))) == (403, 1198)
    assert refused(driver.show(who, token, response)) == (403, 1264)
    assert refused(who.signs_in()) == (403, 1198)


@pytest.mark.parametrize("driver", [driver for driver in DRIVERS if not driver.counts], ids=str)
def test_response_during_lockout_is_refused(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    """Wrong responses of these authenticators do not count, so wrong passwords lock the account."""
    who = enrolled(new_tenant_server, driver, lockout={"type": "suspend", "maximum_failed_attempts": 1})
    token = who.token()
    response = driver.response(who, token)
    who.ask("POST", {"email": who.email, "password": "wrong"}, path="/identity/v2/auth/login/2fa")
    assert refused(who.signs_in()) == (403, 1198)
    assert refused(driver.show(who, token, response)) == (403, 1264)


@pytest.mark.both_databases
@counted
def test_concurrent_guesses_lock_account(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver, lockout={"type": "suspend", "maximum_failed_attempts": 5})
    token = who.token()
    driver.response(who, token)
    wrong = driver.wrong_response(who, token)
    answers = at_once([lambda: refused(driver.show(who, token, wrong)) for _ in range(RACERS)])
    assert {status for status, _ in answers} == {403}
    assert {code for _, code in answers} <= {*driver.wrong, 1198, 1264}
    assert refused(who.signs_in()) == (403, 1198)


@pytest.mark.both_databases
@in_both
@every
def test_concurrent_uses_of_response_have_one_winner(
    new_tenant_server: NewTenantServer, driver: Driver, lockout: dict[str, Any]
) -> None:
    who = enrolled(new_tenant_server, driver, lockout=lockout)
    token = who.token()
    response = driver.response(who, token)
    answers = at_once([lambda: driver.show(who, token, response).status_code for _ in range(RACERS)])
    assert answers.count(200) == 1
    assert set(answers) == {200, 403}
    assert who.challenged(), "its owner is not locked out"


@pytest.mark.both_databases
@in_the_strictest
@pytest.mark.parametrize("driver", [driver for driver in DRIVERS if driver.is_used_up], ids=str)
def test_response_wins_once_across_concurrent_challenges(
    new_tenant_server: NewTenantServer, driver: Driver, lockout: dict[str, Any]
) -> None:
    who = enrolled(new_tenant_server, driver, lockout=lockout)
    tokens = [who.token() for _ in range(driver.asked_at_once)]
    response = driver.response(who, tokens[-1])
    answers = at_once([lambda token=token: driver.show(who, token, response).status_code for token in tokens])  # type: ignore[misc]  # a lambda's default has no type
    assert answers.count(200) == 1
    assert set(answers) == {200, 403}


@alone
def test_first_response_enrols_where_required(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = without_factor(new_tenant_server, driver, two_factor="required")
    challenge = who.challenged()
    token = str(challenge["SecondFactorAuthenticationToken"])
    begun = driver.begin(who, token)
    assert begun is None or answered(begun)
    response = driver.first_response(who, challenge)
    assert answered(driver.enrols_by(who, token, response))["Profile"]["Uid"] == who.uid
    again = who.token()
    assert answered(driver.show(who, again, driver.response(who, again)))["Profile"]["Uid"] == who.uid


@pytest.mark.both_databases
@alone
def test_concurrent_first_responses_enrol_once(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = without_factor(new_tenant_server, driver, two_factor="required", lockout=NO_LOCK)
    challenge = who.challenged()
    token = str(challenge["SecondFactorAuthenticationToken"])
    driver.begin(who, token)
    response = driver.first_response(who, challenge)
    answers = at_once([lambda: driver.enrols_by(who, token, response).status_code for _ in range(10)])
    assert answers.count(200) == 1
    assert set(answers) == {200, 403}


@alone
def test_password_alone_enrols_no_additional_factor(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    """An attacker who has the password cannot add a factor of their own."""
    stored: Driver = SmsDriver() if isinstance(driver, AppDriver) else AppDriver()
    tenant_settings = driver.tenant_settings(two_factor="required")
    tenant_settings["second_factors"][stored.kind.value] = True
    who = driver.equipped(second_factor_holder(new_tenant_server, **tenant_settings))
    stored.enrol(who)
    before, challenge = who.own_factors(), who.challenged()
    token = str(challenge["SecondFactorAuthenticationToken"])
    begun = driver.begin(who, token)
    assert begun is None or begun.status_code == 403
    assert (challenge["ManualEntryCode"], challenge["QRCode"]) == (None, None)
    status, code = refused(driver.enrols_by(who, token, driver.attacker_response(who, token)))
    assert status == 403
    assert code in driver.missing
    after = who.own_factors()
    flags = [name for name in before if name.startswith("Is")]
    assert {name: after[name] for name in flags} == {name: before[name] for name in flags}


@every
def test_response_after_removal_is_refused(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver)
    token = who.token()
    response = driver.response(who, token)
    answered(driver.remove(who))
    status, code = refused(driver.show(who, token, response))
    assert status == 403
    assert code in {*driver.missing, *driver.wrong, *driver.over}
    assert answered(who.signs_in())["SecondFactorAuthentication"] is None
    assert driver.remove(who).status_code == 403
