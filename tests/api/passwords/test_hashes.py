"""A stored password hash follows the tenant's settings, and an expensive one of another system is replaced at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import pbkdf2_hmac

import pytest
from sqlalchemy import select, update

from app.identity.credentials.passwords import imported_hashes
from app.identity.directory.tenants.tables import tenants
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import thread_cpu_seconds
from tests.support.accounts.password_customers import EXPENSIVE, a_customer, imported_customer
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused


def test_stale_hash_is_renewed_at_next_sign_in(acme: TenantServer) -> None:
    customer = a_customer(acme)
    before = customer.row().password_hash
    answered(customer.logs_in())
    assert customer.row().password_hash == before
    with UnitOfWork(acme.services.database, acme.tenant_id).separate_transaction() as work:
        where = tenants.c.tenant_id == acme.tenant_id
        stored = work.run(select(tenants.c.settings, tenants.c.version).where(where)).one()
        settings = {**stored.settings, "argon2": {"memory_kib": 9216, "iterations": 2, "parallelism": 1}}
        work.run(update(tenants).where(where).values(settings=settings, version=stored.version + 1))
    acme.services.directory.clear_cache()
    customer.fails(1)
    assert customer.row().password_hash == before
    answered(customer.logs_in())
    after = customer.row().password_hash
    assert "m=9216,t=2,p=1" in after
    answered(customer.logs_in())
    assert customer.row().password_hash == after


@pytest.mark.both_databases
def test_expensive_hash_is_replaced_by_a_refused_sign_in(new_tenant_server: NewTenantServer) -> None:
    customer = imported_customer(new_tenant_server(email_verification="required"), EmailVerified=False)
    customer.fails(1)
    assert customer.row().password_hash == EXPENSIVE
    assert refused(customer.logs_in())[1] == 970
    replaced = customer.row().password_hash
    assert replaced.startswith("$argon2id$")
    customer.tenant.update(customer.uid, {"EmailVerified": True})
    answered(customer.logs_in())
    assert customer.row().password_hash == replaced


def test_cheap_hash_of_another_system_waits_for_a_sign_in(new_tenant_server: NewTenantServer) -> None:
    derived = pbkdf2_hmac("sha256", PASSWORD.encode(), b"16 bytes of salt", 1_000)
    cheap = imported_hashes.pbkdf2("sha256", 1_000, b"16 bytes of salt", derived)
    customer = imported_customer(new_tenant_server(email_verification="required"), cheap, EmailVerified=False)
    assert refused(customer.logs_in())[1] == 970
    assert customer.row().password_hash == cheap


@pytest.mark.parametrize("kind", ["step-up", "change"])
def test_expensive_hash_is_replaced_by_any_right_password(acme: TenantServer, kind: str) -> None:
    customer = imported_customer(acme)
    token = acme.tokens(customer.uid)["access_token"]
    path, body = {
        "step-up": ("/identity/v2/auth/account/reauth/password", {"password": PASSWORD}),
        "change": ("/identity/v2/auth/password/change", {"oldpassword": PASSWORD, "newpassword": "short"}),
    }[kind]
    response = acme.send("PUT", path, body, bearer=token)
    assert response.status_code == 200 or refused(response) == (403, 1134)  # the new one is too short
    assert customer.row().password_hash.startswith("$argon2id$")
    answered(customer.logs_in())


@pytest.mark.both_databases
def test_parallel_sign_ins_replace_one_expensive_hash(acme: TenantServer) -> None:
    customer, barrier = imported_customer(acme), threading.Barrier(3)

    def sign_in(_: int) -> int:
        barrier.wait()
        return customer.logs_in().status_code

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(sign_in, range(3))) == [200] * 3
    assert customer.row().password_hash.startswith("$argon2id$")


@pytest.mark.parametrize(
    "stored",
    [
        imported_hashes.pbkdf2("sha256", 2_000_000, b"16 bytes of salt", b"x" * 735),
        "$scrypt$ln=40,r=8,p=1$c2FsdHNhbHQ$" + "x" * 43,
        "$scrypt$ln=14,r=8,p=1000000$c2FsdHNhbHQ$" + "x" * 43,
        "$argon2id$v=19$m=1048576,t=20,p=1$c2FsdHNhbHQ$" + "x" * 43,
        "$argon2id$v=19$m=262144,t=1,p=32768$c2FsdHNhbHQ$" + "x" * 43,
    ],
    ids=["pbkdf2", "scrypt ln", "scrypt p", "argon2 t", "argon2 p"],
)
def test_stored_bomb_is_refused_like_a_wrong_password(acme: TenantServer, stored: str) -> None:
    """Versions before the bounds stored it: its owner resets the password."""
    customer, begun = imported_customer(acme, stored), thread_cpu_seconds()
    assert refused(customer.logs_in()) == (401, 966)
    assert thread_cpu_seconds() - begun < 1
