"""Archive of a tenant, restored into another installation: other database, other secret key, and people sign in as before."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyrage
import pytest
from sqlalchemy import LargeBinary, func, select

from app.identity import create_app, create_service
from app.identity.administration.reencryption import ENCRYPTED_COLUMNS, reencrypt
from app.identity.administration.tenant_archive import archive_file, archiving, restoring
from app.identity.administration.tenant_archive.archive_file import ArchiveKey, ArchiveUnreadable
from app.identity.administration.tenant_archive.archived_tables import LEFT_OUT, archived_tables
from app.identity.administration.tenant_archive.restoring import RestoreRefused
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.encryption import DecryptionError, Encryption
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.migrate import HEAD
from app.identity.platform.store.tables import all_tables
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.settings import Settings
from tests.support.accounts.pinned import PINS, pinned, session, sign_in_with_pin
from tests.support.credentials.factors import SecondFactorHolder
from tests.support.credentials.passkeys import passkey_holder
from tests.support.operation_cases.cases import account_holder
from tests.support.operation_cases.factor_login import ALL
from tests.support.services.identity_service import SECRET, empty_database, make_services
from tests.support.services.real_services import worker_number
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

OWNER = pyrage.x25519.Identity.generate()
KEY = ArchiveKey(recipients=[str(OWNER.to_public())], identities=[str(OWNER)])
THERE = b"the secret key of another installation, long enough"

pytestmark = pytest.mark.both_databases


class _Parameter:
    """A request for an empty database of a kind, beside the test's own."""

    def __init__(self, request: pytest.FixtureRequest, kind: str) -> None:
        self.param, self.config, self.getfixturevalue = kind, request.config, request.getfixturevalue


@pytest.fixture
def there(request: pytest.FixtureRequest, services: IdentityServices, tmp_path: Path) -> Iterator[IdentityServices]:
    """Another installation, on the other kind of database."""
    assert worker_number(request.config) >= 0
    kind = "postgres" if services.database.is_sqlite else "sqlite"
    folder = tmp_path / "there"
    folder.mkdir()
    parameter: Any = _Parameter(request, kind)
    with empty_database(parameter, folder) as database:
        made = make_services(Settings(data_dir=folder, database_url=database.url, secrets=(THERE,), shows_cost=True))
        yield made
        made.database.dispose()


def archived(services: IdentityServices, tenant_id: str, key: ArchiveKey = KEY) -> bytes:
    work = UnitOfWork(services.database, tenant_id)
    record = tenant_writes.own(work)
    work.rollback()
    assert record is not None
    file = io.BytesIO()
    archiving.write(services, record, file, key)
    return file.getvalue()


def restored(services: IdentityServices, content: bytes, key: ArchiveKey = KEY, **options: str) -> None:
    restoring.read(services, io.BytesIO(content), key, **options)


def moved(tenant: TenantServer, there: IdentityServices) -> TenantServer:
    """Archive a tenant, restore it, and return it there."""
    restored(there, archived(tenant.services, tenant.tenant_id))
    app: Any = create_app(create_service(there))
    return replace(tenant, services=there, app=app)


def counted(services: IdentityServices, tenant_id: str) -> dict[str, int]:
    """Return how many rows of the tenant each archived table has, but the audit, in which the restoration is."""
    work = UnitOfWork(services.database, tenant_id)
    try:
        rows = {
            table.name: work.one(select(func.count()).select_from(table).where(table.c.tenant_id == tenant_id))
            for table in archived_tables()
            if table.name != "audit"
        }
        return {name: int(row[0]) for name, row in rows.items() if row is not None and row[0]}
    finally:
        work.rollback()


def test_people_sign_in_with_all_they_had(new_tenant_server: NewTenantServer, there: IdentityServices) -> None:
    settings = {"two_factor": "optional", "second_factors": ALL}
    ada = SecondFactorHolder(**vars(account_holder(new_tenant_server, **settings))).enrols()
    codes = ada.backup_codes()
    ada.stored_token = ""
    ada.tenant = moved(ada.tenant, there)
    token = ada.token()
    assert answered(ada.shows_code(ada.next_code(), token))["Profile"]["Uid"] == ada.uid
    used = ada.answer_challenge("backupcode", {"backupcode": codes[3]}, ada.token())
    assert answered(used)["Profile"]["Uid"] == ada.uid
    assert ada.answer_challenge("backupcode", {"backupcode": codes[3]}, ada.token()).status_code >= 400


def test_passkey_signs_in_at_the_same_host(new_tenant_server: NewTenantServer, there: IdentityServices) -> None:
    ada = passkey_holder(new_tenant_server).add_passkey()
    ada.stored_token = ""
    ada.tenant = moved(ada.tenant, there)
    assert answered(ada.sign_in())["Profile"]["Uid"] == ada.uid


def test_encrypted_pin_is_under_the_other_key(new_tenant_server: NewTenantServer, there: IdentityServices) -> None:
    ada = pinned(account_holder(new_tenant_server, **PINS))
    ada.stored_token = ""
    ada.tenant = moved(ada.tenant, there)
    assert answered(sign_in_with_pin(ada, session(ada)))["Profile"]["Uid"] == ada.uid
    there.encryption = Encryption((SECRET, THERE))
    assert reencrypt(there) > 0, "nothing was under the other key"
    there.encryption = Encryption((THERE,))
    there.directory.clear_cache()
    with pytest.raises(DecryptionError):
        archived(there, ada.tenant.tenant_id)


