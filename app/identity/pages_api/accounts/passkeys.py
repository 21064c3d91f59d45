"""The account page of passkeys: list, add, rename."""

from __future__ import annotations

from typing import Literal

from app.contract.page_models import NoParameters
from app.contract.passkeys import passkey_pages
from app.contract.shared_responses import Posted
from app.identity.authentication.sign_in import reauthentication_rules
from app.identity.authentication.sign_in.passkeys import passkey_management
from app.identity.authentication.sign_in.passkeys.passkey_sign_in import require_enabled
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.passkeys import options, passkey_store
from app.identity.credentials.passkeys.options import DISCOVERABLE, DISCOVERABLE_ON_THIS_DEVICE
from app.identity.credentials.second_factors.authenticators.passkey import user_entity
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.tenants.urls import webauthn_origins
from app.identity.pages_api import signed_in_account, views
from app.identity.pages_api.interactions import passkey_offers
from app.identity.platform.context import Context
from app.kit.clock import iso


@passkey_pages.read_own.implements
def read_own(context: Context, req: NoParameters) -> passkey_pages.OwnPasskeys:
    require_enabled(context)
    session, account = signed_in_account.require_account(context)
    stored = passkey_store.by_account(context, account.uid)
    owner = user_entity(account)
    sessions.touch(context, session)
    return passkey_pages.OwnPasskeys(
        person=views.person(context, account),
        passkeys=[_own(item) for item in stored],
        accepted=passkey_pages.AcceptedCredentials(
            rp_id=webauthn_origins.rp_id(context),
            user_id=options.user_handle(account.uid),
            name=owner.name,
            display_name=owner.display_name or owner.name,
            ids=[item.facts["id"] for item in stored],
        ),
        reauthentication=reauthentication_rules.required_reauthentication(context, session, account),
        has_password=account.password_hash is not None,
        obstacle=_obstacle(context, account, len(stored)),
    )


def _obstacle(context: Context, account: Account, count: int) -> Literal["", "email", "connection", "limit"]:
    if not webauthn_origins.supports_passkeys(context):
        return "connection"
    if not account.email:
        return "email"
    return "limit" if count >= passkey_store.MAX_PASSKEYS else ""


def _own(passkey: Credential) -> passkey_pages.OwnPasskey:
    transports = set(passkey.facts.get("transports") or ())
    return passkey_pages.OwnPasskey(
        **passkey_store.to_listed(passkey).model_dump(),
        used_at=iso(passkey.used_at),
        is_synced=bool(passkey.facts.get("synced")),
        is_security_key=bool(transports) and not transports & {"internal", "hybrid"},
    )


@passkey_pages.begin_own.implements
def begin_own(context: Context, req: passkey_pages.BeginOwnRequest) -> passkey_pages.PasskeyOptions:
    require_enabled(context)
    _, account = signed_in_account.require_account(context)
    preferences = DISCOVERABLE_ON_THIS_DEVICE if req.local else DISCOVERABLE
    return passkey_pages.PasskeyOptions(options=passkey_management.begin_adding(context, account, preferences))


@passkey_pages.add.implements
def add(context: Context, req: passkey_pages.AddPasskeyRequest) -> Posted:
    require_enabled(context)
    account = accounts.current(context)
    passkey_management.add(context, account, req.credential, req.name)
    passkey_offers.accept(context, account)
    return Posted()


@passkey_pages.rename.implements
def rename(context: Context, req: passkey_pages.RenamePasskeyRequest) -> Posted:
    _, account = signed_in_account.require_account(context)
    passkey_management.rename(context, account, req.id, req.name)
    return Posted()
