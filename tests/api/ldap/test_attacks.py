"""What hostile people, administrators and directories try."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import ldap.dn
import pytest
from werkzeug.test import TestResponse

from app.contract.captcha.models import CaptchaChallenge
from tests.api.ldap.conftest import LOGIN, SignIn
from tests.support.accounts.risky_sign_ins import CHROME, FIREFOX
from tests.support.services import slapd
from tests.support.services.identity_service import on_one_database
from tests.support.services.slapd import PASSWORD, PEOPLE, Slapd
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.captchas import worked

pytestmark = on_one_database
Corp = Callable[..., None]


def test_password_from_before_opens_no_linked_account(corp: Corp, sign_in: SignIn, tenant: TenantServer) -> None:
    """Else it would by a username or a number, also for people who left."""
    corp()
    tenant.change_settings(username_login=True, email_login=True)
    email = [{"Type": "Primary", "Value": "ada@corp.test"}]
    account = tenant.create(Email=email, EmailVerified=True, UserName="countess", Password="Zebra-kettle-91")
    assert sign_in(username="countess", password="Zebra-kettle-91").status_code == 200
    assert answered(sign_in("ada@corp.test"))["Profile"]["Uid"] == account["Uid"]
    assert refused(sign_in(username="countess", password="Zebra-kettle-91"))[1] == 966


@pytest.mark.parametrize(
    "name",
    ["O'Neil, Ann", 'quoted "q"', "#hash", "plus+sign", "Zoë", "back\\slash", "semi;colon", "a=b", " lead", "trail "],
)
def test_names_with_special_characters_bind_and_have_groups(
    corp: Corp, sign_in: SignIn, tenant: TenantServer, directory: Slapd, name: str
) -> None:

    answered(tenant.send("POST", "/identity/v2/manage/role", {"Roles": [{"Name": "Editor"}]}))
    corp(GroupBaseDn=slapd.GROUPS, GroupRoles={f"special {name!r}": "Editor"}, AcceptsUsernames=True)
    tenant.change_settings(username_login=True)
    number = f"s{abs(hash(name))}"
    dn = f"cn={ldap.dn.escape_dn_chars(name)},{PEOPLE}"
    directory.add(
        dn,
        objectClass=["inetOrgPerson"],
        cn=name,
        sn=name,
        uid=number,
        mail=f"{number}@corp.test",
        userPassword=PASSWORD,
    )
    group = ldap.dn.escape_dn_chars(f"special {name!r}")
    directory.add(f"cn={group},{slapd.GROUPS}", objectClass="groupOfNames", member=dn)
    profile = answered(sign_in(username=number))["Profile"]
    assert tenant.read(profile["Uid"])["Roles"] == ["Editor"]
    assert refused(sign_in(username=number, password="wrong"))[1] == 966


@pytest.mark.parametrize(
    "mail", ["no address", "x" * 400 + "@corp.test", "<b>@corp.test", "a@b@corp.test", "ada@evil.test"]
)
def test_wrong_addresses_of_entries_verify_nothing(
    corp: Corp, sign_in: SignIn, tenant: TenantServer, directory: Slapd, mail: str
) -> None:
    corp(AcceptsUsernames=True)
    tenant.change_settings(username_login=True)
    name = f"m{abs(hash(mail))}"
    directory.add_person(name, mail=mail)
    assert refused(sign_in(username=name)) == (400, 1038), "the form requires an address, and nothing verified this one"


def test_entry_that_moves_keeps_its_account(corp: Corp, sign_in: SignIn, directory: Slapd) -> None:
    corp(BaseDn=slapd.SUFFIX)
    dn = directory.add_person("mover")
    uid = answered(sign_in("mover@corp.test"))["Profile"]["Uid"]
    connection = directory.as_admin()
    connection.rename_s(dn, "uid=moved", slapd.GROUPS)
    connection.unbind_s()
    assert answered(sign_in("mover@corp.test"))["Profile"]["Uid"] == uid


def test_concurrent_first_sign_ins_make_one_account(corp: Corp, sign_in: SignIn, directory: Slapd) -> None:
    corp()
    directory.add_person("eager")
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: sign_in("eager@corp.test"), range(4)))
    uids = {answer.get_json()["Profile"]["Uid"] for answer in answers if answer.status_code == 200}
    assert len(uids) == 1
    assert answered(sign_in("eager@corp.test"))["Profile"]["Uid"] in uids


def test_anonymous_bind_signs_nobody_in(corp: Corp, sign_in: SignIn) -> None:
    corp()
    for password in ("", "\0", "\ud800"):
        answer = sign_in("ada@corp.test", password)
        assert answer.status_code in (400, 401), password


def test_captcha_opens_the_lock_of_a_linked_account(
    corp: Corp, sign_in: SignIn, tenant: TenantServer, directory: Slapd
) -> None:
    corp()
    directory.add_person("human")
    tenant.change_settings(lockout={"type": "captcha", "maximum_failed_attempts": 2}, captcha={"work_bits": 8})
    answered(sign_in("human@corp.test"))
    for _ in range(2):
        assert refused(sign_in("human@corp.test", "wrong")) == (401, 966)
    locked = sign_in("human@corp.test")
    assert refused(locked) == (403, 1132)
    challenge = CaptchaChallenge.model_validate(locked.get_json()["Data"]["Captcha"])
    solution = {"captcha_challenge": challenge.token, "captcha_work": worked(challenge.work_seed, challenge.work_bits)}
    answered(sign_in("human@corp.test", **solution))
    answered(sign_in("human@corp.test"))  # the lock is gone


def test_new_origin_is_refused_as_for_every_password(
    corp: Corp, sign_in: SignIn, tenant: TenantServer, directory: Slapd
) -> None:
    corp()
    directory.add_person("traveler")
    email = "traveler@corp.test"
    tenant.change_settings(risk={"browser": "refuse"})

    def at(user_agent: str, password: str = PASSWORD) -> TestResponse:
        body = {"email": email, "password": password}
        return tenant.send("POST", LOGIN, body, with_secret=False, headers={"User-Agent": user_agent})

    answered(at(FIREFOX))
    assert refused(at(CHROME)) == (403, 1168)
    assert refused(at(CHROME, "wrong")) == (401, 966)
    answered(at(FIREFOX))


def test_right_passwords_of_a_network_do_not_use_up_its_limit(
    corp: Corp, sign_in: SignIn, tenant: TenantServer, directory: Slapd
) -> None:
    corp()
    tenant.change_settings(limits={"sign_in_per_minute_per_address": 2})
    for name in ("desk1", "desk2", "desk3", "desk4"):
        directory.add_person(name)
        answered(sign_in(f"{name}@corp.test"))
    answers = [refused(sign_in("desk1@corp.test", "wrong"))[0] for _ in range(3)]
    assert answers == [401, 401, 429]


def test_lost_group_takes_its_role_before_a_second_factor(
    corp: Corp, sign_in: SignIn, tenant: TenantServer, directory: Slapd
) -> None:
    answered(tenant.send("POST", "/identity/v2/manage/role", {"Roles": [{"Name": "Editor"}]}))
    dn = directory.add_person("twice")
    group = directory.add_group("twice-editors", dn)
    corp(GroupBaseDn=slapd.GROUPS, GroupRoles={"twice-editors": "Editor"})
    uid = answered(sign_in("twice@corp.test"))["Profile"]["Uid"]
    assert tenant.read(uid)["Roles"] == ["Editor"]
    tenant.change_settings(two_factor="required", second_factors={"email": True})
    directory.replace(group, member=[slapd.SERVICE])
    body = {"email": "twice@corp.test", "password": PASSWORD}
    answer = answered(tenant.send("POST", f"{LOGIN}/2fa", body, with_secret=False))
    assert answer["SecondFactorAuthentication"]["SecondFactorAuthenticationToken"]
    assert not tenant.read(uid)["Roles"]
