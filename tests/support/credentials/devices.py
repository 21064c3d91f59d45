"""A phone with the tenant's app on it: it scans, registers, and says yes or no, signed as the mobile libraries do."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.identity.credentials.credential_store import associated_data, credentials
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys import tenant_secrets
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import sent_messages
from tests.support.credentials.factors import LOGIN_2FA, SecondFactorHolder, second_factor_holder
from tests.support.oauth.world import World
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

ARN = "arn:aws:sns:eu-central-1:123456789012:app/GCM/acme"
APPLE_ARN = "arn:aws:sns:eu-central-1:123456789012:app/APNS/acme"
PUSH: dict[str, Any] = {
    "region": "eu-central-1",
    "message": "Do you sign in at Acme?",
    "android": {"enabled": True, "platform_arn": ARN},
    "ios": {"enabled": True, "platform_arn": APPLE_ARN, "bundle_id": "test.acme", "environment": "sandbox"},
}
AWS_KEY = {"access_key_id": "AKIDACME", "secret_access_key": "secret-of-acme"}
FACTORS = {"push": True, "email": False, "passkey": False}


@cache
def key_of(name: str) -> RSAPrivateKey:
    """The key that a phone made when its app was installed."""
    return generate_private_key(65_537, 2048)


@dataclass
class Phone:
    """One phone of an account."""

    tenant: TenantServer
    name: str = "Ada's phone"
    kind: str = "android"
    token: str = field(default_factory=lambda: f"device-token-{secrets.token_hex(4)}")

    @property
    def public_key(self) -> str:
        public = key_of(self.name).public_key()
        return public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo).hex()

    def scan(self, address: str, **members: Any) -> TestResponse:
        """Post itself to the address that a picture holds."""
        parts = urlsplit(address)
        body = {
            "deviceName": self.name, "deviceType": self.kind, "publicKey": self.public_key, "deviceToken": self.token,
            **members,
        }  # fmt: skip
        query: dict[str, Any] = {name: value for name, value in parse_qsl(parts.query) if name in ("apikey", "token")}
        return self.tenant.send("POST", "/identity/v2/auth/push/device", body, with_secret=False, **query)

    def received_messages(self) -> list[dict[str, Any]]:
        """The messages sent to it, the oldest first; the outbox has it before the worker sends it on."""
        sent = sent_messages(self.tenant.services, self.tenant.tenant_id, "push")
        return [message["data"] for message in sent if message["device_token"] == self.token]

    def respond(
        self, word: str, data: dict[str, Any] | None = None, number: str | None = None, **members: Any
    ) -> TestResponse:
        """Answer a request, the newest if none is named."""
        token = str((data or self.received_messages()[-1])["secondfactorauthenticationtoken"])
        body = {"verify": word, "signature": self.sign(f"{word}{token}{number or ''}")}
        body |= {"number": number} if number is not None else {}
        path = f"{LOGIN_2FA}/verification/push"
        query: dict[str, Any] = {"secondfactorauthenticationtoken": token}
        return self.tenant.send("PUT", path, {**body, **members}, with_secret=False, **query)

    def sign(self, text: str) -> str:
        return key_of(self.name).sign(text.encode(), PKCS1v15(), SHA256()).hex()


def registration_address(address: str) -> str:
    """What the picture at that address holds: the same query at the place of registration."""
    return address.replace("/qr-code?", "/push/device?")


def tenant_server_of(there: World, app: Any) -> TenantServer:
    """The tenant, as devices reach it."""
    return TenantServer(there.services, app, there.tenant_id, there.name, there.api_key, "")


def pairing_address(there: World) -> str:
    """What the picture of the page holds, which the service drew last."""
    with UnitOfWork(there.services.database, there.tenant_id).separate_transaction() as work:
        c = credentials.c
        row = work.all(select(c.credential_id, c.sealed).where(c.tenant_id == there.tenant_id, c.kind == "push"))[-1]
    token = there.services.encryption.decrypt(row.sealed, associated_data(there.tenant_id, row.credential_id)).decode()
    return f"http://api/?apikey={there.api_key}&token={token}"


def store_service_secrets(tenant: TenantServer, **secrets: dict[str, str]) -> None:
    """Store the credentials of push services encrypted."""
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        sealed = tenant_secrets.encrypt_merged(tenant.services.encryption, tenant.tenant_id, None, **secrets)
        tenant_writes.change(work, service_secrets=sealed)
    tenant.services.directory.clear_cache()


def with_push(make: NewTenantServer, **settings: Any) -> tuple[SecondFactorHolder, Phone]:
    """Return an account at a tenant with push, and its phone, not registered yet."""
    who = second_factor_holder(make, **{"push": PUSH, "second_factors": FACTORS, **settings})
    store_service_secrets(who.tenant, push=AWS_KEY)
    return who, Phone(who.tenant)


def registered(make: NewTenantServer, **settings: Any) -> tuple[SecondFactorHolder, Phone]:
    """The same, with the phone enrolled by its owner."""
    who, phone = with_push(make, **settings)
    assert answered(phone.scan(registration_address(who.own_factors()["PushQRCode"]))) == {"isRegistered": True}
    return who, phone


def pinged(who: SecondFactorHolder, token: str, **query: Any) -> TestResponse:
    """Ask whether the device answered."""
    sent = {"secondfactorauthenticationtoken": token, **query}
    return who.tenant.send("GET", f"{LOGIN_2FA}/push/ping", with_secret=False, **sent)


def resent(who: SecondFactorHolder, token: str) -> TestResponse:
    """Have the device asked once more."""
    return who.tenant.send("POST", LOGIN_2FA, with_secret=False, secondfactorauthenticationtoken=token)


def sent_in(text: str) -> dict[str, Any]:
    """The data of a message as SNS gets it."""
    message = json.loads(text)
    body = json.loads(next(value for name, value in message.items() if name != "default"))
    return dict(body.get("data", body))
