"""Customers who sign in with a password, also with a hash of another system."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import pbkdf2_hmac
from typing import Any

from sqlalchemy import select, update
from werkzeug.test import TestResponse

from app.identity.credentials.passwords import imported_hashes
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.tenants.tenant_server import PASSWORD, TenantServer, refused

EXPENSIVE = imported_hashes.pbkdf2(
    "sha256", 900_000, b"16 bytes of salt", pbkdf2_hmac("sha256", PASSWORD.encode(), b"16 bytes of salt", 900_000)
)
"""Of the tests' password, and more than ten times as expensive as ours."""


def imported_customer(tenant: TenantServer, stored: str | None = EXPENSIVE, **members: Any) -> SignInCustomer:
    """Add an account with a hash of another system, or without one."""
    customer = a_customer(tenant, **members)
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        where = (accounts.c.tenant_id == tenant.tenant_id, accounts.c.uid == customer.uid)
        work.run(update(accounts).where(*where).values(password_hash=stored))
    return customer


LOGIN = "/identity/v2/auth/login"


WRONG = "Wrong-password-17"


UNLIMITED = {"sign_in_per_minute_per_address": 0, "sign_in_per_minute": 0}


@dataclass(frozen=True)
class SignInCustomer:
    """An account and the requests of its owner."""

    tenant: TenantServer
    uid: str
    email: str
    username: str
    phone: str

    def logs_in(self, password: str = PASSWORD, **members: Any) -> TestResponse:
        named = members.keys() & {"email", "username", "phone"}
        body = {"password": password, **({} if named else {"email": self.email}), **members}
        return self.tenant.send("POST", LOGIN, body, with_secret=False)

    def fails(self, times: int) -> None:
        """Send a wrong password so many times and expect each to be refused as such."""
        for _ in range(times):
            assert refused(self.logs_in(WRONG)) == (401, 966)

    def row(self) -> Any:
        work = UnitOfWork(self.tenant.services.database, self.tenant.tenant_id)
        where = (accounts.c.tenant_id == self.tenant.tenant_id, accounts.c.uid == self.uid)
        try:
            return work.one(select(accounts).where(*where))
        finally:
            work.rollback()

    def events(self) -> list[Any]:
        """Return the stored audit entries of the tenant, oldest first."""
        work = UnitOfWork(self.tenant.services.database, self.tenant.tenant_id)
        where = audit.c.tenant_id == self.tenant.tenant_id
        try:
            return list(work.all(select(audit).where(where).order_by(audit.c.entry_id)))
        finally:
            work.rollback()


def a_customer(tenant: TenantServer, **members: Any) -> SignInCustomer:
    """Add an account with every kind of identifier, all verified."""
    mark = secrets.token_hex(5)
    email, phone = f"{mark}@example.test", f"+49151{secrets.randbelow(10**8):08}"
    username = f"u{mark}"
    made = tenant.create(Email=[{"Type": "Primary", "Value": email}], UserName=username, PhoneId=phone)
    uid = str(made["Uid"])
    tenant.update(uid, {"EmailVerified": True, "PhoneIdVerified": True, **members})
    return SignInCustomer(tenant, uid, email, username, phone)
