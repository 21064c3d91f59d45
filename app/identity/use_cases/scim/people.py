"""People by SCIM: creation, replacement, PATCH and deletion. The account changes by the functions of the tenant's servers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Final

from app.contract import errors
from app.contract.accounts.account_operations import AccountUpdateFields, CreateAccount, EmailEntry
from app.contract.scim import scim_errors
from app.identity.directory.accounts import account_store, accounts, input_checks
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.email_list import EmailList
from app.identity.directory.accounts.identifiers import display_email, normalize_email
from app.identity.directory.accounts.unverified import first_verification, pending_accounts
from app.identity.directory.provisioning import provisioned_user_store
from app.identity.directory.provisioning.provisioned_user_store import (
    ACTIVE,
    DELETED,
    INACTIVE,
    ListedUser,
    UserNameTaken,
)
from app.identity.use_cases.accounts import change_emails, server_accounts, server_update
from app.identity.use_cases.scim import people_resources, protocol
from app.identity.use_cases.scim.environment import ScimCall
from app.identity.use_cases.scim.people_resources import key_of
from app.identity.use_cases.scim.protocol import USERS

MAX_STORED: Final = 64_000
"""Characters of what is stored of a person as JSON: each PATCH may add values, and lists have many people."""
_PROFILE: Final = (("givenName", "FirstName"), ("familyName", "LastName"))


def find(request: ScimCall, uid: str) -> ListedUser:
    """Return a person of the scope. Raises ScimNotFound."""
    found = provisioned_user_store.listed(request.context, request.org_id, request.scope.members(), uids=[uid])
    if not found or (
        found[0].written is not None and found[0].written.state == DELETED and request.scope.members() is None
    ):
        raise scim_errors.ScimNotFound(f"There is no User {uid[:64]}.")
    return found[0]


def create(request: ScimCall, body: Mapping[str, Any]) -> dict[str, Any]:
    """Create a person, with an account or an existing one. Raises ScimInvalidValue, ScimUniqueness."""
    requested = protocol.read(USERS, body)
    address = request.scope.address_among(addresses_of(requested))
    request.scope.lock()
    named = _named(requested)
    if provisioned_user_store.uids_named(request.context, request.org_id, named=named):
        raise scim_errors.ScimUniqueness("userName: another User has it.")
    existing = _existing(request, address)
    account = existing or _new_account(request, requested, address)
    created = {"is_created": True} if existing is None else {}  # one that it created stays so, when it creates it again
    written = _put(request, account.uid, requested, **created, state=ACTIVE)
    person = ListedUser(account, written)
    if existing is None:
        request.scope.admit(account)
    else:  # the deletion before may have blocked the account
        written = _put(request, account.uid, requested, **request.scope.activate(person))
        person = ListedUser(account, written)
    if requested.get("active") is False:
        written = _put(request, account.uid, requested, **request.scope.close(person, INACTIVE))
    if existing is not None:
        _write_account(request, account, requested)
    after = people_resources.of_one(request, find(request, account.uid))
    request.record("created", USERS, account.uid, None, after)
    return after


def replace(request: ScimCall, uid: str, body: Mapping[str, Any], if_match: str | None) -> dict[str, Any]:
    """Replace a person's attributes; without `active`, it stays.

    Raises ScimNotFound, ScimInvalidValue, ScimUniqueness, ScimPreconditionFailed.
    """
    return _change(request, uid, if_match, lambda _: protocol.read(USERS, body, replaces=True), is_whole=True)


def patch(request: ScimCall, uid: str, body: Mapping[str, Any], if_match: str | None) -> dict[str, Any]:
    """Change a person's attributes. Raises as `replace` does, and ScimInvalidPath, ScimNoTarget, ScimMutability."""
    return _change(request, uid, if_match, lambda current: protocol.patched(USERS, current, body))


def delete(request: ScimCall, uid: str, if_match: str | None) -> None:
    """Take a person out of the scope. Raises ScimNotFound, ScimPreconditionFailed."""
    request.scope.lock()
    person, before = _locked(request, uid, if_match)
    request.scope.delete(person)
    request.record("deleted", USERS, uid, before, None)


def _change(
    request: ScimCall, uid: str, if_match: str | None, requested_of: Any, *, is_whole: bool = False
) -> dict[str, Any]:
    request.scope.lock()
    person, before = _locked(request, uid, if_match)
    requested = requested_of(before)
    was_active = request.scope.is_active(person)
    is_active = requested.get("active", was_active)
    hides = "active" in before and "active" not in requested and not is_whole
    if not requested.get("userName"):
        raise scim_errors.ScimInvalidValue("userName: expected a name.")
    if addresses_of(requested) != addresses_of(before):
        request.scope.address_among(addresses_of(requested))
    requested = {**requested, **({people_resources.HIDES_ACTIVE: True} if hides else {})}
    written = _put(request, uid, requested)
    person = dataclasses.replace(person, written=written)
    if is_active is None:
        is_active = was_active
    if is_active and not was_active:
        _put(request, uid, requested, **request.scope.activate(person))
    elif was_active and not is_active:
        _put(request, uid, requested, **request.scope.close(person, INACTIVE))
    _write_account(request, person.account, requested)
    after = people_resources.of_one(request, find(request, uid))
    request.record("changed", USERS, uid, before, after)
    return after


