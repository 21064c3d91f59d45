"""gatehouse account: the accounts of a tenant, with the operations that its servers call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from app.commands.errors import CommandError, open_services
from app.commands.prompts import confirm, counted, only_tenant, outside_requests

if TYPE_CHECKING:
    from app.contract.profile import Profile
    from app.identity.directory.accounts.account import Account
    from app.identity.platform.context import Context

ACTOR: Final = "command"
"""`act` in the audit entries of these commands."""
_PAGE: Final = 100
_MOST: Final = 100_000
_COLUMNS: Final = {"Uid": 32, "Email, username or phone": 32, "Name": 24, "Created": 24, "Last sign-in": 24, "State": 0}
_SESSION_COLUMNS: Final = {"Session": 32, "Last seen": 24, "Expires": 24, "Address": 15, "Browser": 0}
"""Headings of lists with the widths of their columns. Headings go to stderr, so that a pipe gets the rows alone."""
_EXAMPLE: Final = "such as 2026-11-29T08:00:00Z."
Decorated = Callable[..., Any]


@click.group
def account() -> None:
    """List, show and change the accounts of a tenant.

    ACCOUNT is an email address, a username, a phone number or a Uid. Audit entries of these commands have the actor "command".
    """


def _of_tenant(command: Decorated) -> Decorated:
    option = click.option("--tenant", "tenant_name", metavar="TENANT", help="Default: the only tenant.", default="")
    return option(command)


def _of_account(command: Decorated) -> Decorated:
    return click.argument("identifier", metavar="ACCOUNT")(_of_tenant(command))


def _as_json(command: Decorated) -> Decorated:
    return click.option("--json", "is_json", is_flag=True, help="Print JSON, one object per line.")(command)


@account.command("list")
@_of_tenant
@click.option("--text", help="The beginning of an email address, username, phone number or name.")
@click.option("--created-from", metavar="TIME", help=f"Only accounts that were created then or later, {_EXAMPLE}")
@click.option("--created-to", metavar="TIME", help="Only accounts that were created before.")
@click.option("--last-login-from", metavar="TIME", help="Only accounts that last signed in then or later.")
@click.option("--last-login-to", metavar="TIME", help="Only accounts that last signed in before, or never.")
@click.option("--provider", help="Only accounts with an identity at this provider.")
@click.option("--role", help="Only accounts with this role.")
@click.option("--organization", metavar="ID", help="Only members of this organization.")
@click.option("--verified/--unverified", default=None, help="Whether an email address or the phone number is verified.")
@click.option("--blocked/--not-blocked", default=None, help="Whether only an administrator can let it sign in again.")
@click.option(
    "--sort", type=click.Choice(["created", "last_login", "email", "name"]), default="created", show_default=True
)
@click.option("--order", type=click.Choice(["asc", "desc"]), help="Default: the latest first, or A to Z.")
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, _MOST), help="Maximum number of accounts."
)
@_as_json
def list_(tenant_name: str, limit: int, is_json: bool, **filters: Any) -> None:
    """List accounts that meet all conditions."""
    shown = 0
    with _context(tenant_name) as context:
        for profile in _listed(context, {name: value for name, value in filters.items() if value is not None}, limit):
            if not shown and not is_json:
                click.echo(_row(_COLUMNS, _COLUMNS), err=True)
            click.echo(json.dumps(profile) if is_json else _row(_columns(profile), _COLUMNS))
            shown += 1
    if not shown and not is_json:
        click.echo("No accounts.", err=True)


@account.command
@_of_account
@_as_json
def show(identifier: str, tenant_name: str, is_json: bool) -> None:
    """Show an account; with --json, its whole profile."""
    from app.identity.directory.accounts import accounts

    with _context(tenant_name) as context:
        profile = _members(accounts.profile_for_server(context, _found(context, identifier), None))
    if is_json:
        click.echo(json.dumps(profile))
        return
    for label, value in _facts(profile):
        click.echo(f"{label + ':':20} {_shown(value)}")


@account.command
@_of_account
def block(identifier: str, tenant_name: str) -> None:
    """Keep an account from signing in.

    Its sessions and tokens end. `account unblock` takes it back.
    """
    with _context(tenant_name) as context:
        _switch(context, _found(context, identifier), "account.blocked", is_active=False)
    named = f" --tenant {tenant_name}" if tenant_name else ""
    click.echo(f"Blocked {identifier}. To take it back, run 'gatehouse account unblock {identifier}{named}'.")


@account.command
@_of_account
def unblock(identifier: str, tenant_name: str) -> None:
    """Let a blocked or locked account sign in again."""
    with _context(tenant_name) as context:
        _switch(context, _found(context, identifier), "account.unblocked", is_active=True, is_login_locked=False)
    click.echo(f"Unblocked {identifier}.")


@account.command("sessions")
@_of_account
@click.option("--end", "ends", is_flag=True, help="End them all, with the account's tokens.")
@_as_json
def sessions_(identifier: str, tenant_name: str, ends: bool, is_json: bool) -> None:
    """List the sessions of an account, or end them."""
    from app.identity.authentication.sign_in.sessions import revocation, sessions
    from app.kit.clock import iso

    with _context(tenant_name) as context:
        found = _found(context, identifier)
        listed = sessions.of_account(context, found.uid)
        if ends:
            revocation.end_sessions_and_tokens(context, found, reason="command")
            context.commit()
            click.echo(f"Ended {counted(len(listed), 'session')} of {identifier}, and its tokens.")
            return
    if listed and not is_json:
        click.echo(_row(_SESSION_COLUMNS, _SESSION_COLUMNS), err=True)
    for item in listed:
        row = {
            "SessionId": item.session_id, "SeenAt": iso(item.seen_at), "ExpiresAt": iso(item.expires_at), "IpAddress": item.address,
            "UserAgent": item.agent, "Applications": [*item.relying_parties],
        }  # fmt: skip
        click.echo(json.dumps(row) if is_json else _row(map(str, list(row.values())[:-1]), _SESSION_COLUMNS))
    if not listed and not is_json:
        click.echo("No sessions.", err=True)


@account.command("reset-factors")
@_of_account
@click.option("--yes", is_flag=True, help="Skip the confirmation prompt.")
def reset_factors(identifier: str, tenant_name: str, yes: bool) -> None:
    """Remove every second factor of an account.

    Such as after a lost phone: check who asks. The owner gets an email.
    """
    from app.identity.credentials.second_factors import factor_changes

    with _context(tenant_name) as context:
        found = _found(context, identifier)
        kinds = _factors(context, found)
        if not kinds:
            raise CommandError(f"{identifier} has no second factor.")
        if not yes:
            context.work.release_connection()
            confirm(f"Remove {', '.join(kinds)} of {identifier}? Its password alone signs in then.")
        for kind in kinds:
            if kind in _factors(context, found):  # backup codes go with the last other factor
                factor_changes.remove(context, found, kind)
        context.commit()
    click.echo(f"Removed {', '.join(kinds)} of {identifier}.")


@account.command
@_of_account
def link(identifier: str, tenant_name: str) -> None:
    """Print a link that sets a new password.

    It works once, for a limited time. Check who asks for it.
    """
    from app.identity.credentials import reset_messages
    from app.identity.credentials.one_time_tokens import one_time_tokens

    with _context(tenant_name) as context:
        found = _found(context, identifier)
        if found.email is None:
            raise CommandError(f"{identifier} has no email address, which a reset needs.")
        one_time_tokens.count_server_supplied(context, found.uid, is_code=False)
        address = reset_messages.create_link(context, found)
        context.audit.record("token.made", uid=found.uid, kind="forgotpassword")
        context.commit()
    click.echo(address)
    lifetime = counted(one_time_tokens.RESET_MINUTES // 60, "hour")
    click.echo(f"Anyone with this link can set the password. It expires in {lifetime}.", err=True)


@contextmanager
def _context(tenant_name: str) -> Iterator[Context]:
    """Yield the context of the command. Raises CommandError, also for a refusal of an operation."""
    from app.kit.operations.errors import ApiError

    with open_services() as services, outside_requests(services, tenant_name or only_tenant(services)) as context:
        context.audit.actor = ACTOR
        try:
            yield context
        except ApiError as refusal:
            raise CommandError(f"{refusal.message.rstrip('.')}. {refusal.description}") from None


def _found(context: Context, identifier: str) -> Account:
    """Return the account with this email address, username, phone number or id. Raises CommandError."""
    from app.identity.directory.accounts import account_store, accounts

    for find in (accounts.by_email, accounts.by_username, accounts.by_phone, account_store.by_uid):
        if (found := find(context, identifier)) is not None:
            return found
    raise CommandError(
        f"{context.tenant.name} has no account {identifier!r}. Search with 'gatehouse account list --text'."
    )


def _listed(context: Context, filters: dict[str, Any], limit: int) -> Iterator[dict[str, Any]]:
    """Yield up to so many accounts, page by page."""
    from pydantic import ValidationError

    from app.contract.accounts.account_list_operations import ListAccounts
    from app.identity.public_api.management.account_list import list_accounts

    cursor = None
    while limit:
        try:
            request = ListAccounts.model_validate({**filters, "limit": min(limit, _PAGE), "cursor": cursor})
        except ValidationError as problem:
            first = problem.errors()[0]
            option = str(first["loc"][0]).replace("_", "-")
            raise CommandError(f"--{option}: {first['msg']}") from None
        page = list_accounts(context, request)
        yield from (_members(profile) for profile in page.data)
        limit, cursor = limit - len(page.data), page.next_cursor
        if cursor is None:
            return


def _members(profile: Profile) -> dict[str, Any]:
    members: dict[str, Any] = profile.model_dump(mode="json", by_alias=True)
    return members


def _switch(context: Context, found: Account, event: str, **switches: bool) -> None:
    """Change an account as `PUT /identity/v2/manage/account/{uid}` does."""
    from app.contract.accounts.account_operations import UpdateAccount
    from app.identity.use_cases.accounts.server_update import change

    change(context, found, UpdateAccount.model_validate({"uid": found.uid, **switches}), None)
    context.audit.record(event, uid=found.uid)
    context.commit()


def _factors(context: Context, found: Account) -> list[Any]:
    """Return the kinds of second factors that the account has."""
    from app.contract.second_factors.challenge import FactorKind
    from app.identity.credentials.second_factors import second_factors

    factors = second_factors.of_account(context, found)
    return [kind for kind in FactorKind if factors.enrolled(kind)]


def _columns(profile: dict[str, Any]) -> tuple[str, ...]:
    identifier = _email(profile) or profile["UserName"] or profile["PhoneId"] or "-"
    return (
        profile["Uid"], identifier, profile["FullName"] or "-",
        profile["CreatedDate"], profile["LastLoginDate"] or "never", _state(profile),
    )  # fmt: skip


def _row(fields: Iterable[str], columns: dict[str, int]) -> str:
    widths = columns.values()
    return "  ".join(_shown(field).ljust(width) for field, width in zip(fields, widths, strict=True)).rstrip()


def _facts(profile: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a person reads of an account, with labels."""
    yield "Uid", profile["Uid"]
    email = _email(profile)
    yield "Email", f"{email}{'' if profile['EmailVerified'] else ' (not verified)'}" if email else "-"
    names = {
        "Username": "UserName",
        "Phone": "PhoneId",
        "Name": "FullName",
        "Created": "CreatedDate",
    }
    for label, member in names.items():
        yield label, str(profile[member] or "-")
    yield "Last sign-in", profile["LastLoginDate"] or "never"
    yield "Sign-ins", str(profile["NoOfLogins"])
    yield "Roles", ", ".join(profile["Roles"] or ()) or "-"
    yield "State", _state(profile)


def _shown(value: object) -> str:
    """Return a text without control characters: people choose their names and browsers, and a terminal obeys such characters."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(value))


def _email(profile: dict[str, Any]) -> str:
    return next((str(item["Value"]) for item in profile["Email"] or () if item["Type"] == "Primary"), "")


def _state(profile: dict[str, Any]) -> str:
    states = {
        "blocked": not profile["IsActive"], "locked": profile["IsLoginLocked"], "deleted": profile["IsDeleted"],
    }  # fmt: skip
    return ", ".join(name for name, holds in states.items() if holds) or "active"
