"""A password is one secret, however a keyboard or a system writes its letters (NIST SP 800-63B-4 section 3.1.1.2)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import partial
from hashlib import pbkdf2_hmac

import bcrypt
import pytest
from argon2 import PasswordHasher
from werkzeug.test import TestResponse

from app.identity.credentials.passwords import imported_hashes
from tests.support.accounts import customers
from tests.support.accounts.password_customers import UNLIMITED, SignInCustomer, a_customer, imported_customer
from tests.support.accounts.registering import register
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

ACCOUNT, PASSWORDS = "/identity/v2/auth/account", "/identity/v2/auth/password"
FORMS = {
    "full-width letters": ("ｚｅｂｒａ－Ｋｅｔｔｌｅ－９１", "zebra-Kettle-91"),
    "ligature": ("\ufb01sh-Kettle-91", "fish-Kettle-91"),
    "Polish, decomposed": (unicodedata.normalize("NFD", "Zażółć-gęślą-91"), unicodedata.normalize("NFC", "Zażółć-gęślą-91")),
    "Angstrom sign": ("10-\u212bngstr\u00f6m-91", "10-\u00c5ngstr\u00f6m-91"),
    "Korean jamo": (unicodedata.normalize("NFD", "비밀번호는-열쇠-91"), "비밀번호는-열쇠-91"),
}  # fmt: skip
"""Two ways to write one password: the second one is in NFKC."""
TYPED, NORMAL = FORMS["ligature"]
EACH = pytest.mark.parametrize("name", FORMS)


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(email_login=True, username_login=True, phone_login=True, limits=UNLIMITED)


def with_password(tenant: TenantServer, password: str) -> SignInCustomer:
    """Return a customer whose server set this password."""
    customer = a_customer(tenant)
    answered(tenant.send("PUT", f"{MANAGE}/{customer.uid}/password", {"password": password}))
    return customer


def bearer(customer: SignInCustomer) -> str:
    return str(customer.tenant.tokens(customer.uid)["access_token"])


@EACH
def test_password_signs_in_in_every_form(name: str, tenant: TenantServer, subtests: pytest.Subtests) -> None:
    for number, written in enumerate(FORMS[name]):
        customer = with_password(tenant, written)
        for kind in ("email", "username", "phone"):
            for typed in FORMS[name]:
                with subtests.test(form=number, kind=kind, typed=typed):
                    answered(customer.logs_in(typed, **{kind: getattr(customer, kind)}))
        assert refused(customer.logs_in(f"{written}x")) == (401, 966)


def test_new_password_is_stored_in_its_normal_form(tenant: TenantServer, subtests: pytest.Subtests) -> None:
    def registered() -> SignInCustomer:
        answered(register(tenant, "new@example.test", Password=TYPED))
        uid = answered(tenant.send("GET", MANAGE, email="new@example.test"))["Uid"]
        return SignInCustomer(tenant, uid, "new@example.test", "", "")

    def created() -> SignInCustomer:
        made = tenant.create(Email=[{"Type": "Primary", "Value": "made@example.test"}], Password=TYPED)
        return SignInCustomer(tenant, made["Uid"], "made@example.test", "", "")

    def changed() -> SignInCustomer:
        item = with_password(tenant, "Amber-window-44")
        body = {"oldpassword": "Amber-window-44", "newpassword": TYPED}
        answered(tenant.send("PUT", f"{PASSWORDS}/change", body, bearer=bearer(item)))
        return item

    def edited() -> SignInCustomer:
        element = with_password(tenant, "Amber-window-44")
        answered(
            tenant.send("PUT", ACCOUNT, {"oldpassword": "Amber-window-44", "Password": TYPED}, bearer=bearer(element))
        )
        return element

    def reset() -> SignInCustomer:
        value = a_customer(tenant)
        token = answered(tenant.send("POST", f"{MANAGE}/forgot/token", {"email": value.email}))["ForgotToken"]
        answered(tenant.send("PUT", PASSWORDS, {"resettoken": token, "password": TYPED}, with_secret=False))
        return value

    for set_password in (registered, created, changed, edited, reset, partial(with_password, tenant, TYPED)):
        with subtests.test(set_password=getattr(set_password, "__name__", "set by the server")):
            assert PasswordHasher().verify(set_password().row().password_hash, NORMAL)


def test_present_password_is_right_in_both_forms(tenant: TenantServer, subtests: pytest.Subtests) -> None:
    def changed(item: SignInCustomer) -> TestResponse:
        body = {"oldpassword": TYPED, "newpassword": "Amber-window-44"}
        return tenant.send("PUT", f"{PASSWORDS}/change", body, bearer=bearer(item))

    def edited(element: SignInCustomer) -> TestResponse:
        return tenant.send(
            "PUT", ACCOUNT, {"oldpassword": TYPED, "Password": "Amber-window-44"}, bearer=bearer(element)
        )

    def stepped_up(value: SignInCustomer) -> TestResponse:
        return tenant.send("PUT", f"{ACCOUNT}/reauth/password", {"password": TYPED}, bearer=bearer(value))

    for set_password in (changed, edited, stepped_up):
        with subtests.test(set_password=set_password.__name__):
            answered(set_password(with_password(tenant, NORMAL)))


def test_password_grant_takes_both_forms(world: World) -> None:
    client = world.application("older-app", grant_types=["password"])
    person: Person = world.person("ada@example.test", NORMAL)
    for typed in (TYPED, NORMAL):
        form = {"grant_type": "password", "username": person.email, "password": typed, **client.client_credentials()}
        assert client.back("token", form).status_code == 200


def pbkdf2(iterations: int) -> str:
    derived = pbkdf2_hmac("sha256", TYPED.encode(), b"16 bytes of salt", iterations)
    return imported_hashes.pbkdf2("sha256", iterations, b"16 bytes of salt", derived)


RAW: dict[str, Callable[[], str]] = {
    "argon2id of an older version": lambda: PasswordHasher().hash(TYPED),
    "bcrypt": lambda: bcrypt.hashpw(TYPED.encode(), bcrypt.gensalt(4)).decode(),
    "pbkdf2": lambda: pbkdf2(1_000),
    "expensive": lambda: pbkdf2(900_000),
}
"""Hashes of the password as it was typed."""


@pytest.mark.both_databases
def test_hash_of_the_typed_form_is_renewed_once(tenant: TenantServer, subtests: pytest.Subtests) -> None:
    for name, make in RAW.items():
        with subtests.test(stored=name):
            stored = make()
            customer = imported_customer(tenant, stored)
            assert refused(customer.logs_in(f"{TYPED}x")) == (401, 966)
            assert customer.row().password_hash == stored
            answered(customer.logs_in(TYPED))
            renewed = customer.row().password_hash
            assert PasswordHasher().verify(renewed, NORMAL)
            answered(customer.logs_in(NORMAL))
            answered(customer.logs_in(TYPED))
            assert customer.row().password_hash == renewed


def test_hash_of_the_typed_form_is_renewed_by_step_up(tenant: TenantServer) -> None:
    customer = imported_customer(tenant, PasswordHasher().hash(TYPED))
    answered(tenant.send("PUT", f"{ACCOUNT}/reauth/password", {"password": TYPED}, bearer=bearer(customer)))
    assert PasswordHasher().verify(customer.row().password_hash, NORMAL)


def cost(answer: TestResponse) -> int:
    """Return how many hashes the request computed."""
    (found,) = (part for part in answer.headers["X-Gatehouse-Cost"].split("; ") if part.startswith("hashes="))
    return int(found.partition("=")[2])


@pytest.mark.parametrize(("typed", "hashes"), [(TYPED, 2), (NORMAL, 1)])
def test_unknown_account_costs_as_many_hashes(
    new_tenant_server: NewTenantServer, typed: str, hashes: int, subtests: pytest.Subtests
) -> None:
    tenant = new_tenant_server(email_login=True, limits=UNLIMITED, hide_unknown_accounts=True)
    known, without = a_customer(tenant), imported_customer(tenant, None)
    parameters = {"known": known.email, "unknown": "absent@example.test", "without a password": without.email}
    for name, email in parameters.items():
        with subtests.test(account=name):
            answer = known.logs_in(typed, email=email)
            assert (refused(answer), cost(answer)) == ((401, 966), hashes)


def test_earlier_password_is_refused_in_every_form(new_tenant_server: NewTenantServer) -> None:
    account = customers.a_customer(new_tenant_server, password_policy={"history": 2})
    answered(account.reset(resettoken=account.issued_token(), password=NORMAL))
    assert refused(account.reset(resettoken=account.issued_token(), password=TYPED)) == (403, 1015)
    answered(account.reset(resettoken=account.issued_token(), password="Amber-window-44"))
    assert refused(account.reset(resettoken=account.issued_token(), password=TYPED)) == (403, 1015)


@pytest.mark.parametrize(
    ("password", "code"),
    [
        (unicodedata.normalize("NFD", "ążęó-91"), 1134),  # 7 letters, written as 11 characters
        ("\ufdfa-aA91", 1134),
        ("Ｐａｓｓｗｏｒｄ１２３４！", 1216),
        ("Kettle-\ufb01reflies-91", 1216),
    ],
    ids=["length", "length of a ligature", "common", "word of the profile"],
)
def test_policy_judges_the_normal_form(tenant: TenantServer, password: str, code: int) -> None:
    customer = a_customer(tenant)
    tenant.update(customer.uid, {"FirstName": "Fireflies"})
    answer = tenant.send("PUT", f"{MANAGE}/{customer.uid}/password", {"password": password})
    assert refused(answer) == (403, code)


def test_profile_word_is_found_however_it_is_written(tenant: TenantServer) -> None:
    customer = a_customer(tenant)
    tenant.update(customer.uid, {"FirstName": unicodedata.normalize("NFD", "Żółw")})
    answer = tenant.send("PUT", f"{MANAGE}/{customer.uid}/password", {"password": "Kettle-Żółw-91"})
    assert refused(answer) == (403, 1216)


def test_security_answer_is_right_in_every_form(new_tenant_server: NewTenantServer) -> None:
    account = customers.a_customer(new_tenant_server, security_questions={"pet": "Your first pet?"})
    account.tenant.update(account.uid, {"SecurityQuestionAnswer": {"pet": NORMAL}})
    body = {"email": account.email, "password": customers.NEW, "securityanswer": {"pet": TYPED}}
    answered(account.ask("PUT", body, path=f"{PASSWORDS}/securityanswer"))
    answered(account.logs_in(customers.NEW))
