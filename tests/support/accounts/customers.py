"""An account at a tenant, with its mails and text messages."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import update
from werkzeug.test import TestResponse

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import code_in, mails_to, sent_messages, token_in
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered

PATH = "/identity/v2/auth/password"
LOGIN = "/identity/v2/auth/login"
OLD, NEW = "Zebra-kettle-91", "Quartz-lantern-58"
UNLIMITED = {
    "forgot_per_minute_per_address": 0, "reset_per_minute_per_address": 0, "sign_in_per_minute_per_address": 0,
    "passwordless_per_minute_per_address": 0,
}  # fmt: skip


@dataclass
class Customer:
    """An account holder who forgets the password."""

    tenant: TenantServer
    uid: str
    email: str
    username: str
    phone: str = ""

    def ask(self, method: str, body: Any = None, *, path: str = PATH, **query: Any) -> TestResponse:
        return self.tenant.send(method, path, body, with_secret=False, **query)

    def forgot(self, **query: Any) -> TestResponse:
        return self.ask("POST", {"email": self.email}, **query)

    def reset(self, **body: Any) -> TestResponse:
        return self.ask("PUT", body)

    def logs_in(self, password: str = OLD) -> TestResponse:
        return self.ask("POST", {"email": self.email, "password": password}, path=LOGIN)

    def mail(self) -> dict[str, Any]:
        """The newest mail about a forgotten password, asked for now."""
        answered(self.forgot())
        return self.mails()[-1]

    def mails(self) -> list[dict[str, Any]]:
        return mails_to(self.tenant.services, self.tenant.tenant_id, self.email)

    def token(self) -> str:
        return token_in(self.mail())

    def issued_token(self) -> str:
        """Return a reset token that the tenant's server requested, without a mail."""
        made = answered(self.tenant.send("POST", f"{MANAGE}/forgot/token", {"email": self.email}))
        return str(made["ForgotToken"])

    def code(self) -> str:
        return code_in(self.mail())

    def texted(self) -> str:
        """The code in the newest text message."""
        return code_in(sent_messages(self.tenant.services, self.tenant.tenant_id, "sms")[-1])

    def by_code(self, otp: str, **more: Any) -> TestResponse:
        return self.reset(**{"email": self.email, "otp": otp, "password": NEW, **more})

    def guesses(self, times: int) -> TestResponse:
        """Fail to sign in so often."""
        for _ in range(times):
            answer = self.logs_in("wrong")
        return answer

    def set_columns(self, **columns: Any) -> None:
        """Change the account's row, as nothing in the interface does."""
        with UnitOfWork(self.tenant.services.database, self.tenant.tenant_id).separate_transaction() as work:
            where = (accounts.c.tenant_id == self.tenant.tenant_id, accounts.c.uid == self.uid)
            work.run(update(accounts).where(*where).values(**columns))


def a_customer(make: NewTenantServer, **settings: Any) -> Customer:
    """Return a customer of a new tenant with these settings."""
    stated = {"email_login": True, "username_login": True, "reset_password_codes": True, "limits": UNLIMITED}
    tenant = make(**{**stated, **settings})
    email, username = f"{secrets.token_hex(5)}@example.test", f"u{secrets.token_hex(5)}"
    phone = f"+4930{secrets.randbelow(10**8):08d}"
    has_questions = bool(settings.get("security_questions"))
    stored = tenant.create(
        Email=[{"Type": "Primary", "Value": email}],
        UserName=username,
        PhoneId=phone,
        EmailVerified=True,
        PhoneIdVerified=True,
        **({"SecurityQuestionAnswer": {"pet": "Grey Owl"}} if has_questions else {}),
    )
    return Customer(tenant, stored["Uid"], email, username, phone)
