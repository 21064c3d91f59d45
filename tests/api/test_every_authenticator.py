"""What holds for every authenticator, whichever it is. Each has a driver in tests/support/authenticators; what is special to
one stands in a test of its own.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.authenticators import DRIVERS, Driver
from tests.support.authenticators.app import AppDriver
from tests.support.authenticators.sent import SmsDriver
from tests.support.customers import OLD
from tests.support.factors import Factored, factored
from tests.support.races import RACERS, at_once
from tests.support.tenant_server import NewTenantServer, answered, refused

every = pytest.mark.parametrize("driver", DRIVERS, ids=str)
alone = pytest.mark.parametrize("driver", [one for one in DRIVERS if one.stands_alone], ids=str)
NO_LOCK = {"lockout": {"type": "none"}}


def enrolled(make: NewTenantServer, driver: Driver, **settings: Any) -> Factored:
    """Return somebody who has it."""
    who = factored(make, **driver.stated(**settings))
    driver.enrol(who)
    return who


def neighbour(who: Factored, driver: Driver) -> Factored:
    """Return somebody else at the same tenant who has it."""
    made = who.tenant.create(Password=OLD, EmailVerified=True)
    other = Factored(who.tenant, made["Uid"], made["Email"][0]["Value"], "")
    driver.enrol(other)
    return other


def is_wrong(driver: Driver, answer: Any) -> bool:
    status, code = refused(answer)
    return status == 403 and code in driver.wrong


@every
def test_a_proof_ends_the_sign_in(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver)
    token = who.token()
    login = answered(driver.show(who, token, driver.proof(who, token)))
    assert login["Profile"]["Uid"] == who.uid
    assert login["SecondFactorAuthentication"] is None


@every
def test_neither_a_proof_nor_a_challenge_is_used_twice(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver)
    token = who.token()
    proof = driver.proof(who, token)
    answered(driver.show(who, token, proof))
    assert refused(driver.show(who, token, proof)) == (403, 1103)
    again = driver.show(who, who.token(), proof)
    assert is_wrong(driver, again) if driver.is_used_up else answered(again)


@pytest.mark.parametrize("driver", [one for one in DRIVERS if one.lives_seconds], ids=str)
def test_a_proof_ends_by_itself(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver)
    token = who.token()
    proof = driver.proof(who, token)
    who.waits(seconds=driver.lives_seconds or 0)
    assert is_wrong(driver, driver.show(who, token, proof))


@every
def test_somebody_elses_proof_is_wrong(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver)
    other = neighbour(who, driver)
    token = who.token()
    assert is_wrong(driver, driver.show(who, token, driver.proof(other, other.token())))


@every
def test_another_tenant_knows_neither_the_challenge_nor_the_proof(
    new_tenant_server: NewTenantServer, driver: Driver
) -> None:
    who, stranger = enrolled(new_tenant_server, driver), enrolled(new_tenant_server, driver)
    token, foreign = who.token(), stranger.token()
    proof = driver.proof(who, token)
    assert refused(driver.show(stranger, token, proof)) == (403, 1103)
    assert is_wrong(driver, driver.show(stranger, foreign, proof))
    assert answered(driver.show(who, token, proof))["Profile"]["Uid"] == who.uid


@every
def test_wrong_proofs_lock_as_wrong_passwords_do(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver, lockout={"type": "suspend", "maximum_failed_attempts": 3})
    answer = who.ask("POST", {"email": who.email, "password": "wrong"}, path="/identity/v2/auth/login/2fa")
    assert refused(answer) == (401, 966)
    token = who.token()
    proof = driver.proof(who, token)
    assert is_wrong(driver, driver.show(who, token, driver.wrong_proof(who)))
    assert refused(driver.show(who, token, driver.wrong_proof(who))) == (403, 1198)
    assert refused(driver.show(who, token, proof)) == (403, 1264)
    assert refused(who.signs_in()) == (403, 1198)


@every
def test_of_many_guesses_at_once_few_are_weighed(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver, lockout={"type": "suspend", "maximum_failed_attempts": 5})
    token = who.token()
    driver.proof(who, token)
    wrong = driver.wrong_proof(who)
    answers = at_once([lambda: refused(driver.show(who, token, wrong)) for _ in range(30)])
    assert {status for status, _ in answers} == {403}
    assert {code for _, code in answers} <= {*driver.wrong, 1198, 1264}
    assert refused(who.signs_in()) == (403, 1198)


@every
def test_of_many_uses_of_one_proof_at_once_one_wins(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver, **NO_LOCK)
    token = who.token()
    proof = driver.proof(who, token)
    answers = at_once([lambda: driver.show(who, token, proof).status_code for _ in range(RACERS)])
    assert answers.count(200) == 1
    assert set(answers) == {200, 403}


@pytest.mark.parametrize("driver", [one for one in DRIVERS if one.is_used_up], ids=str)
def test_with_as_many_challenges_one_proof_wins_once(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver, **NO_LOCK)
    tokens = [who.token() for _ in range(10)]
    proof = driver.proof(who, tokens[0])
    answers = at_once([lambda token=token: driver.show(who, token, proof).status_code for token in tokens])  # type: ignore[misc]  # a lambda's default has no type
    assert answers.count(200) == 1
    assert set(answers) == {200, 403}


@alone
def test_where_it_is_required_the_first_proof_enrols(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = factored(new_tenant_server, **driver.stated(two_factor="required"))
    challenge = who.challenged()
    token = str(challenge["SecondFactorAuthenticationToken"])
    begun = driver.begin(who, token)
    assert begun is None or answered(begun)
    proof = driver.first_proof(who, challenge)
    assert answered(driver.enrols_by(who, token, proof))["Profile"]["Uid"] == who.uid
    again = who.token()
    assert answered(driver.show(who, again, driver.proof(who, again)))["Profile"]["Uid"] == who.uid


@alone
def test_of_many_first_proofs_at_once_one_enrols(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = factored(new_tenant_server, **driver.stated(two_factor="required", **NO_LOCK))
    challenge = who.challenged()
    token = str(challenge["SecondFactorAuthenticationToken"])
    driver.begin(who, token)
    proof = driver.first_proof(who, challenge)
    answers = at_once([lambda: driver.enrols_by(who, token, proof).status_code for _ in range(10)])
    assert answers.count(200) == 1
    assert set(answers) == {200, 403}


@alone
def test_the_password_alone_enrols_nothing_beside_what_is_there(
    new_tenant_server: NewTenantServer, driver: Driver
) -> None:
    """A thief who has the password may not add a factor of their own to the one that they do not have."""
    held: Driver = SmsDriver() if isinstance(driver, AppDriver) else AppDriver()
    stated = driver.stated(two_factor="required")
    stated["second_factors"][held.kind.value] = True
    who = factored(new_tenant_server, **stated)
    if isinstance(driver, AppDriver):
        who.scans()
    held.enrol(who)
    before, challenge = who.own_factors(), who.challenged()
    token = str(challenge["SecondFactorAuthenticationToken"])
    begun = driver.begin(who, token)
    assert begun is None or begun.status_code == 403
    assert (challenge["ManualEntryCode"], challenge["QRCode"]) == (None, None)
    proof = who.shows() if isinstance(driver, AppDriver) else "000000" if begun else driver.proof(who, token)
    assert driver.enrols_by(who, token, proof).status_code == 403
    after = who.own_factors()
    flags = [name for name in before if name.startswith("Is")]
    assert {name: after[name] for name in flags} == {name: before[name] for name in flags}


@every
def test_once_it_is_removed_it_proves_nothing(new_tenant_server: NewTenantServer, driver: Driver) -> None:
    who = enrolled(new_tenant_server, driver)
    token = who.token()
    proof = driver.proof(who, token)
    answered(driver.remove(who))
    status, code = refused(driver.show(who, token, proof))
    assert status == 403
    assert code in {*driver.missing, *driver.wrong, 1103}
    assert answered(who.signs_in())["SecondFactorAuthentication"] is None
    assert driver.remove(who).status_code == 403