def test_restored_tenant_is_equal_and_goes_back(new_tenant_server: NewTenantServer, there: IdentityServices) -> None:
    ada = account_holder(new_tenant_server)
    here, tenant_id = ada.tenant.services, ada.tenant.tenant_id
    content = archived(here, tenant_id)
    restored(there, content)
    assert counted(here, tenant_id) == counted(there, tenant_id)
    with pytest.raises(RestoreRefused, match="is here already"):
        restored(there, content)


def test_name_that_is_taken_is_refused_and_another_taken(
    new_tenant_server: NewTenantServer, there: IdentityServices
) -> None:
    first = new_tenant_server()
    content = archived(first.services, first.tenant_id)
    restored(there, content)
    second = new_tenant_server()
    work = UnitOfWork(second.services.database, second.tenant_id)
    tenant_writes.change(work, name=f"{second.name}x")
    work.commit()
    other = archived(second.services, second.tenant_id)
    with pytest.raises(RestoreRefused, match="another tenant"):
        restored(there, other, name=first.name)
    assert counted(there, second.tenant_id) == {}
    restored(there, other, name=f"new-{second.name}")
    assert there.directory.by_name(f"new-{second.name}") is not None


def test_nothing_is_restored_of_a_damaged_archive(new_tenant_server: NewTenantServer, there: IdentityServices) -> None:
    tenant = account_holder(new_tenant_server).tenant
    content = archived(tenant.services, tenant.tenant_id)
    half, last = len(content) // 2, len(content) - 1
    damaged = {
        "cut": content[:-1],
        "cut within": content[:half],
        "empty": b"",
        "other file": b"PK\x03\x04" + content,
        "flipped in the middle": content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :],
        "flipped at the end": content[:last] + bytes([content[last] ^ 1]),
        "longer": content + b"x",
    }
    for name, changed in damaged.items():
        with pytest.raises(ArchiveUnreadable):
            restored(there, changed)
        assert counted(there, tenant.tenant_id) == {}, name


def test_archive_of_unknown_origin_is_refused(there: IdentityServices) -> None:
    """Whoever knows the age recipient can write an archive."""
    head = {"tenant_id": "a" * 32, "name": "acme", "address": "", "schema": HEAD, "archived_at": ""}
    whole = [json.dumps(head), '{"end": {}}']
    written = {
        "row of its tenant": whole,
        "line that this version can't read": [whole[0], "[" * 100_000],
        "no id of a tenant": [json.dumps({**head, "tenant_id": "lookup"}), whole[1]],
        "name of a tenant": [json.dumps({**head, "name": "www"}), whole[1]],
        "'../x' can't": [json.dumps({**head, "name": "../x"}), whole[1]],
    }
    for problem, lines in written.items():
        file = io.BytesIO()
        archive_file.write(file, (text.encode() for text in lines), KEY)
        with pytest.raises((ArchiveUnreadable, RestoreRefused), match=problem):
            restored(there, file.getvalue())
        assert there.directory.by_name("acme") is None


def test_passphrase_opens_and_another_opens_nothing(
    new_tenant_server: NewTenantServer, there: IdentityServices
) -> None:
    tenant = new_tenant_server()
    content = archived(tenant.services, tenant.tenant_id, ArchiveKey(passphrase="a passphrase of the tests"))
    with pytest.raises(ArchiveUnreadable, match="passphrase is wrong"):
        restored(there, content, ArchiveKey(passphrase="another passphrase"))
    restored(there, content, ArchiveKey(passphrase="a passphrase of the tests"))


def test_archive_shows_nothing_without_its_key(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server)
    content = archived(ada.tenant.services, ada.tenant.tenant_id)
    shown = (ada.email, ada.username, ada.tenant.api_secret, ada.tenant.tenant_id, ada.tenant.name)
    for text in shown:
        assert text.encode() not in content
        assert base64.b64encode(text.encode()) not in content


def test_age_recipient_opens_with_its_identity(new_tenant_server: NewTenantServer, there: IdentityServices) -> None:
    tenant = new_tenant_server()
    stranger = pyrage.x25519.Identity.generate()
    content = archived(tenant.services, tenant.tenant_id)
    with pytest.raises(ArchiveUnreadable, match="None of these keys"):
        restored(there, content, ArchiveKey(identities=[str(stranger)]))
    restored(there, content)
    with pytest.raises(ValueError, match="age1"):
        archived(tenant.services, tenant.tenant_id, ArchiveKey(recipients=["ssh-rsa AAAA"]))


def test_every_table_is_archived_or_left_out_with_a_reason() -> None:
    names = {table.name for table in archived_tables()}
    assert names | set(LEFT_OUT) == set(all_tables())
    assert not names & set(LEFT_OUT)


def test_every_encrypted_column_is_decrypted_for_the_archive() -> None:
    """A value that stays under this installation's key is lost; a new column of bytes is one of these, or clear."""
    clear = {"application_logos.content", "pictures.content", "theme_files.content"}
    encrypted = {f"{item.table.name}.{name}" for item in ENCRYPTED_COLUMNS for name in item.columns}
    of_bytes = {
        f"{table.name}.{column.name}"
        for table in archived_tables()
        for column in table.c
        if isinstance(column.type, LargeBinary)
    }
    assert of_bytes - encrypted == clear