def _locked(request: ScimCall, uid: str, if_match: str | None) -> tuple[ListedUser, dict[str, Any]]:
    """Lock a person's account, and return the person and the resource as they are. Raises ScimNotFound, ScimPreconditionFailed."""
    find(request, uid)  # another organization's account is never locked
    account_store.lock_before_own_rows(request.context, uid)
    person = find(request, uid)
    before = people_resources.of_one(request, person)
    people_resources.check_version(before, if_match)
    return person, before


def addresses_of(resource: Mapping[str, Any]) -> list[str]:
    """Return the normalized addresses: the primary one, those of work, the others, then the userName. Raises ScimInvalidValue."""
    entries = [item for item in resource.get("emails") or () if isinstance(item, Mapping) and item.get("value")]
    ranked = sorted(entries, key=lambda item: (not item.get("primary"), str(item.get("type")).lower() != "work"))
    found = [normalize_email(str(item["value"])) for item in ranked]
    found.append(normalize_email(str(resource.get("userName") or "")))
    return [item for item in found if item is not None]


def _named(resource: Mapping[str, Any]) -> str:
    return key_of(str(resource.get("userName") or ""))


def _put(
    request: ScimCall, uid: str, requested: Mapping[str, Any], **values: Any
) -> provisioned_user_store.ProvisionedUser:
    content = {
        name: value
        for name, value in requested.items()
        if name not in ("active", "externalId", "schemas", "id", "meta")
    }
    if len(json.dumps(content)) > MAX_STORED:
        raise scim_errors.ScimInvalidValue(f"Expected attributes of at most {MAX_STORED} characters together.")
    named, external_id = _named(requested), requested.get("externalId")
    if len(named) > people_resources.MAX_NAME or len(str(external_id or "")) > people_resources.MAX_NAME:
        raise scim_errors.ScimInvalidValue(
            f"userName, externalId: expected at most {people_resources.MAX_NAME} characters."
        )
    try:
        return provisioned_user_store.put(
            request.context,
            request.org_id,
            uid,
            content=content,
            named=named,
            external_id=external_id or None,
            **values,
        )
    except UserNameTaken:
        raise scim_errors.ScimUniqueness("userName: another User has it.") from None


def _existing(request: ScimCall, address: str | None) -> Account | None:
    """Return the account of an address that the scope may take as its own. Raises ScimUniqueness."""
    context = request.context
    account = accounts.by_email(context, address) if address else None
    if account is None:
        return None
    if address and not is_verified(account, address):
        holder = account_store.lock(context, account.uid)
        if holder is not None:  # somebody typed the address once, and has never shown to own it
            first_verification.displace_unverified(context, holder, address, "scim")
            pending_accounts.remove_pending(context, address)
        return None
    listed = provisioned_user_store.listed(context, request.org_id, request.scope.members(), uids=[account.uid])
    if listed or account.is_deleted or not request.scope.may_link(account):
        raise scim_errors.ScimUniqueness("userName: another User has this address.")
    return account


def _new_account(request: ScimCall, requested: Mapping[str, Any], address: str | None) -> Account:
    name = requested.get("name") or {}
    shown = next(
        (
            str(item["value"])
            for item in requested.get("emails") or ()
            if normalize_email(str(item.get("value"))) == address
        ),
        "",
    )
    profile = {member: name[part] for part, member in _PROFILE if name.get(part)}
    new = CreateAccount.model_validate(
        {
            **profile,
            "Email": [EmailEntry(type="Primary", value=display_email(shown or str(requested["userName"])))]
            if address
            else None,
            "UserName": None if address else _username(request, str(requested["userName"])),
            "EmailVerified": bool(address),
            "RegistrationSource": "SCIM",
        }
    )
    if address:
        pending_accounts.remove_pending(request.context, address)
    return server_accounts.create(request.context, new, is_provisioned=True)


def _username(request: ScimCall, text: str) -> str | None:
    """Return a name as a username; None where the tenant's accounts cannot have it, so that SCIM alone shows it."""
    try:
        return input_checks.username(request.context.tenant.settings, text)
    except (errors.MalformedUsername, errors.UsernameFormatRefused):
        return None


def _write_account(request: ScimCall, account: Account, requested: Mapping[str, Any]) -> None:
    """Change name and address of an account that belongs to the scope; of another one only what SCIM shows is changed."""
    context = request.context
    fresh = account_store.by_uid(context, account.uid)
    if fresh is None or not request.scope.owns(fresh):
        return
    name = requested.get("name") or {}
    changed = {
        member: name[part] for part, member in _PROFILE if name.get(part) and fresh.profile.get(member) != name[part]
    }
    if changed:
        server_update.change(context, fresh, AccountUpdateFields.model_validate(changed), None)
    if not request.scope.owns_primary_address(fresh):
        return
    address = request.scope.address_among(addresses_of(requested)) if addresses_of(requested) else None
    if address and fresh.email_list.find(address) is None:
        change_emails.set_by_server(
            context, fresh.uid, EmailList.single(_as_typed(requested, address), is_verified=True)
        )


def _as_typed(requested: Mapping[str, Any], address: str) -> str:
    texts = [str(item.get("value")) for item in requested.get("emails") or ()] + [str(requested.get("userName"))]
    return next((display_email(text) for text in texts if normalize_email(text) == address), address)
