"""Programs sign people in by the passwords of a directory: its own accounts, linked ones, roles of groups, locks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api.ldap.conftest import Ask, SignIn
from tests.support.fakes import silent_directory
from tests.support.services import slapd
from tests.support.services.identity_service import on_one_database
from tests.support.services.slapd import HOST, Slapd
from tests.support.tenants.tenant_server import TenantServer, answered, refused

pytestmark = on_one_database
WRONG = (401, 966)
LOCKED = (403, 1198)


def lockout(tenant: TenantServer, attempts: int) -> None:
    tenant.change_settings(lockout={"type": "suspend", "maximum_failed_attempts": attempts, "suspend_seconds": 600})


def test_first_sign_in_creates_the_account(corp: Callable[..., None], sign_in: SignIn, tenant: TenantServer) -> None:
    corp()
    profile = answered(sign_in("Ada@CORP.test"))["Profile"]
    assert profile["Email"] == [{"Type": "Primary", "Value": "ada@corp.test"}]
    assert (profile["FirstName"], profile["LastName"], profile["EmailVerified"]) == ("Ada", "Lovelace", True)
    assert answered(sign_in("ada@corp.test"))["Profile"]["Uid"] == profile["Uid"]
    (identity,) = tenant.read(profile["Uid"])["Identities"]
    assert identity["Provider"] == "ldap:corp"
    assert tenant.read(profile["Uid"])["Password"] is None, "the password is stored nowhere"


def test_renamed_person_keeps_the_account(
    corp: Callable[..., None], sign_in: SignIn, directory: Slapd, tenant: TenantServer
) -> None:
    corp()
    dn = directory.add_person("married")
    uid = answered(sign_in("married@corp.test"))["Profile"]["Uid"]
    directory.replace(dn, mail="newname@corp.test")
    assert answered(sign_in("newname@corp.test"))["Profile"]["Uid"] == uid


@pytest.mark.parametrize("password", ["wrong", " ", "\t", "x" * 900])
def test_wrong_password_and_unknown_login_are_alike(corp: Callable[..., None], sign_in: SignIn, password: str) -> None:
    corp()
    answers = [sign_in(email, password) for email in ("ada@corp.test", "nobody@corp.test", "a*@corp.test")]
    assert {refused(answer) for answer in answers} == {WRONG}
    assert len({answer.get_json()["Description"] for answer in answers}) == 1


def test_addresses_of_other_domains_never_reach_the_directory(
    corp: Callable[..., None], sign_in: SignIn, tenant: TenantServer
) -> None:
    corp(ServerUrl="ldaps://directory.localhost:1")
    tenant.create(
        Email=[{"Type": "Primary", "Value": "bob@example.test"}], EmailVerified=True, Password="Zebra-kettle-91"
    )
    assert sign_in("bob@example.test", "Zebra-kettle-91").status_code == 200
    assert refused(sign_in("nobody@example.test", "x"))[1] in (938, 966)


def test_local_password_of_the_domain_does_not_sign_in(
    corp: Callable[..., None], sign_in: SignIn, tenant: TenantServer
) -> None:
    """Who leaves the company must not have a second password."""
    corp()
    account = tenant.create(Email=[{"Type": "Primary", "Value": "ada@corp.test"}], EmailVerified=True)
    assert refused(sign_in("ada@corp.test", "Zebra-kettle-91")) == WRONG
    assert answered(sign_in("ada@corp.test"))["Profile"]["Uid"] == account["Uid"], "linked by the verified address"


def test_untrusted_address_takes_over_no_account(
    corp: Callable[..., None], sign_in: SignIn, tenant: TenantServer
) -> None:
    corp(TrustsEmail=False)
    account = tenant.create(Email=[{"Type": "Primary", "Value": "ada@corp.test"}], EmailVerified=True)
    answer = sign_in("ada@corp.test")
    assert answer.status_code != 200 or answer.get_json()["Profile"]["Uid"] != account["Uid"]


def test_address_of_another_domain_is_not_trusted(
    corp: Callable[..., None], sign_in: SignIn, tenant: TenantServer, directory: Slapd
) -> None:
    """The person could have written the attribute."""
    corp(AcceptsUsernames=True)
    tenant.change_settings(username_login=True)
    directory.add_person("mallory", mail="boss@example.test")
    boss = tenant.create(Email=[{"Type": "Primary", "Value": "boss@example.test"}], EmailVerified=True)
    answer = sign_in(username="mallory")
    assert answer.status_code != 200 or answer.get_json()["Profile"]["Uid"] != boss["Uid"]


def test_username_signs_in_where_the_provider_accepts_it(
    corp: Callable[..., None], sign_in: SignIn, tenant: TenantServer
) -> None:
    tenant.change_settings(username_login=True)
    corp(AcceptsUsernames=True)
    uid = answered(sign_in(username="ada"))["Profile"]["Uid"]
    assert answered(sign_in(username="CORP\\ada"))["Profile"]["Uid"] == uid


def test_groups_give_and_take_roles(
    corp: Callable[..., None], sign_in: SignIn, tenant: TenantServer, directory: Slapd
) -> None:
    answered(tenant.send("POST", "/identity/v2/manage/role", {"Roles": [{"Name": "Editor"}, {"Name": "Other"}]}))
    dn = directory.add_person("editor")
    group = directory.add_group("editors", dn)
    corp(GroupBaseDn=slapd.GROUPS, GroupRoles={"editors": "Editor", "nobody": "Gone"})
    uid = answered(sign_in("editor@corp.test"))["Profile"]["Uid"]
    answered(tenant.send("PUT", f"/identity/v2/manage/account/{uid}/role", {"Roles": ["Other"]}))
    assert sorted(tenant.read(uid)["Roles"]) == ["Editor", "Other"]
    directory.replace(group, member=[slapd.SERVICE])
    answered(sign_in("editor@corp.test"))
    assert tenant.read(uid)["Roles"] == ["Other"], "a role that no group names stays"


def test_turned_off_person_is_refused_in_words(corp: Callable[..., None], sign_in: SignIn, directory: Slapd) -> None:
    corp()
    directory.add_person("left", userAccountControl="514")
    assert refused(sign_in("left@corp.test")) == (403, 1130)
    assert refused(sign_in("left@corp.test", "wrong")) == WRONG, "only who knows the password learns it"


def test_attempts_count_by_person_and_lock_here(
    corp: Callable[..., None], sign_in: SignIn, tenant: TenantServer, directory: Slapd
) -> None:
    corp(AcceptsUsernames=True)
    tenant.change_settings(username_login=True)
    lockout(tenant, 3)
    directory.add_person("locked")
    for typed in ({"username": "locked"}, {"username": "LOCKED"}, {"username": "CORP\\locked"}):
        assert refused(sign_in(password="wrong", **typed)) == WRONG
    assert refused(sign_in(username="locked")) == LOCKED, "the right password, too, and the directory is not asked"
    assert refused(sign_in(username="Locked")) == LOCKED, "whatever the spelling"


def test_unknown_logins_lock_as_people_do(corp: Callable[..., None], sign_in: SignIn, tenant: TenantServer) -> None:
    corp()
    lockout(tenant, 2)
    assert [refused(sign_in("ghost@corp.test", "wrong")) for _ in range(3)] == [WRONG, WRONG, LOCKED]


def test_right_passwords_count_nothing(corp: Callable[..., None], sign_in: SignIn, tenant: TenantServer) -> None:
    corp()
    lockout(tenant, 2)
    assert [sign_in("ada@corp.test").status_code for _ in range(4)] == [200] * 4
    assert refused(sign_in("ada@corp.test", "wrong")) == WRONG
    assert sign_in("ada@corp.test").status_code == 200
    assert refused(sign_in("ada@corp.test", "wrong")) == WRONG
    assert sign_in("ada@corp.test").status_code == 200


def test_concurrent_guesses_do_not_pass_the_limit(
    corp: Callable[..., None], sign_in: SignIn, tenant: TenantServer, directory: Slapd
) -> None:
    corp()
    lockout(tenant, 3)
    directory.add_person("guessed")
    answered(sign_in("guessed@corp.test"))
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda number: refused(sign_in("guessed@corp.test", f"guess {number}")), range(6)))
    assert answers.count(WRONG) <= 3
    assert set(answers) <= {WRONG, LOCKED}


def test_directory_that_does_not_answer_is_named_and_traced(
    corp: Callable[..., None], sign_in: SignIn, send: Ask, tenant: TenantServer
) -> None:
    lockout(tenant, 1)
    with silent_directory.server(lambda *_: None) as port:  # closes at once
        corp(ServerUrl=f"ldaps://{HOST}:{port}")
        answers = [sign_in("ada@corp.test", "s3cret of ada") for _ in range(2)]
    assert [refused(answer) for answer in answers] == [(503, 7968)] * 2, "no attempt counts"
    trace, _ = answered(send("GET", "/v2/manage/connection-traces"))["Data"]
    assert trace["Reference"]
    assert (trace["Connection"], trace["Check"]) == ("ldap:corp", "ldap_tls")
    assert trace["Advice"]
    assert "s3cret" not in str(trace)


def test_turned_off_provider_checks_nothing(corp: Callable[..., None], sign_in: SignIn) -> None:
    corp(IsActive=False)
    assert refused(sign_in("ada@corp.test"))[1] in (938, 966)


def test_closed_registration_makes_no_account(corp: Callable[..., None], sign_in: SignIn, tenant: TenantServer) -> None:
    corp()
    tenant.change_settings(registration=False)
    assert sign_in("ada@corp.test").status_code == 403
    assert refused(sign_in("ada@corp.test", "wrong")) == WRONG
