"""A directory that locks people by itself (OpenLDAP's ppolicy): nothing tells of the lock, and one that is over is over here too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.ldap.conftest import PATH, Ask, SignIn
from tests.support.services import slapd
from tests.support.services.identity_service import on_one_database
from tests.support.services.slapd import SUFFIX, Slapd
from tests.support.tenants.tenant_server import answered, refused

pytestmark = on_one_database
POLICY = f"cn=policy,{SUFFIX}"
FOR_GOOD = "000001010000Z"
OVER = "20200101000000Z"


@pytest.fixture(scope="module")
def locking() -> Iterator[Slapd]:
    """Return a directory whose locks last a second."""
    with Slapd.running(more="moduleload ppolicy", overlays=f'overlay ppolicy\nppolicy_default "{POLICY}"') as server:
        rules = {"pwdAttribute": "userPassword", "pwdLockout": "TRUE", "pwdLockoutDuration": "1", "pwdMaxFailure": "3"}
        server.add(POLICY, objectClass=["device", "pwdPolicy"], cn="policy", **rules)
        yield server


def test_lock_of_the_directory_is_not_revealed(locking: Slapd, send: Ask, sign_in: SignIn) -> None:
    answered(send("POST", PATH, slapd.provider_of(locking)))
    locking.replace(locking.add_person("locked"), pwdAccountLockedTime=FOR_GOOD)
    answers = [sign_in("locked@corp.test"), sign_in("locked@corp.test", "wrong"), sign_in("ghost@corp.test", "wrong")]
    assert {refused(answer) for answer in answers} == {(401, 966)}
    assert len({answer.get_json()["Description"] for answer in answers}) == 1


def test_lock_that_is_over_lets_the_person_in(locking: Slapd, send: Ask, sign_in: SignIn) -> None:
    answered(send("POST", PATH, slapd.provider_of(locking)))
    locking.replace(locking.add_person("waited"), pwdAccountLockedTime=OVER)
    assert refused(sign_in("waited@corp.test", "wrong")) == (401, 966)
    locking.replace(f"uid=waited,{slapd.PEOPLE}", pwdAccountLockedTime=OVER)
    assert sign_in("waited@corp.test").status_code == 200
