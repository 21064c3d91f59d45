"""Records of vendors' exports, their import, and a sign-in afterwards."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import bcrypt
from argon2.low_level import Type, hash_secret_raw

from app.identity.administration.account_import import batch_import, formats
from app.identity.administration.account_import.batch_import import ImportedRecord
from app.identity.administration.account_import.formats import Format
from app.identity.administration.account_import.import_record import MappedRecord
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.world import World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

OLD = "correct horse 7"


SALT = b"sixteen bytes..!"


BCRYPT = bcrypt.hashpw(OLD.encode(), bcrypt.gensalt(4)).decode()


OID = "5dea9f9c82dd7c0e76e4ec93"


AUTH0 = {
    "_id": {"$oid": OID}, "email_verified": True, "email": "ada@example.com", "passwordHash": BCRYPT,
    "password_set_date": {"$date": "2019-12-06T18:36:12.412Z"}, "tenant": "acme", "connection": "Username-Password-Authentication",
    "_tmp_is_unique": True,
}  # fmt: skip
"""A line of the export of password hashes, as Auth0 documents it."""


UUID = "f27826f7-6ec1-4283-822f-10e0c51a9089"


Reported = list[ImportedRecord]


def keycloak(password: dict[str, str], **more: Any) -> dict[str, Any]:
    """Return a user of a realm export."""
    return {
        "id": UUID, "username": "ada", "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.com", "emailVerified": True,
        "createdTimestamp": 1_690_887_741_455, "enabled": True, "totp": False, "disableableCredentialTypes": [], "requiredActions": [],
        "realmRoles": ["default-roles-acme"], "notBefore": 0, "groups": [],
        "credentials": [{"id": "b0a1", "type": "password", "createdDate": 1_690_887_741_455, **password}], **more,
    }  # fmt: skip


def pbkdf2(algorithm: str, digest: str, length: int) -> dict[str, str]:
    derived = hashlib.pbkdf2_hmac(digest, OLD.encode(), SALT, 1_000, length)
    return credential({"hashIterations": 1_000, "algorithm": algorithm, "additionalParameters": {}}, derived)


def credential(data: dict[str, Any], derived: bytes) -> dict[str, str]:
    secret = {
        "value": base64.b64encode(derived).decode(),
        "salt": base64.b64encode(SALT).decode(),
        "additionalParameters": {},
    }
    return {"secretData": json.dumps(secret), "credentialData": json.dumps(data)}


def argon2() -> dict[str, str]:
    more = {"hashLength": ["32"], "memory": ["7168"], "type": ["id"], "version": ["1.3"], "parallelism": ["1"]}
    derived = hash_secret_raw(OLD.encode(), SALT, 5, 7168, 1, 32, Type.ID)
    return credential({"hashIterations": 5, "algorithm": "argon2", "additionalParameters": more}, derived)


KEYCLOAK = {
    "pbkdf2-sha256": pbkdf2("pbkdf2-sha256", "sha256", 64),
    "pbkdf2-sha512": pbkdf2("pbkdf2-sha512", "sha512", 64),
    "pbkdf2": pbkdf2("pbkdf2", "sha1", 64),
    "argon2": argon2(),
}


def imported(tenant: World, folder: Path, form: str, *records: Any, **how: Any) -> Reported:
    """Import records as NDJSON, or one realm as it is exported."""
    path = folder / "export.json"
    text = json.dumps(records[0], indent=2) if "users" in records[0] else "\n".join(map(json.dumps, records))
    path.write_text(text)
    return imported_files(tenant, [path], form, **how)


def imported_files(
    tenant: World,
    files: list[Path],
    form: str,
    mapped: MappedRecord | None = None,
    realm: str | None = None,
    **how: Any,
) -> Reported:
    reported: Reported = []
    found = tenant.services.directory.by_name(tenant.name)
    assert found
    reads = formats.read(files, Format(form), mapped or MappedRecord(), realm)
    batch_import.run(tenant.services, found, reads, reported.append, **how)
    return reported


def results_of(reported: Reported) -> list[str]:
    return [str(done.outcome) for done in reported]


def context(tenant: World) -> Context:
    found = tenant.services.directory.by_name(tenant.name)
    assert found
    return Context.outside_requests(tenant.services, found, UnitOfWork(tenant.services.database, tenant.tenant_id))


def account(tenant: World, email: str = "ada@example.com") -> Account:
    own = context(tenant)
    found = account_store.by_identifier(own, "email", email)
    own.work.rollback()
    assert found
    return found


def sign_in(
    tenant: World, new_visitor_at: NewVisitorAt, identifier: str = "ada@example.com", password: str = OLD
) -> VisitedPage:
    shop = tenant.application(f"shop{tenant.services.clock.now():%H%M%S%f}")
    return new_visitor_at(tenant).authorize(shop).press("Sign in", identifier=identifier, password=password)
