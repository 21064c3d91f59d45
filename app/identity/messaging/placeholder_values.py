"""What the placeholders of a tenant's own template stand for in one letter."""

from __future__ import annotations

from typing import Any

from app.contract.messages import MailKind, SmsKind
from app.identity.directory.accounts.account import Account, full_name
from app.identity.messaging.message import Branding, Facts, one_line, safe_name
from app.identity.messaging.placeholders import ADDRESS
from app.identity.messaging.rendering import format_duration
from app.identity.platform.context import Context
from app.kit.languages import Language
from app.kit.user_agents import parse_user_agent

_TO_UNVERIFIED = frozenset(
    {MailKind.VERIFICATION, MailKind.ADD_EMAIL, MailKind.ACCOUNT_EXISTS, MailKind.NO_ACCOUNT, MailKind.ONE_TOUCH}
    | {SmsKind.VERIFICATION, SmsKind.ONE_TOUCH}
)
"""These go to addresses that nobody proved: what whoever asked for them chose as a name must not advertise."""


def values_for(
    context: Context, kind: MailKind | SmsKind, account: Account | None, said: Facts, language: Language
) -> dict[str, str]:
    """Return every value: text on one line, no address among what people name themselves."""
    profile: dict[str, Any] = account.profile if account else {}
    url = said.url or f"{context.issuer}/profile"
    username = safe_name(said.username) if kind in _TO_UNVERIFIED else said.username
    agent = parse_user_agent(context.agent)
    values = {
        **_address(profile),
        "Name": safe_name(full_name(account)) if account else "",
        "FirstName": safe_name(_text(profile.get("FirstName"))),
        "LastName": safe_name(_text(profile.get("LastName"))),
        "UserName": username,
        "Email": said.email or (said.to if isinstance(kind, MailKind) else _text(account.email if account else "")),
        "TenantName": Branding(context.tenant.display_name, context.tenant.brand).tenant,
        "CurrentYear": str(context.now.year),
        "IpAddress": one_line(context.address, 45),
        "UserAgent": safe_name(" · ".join(filter(None, (agent.browser, agent.system)))),
        "Providers": "",
        "Url": url,
        "GUID": said.token,
        "OTP": said.otp,
        "LinkExpiry": format_duration(said.minutes, language.tag) if said.minutes else "",
        "OTPExpiry": format_duration(said.otp_minutes or said.minutes, language.tag)
        if said.otp_minutes or said.minutes
        else "",
    }
    fields = profile.get("CustomFields")
    for name, value in (fields if isinstance(fields, dict) else {}).items():
        values.setdefault(str(name), safe_name(_text(value)))
    return values


def kept_sections(account: Account | None) -> frozenset[str]:
    """Return which sections of the mail of a forgotten password concern the account; nobody has a provider yet."""
    has = {"FPass": account is None or account.password_hash is not None, "FUName": bool(account and account.username)}
    return frozenset(name for name, is_kept in has.items() if is_kept)


def _address(profile: dict[str, Any]) -> dict[str, str]:
    """The first address; city, state and country stand beside it where it has none."""
    listed = profile.get("Addresses")
    first = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else {}
    return {name: safe_name(_text(first.get(name) or profile.get(name))) for name in ADDRESS}


def _text(value: object) -> str:
    return str(value.get("Name") or "") if isinstance(value, dict) else str(value or "")
