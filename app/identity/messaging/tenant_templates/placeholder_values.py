"""The placeholder values of a tenant's own template."""

from __future__ import annotations

from typing import Any

from app.contract.federation.connection_completion import preset_settings, resolved
from app.contract.messages.models import MailKind, SmsKind
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts.account import Account, full_name
from app.identity.directory.tenants.themed_tenant import themed_tenant
from app.identity.messaging.message import MAX_NAME_LENGTH, MessageFacts, one_line, safe_name
from app.identity.messaging.rendering import format_duration
from app.identity.messaging.tenant_templates.placeholders import ADDRESS
from app.identity.platform.context import Context
from app.kit.text.languages import Language
from app.kit.web.user_agents import parse_user_agent

_TO_UNVERIFIED = frozenset(
    {MailKind.VERIFICATION, MailKind.ADD_EMAIL, MailKind.ACCOUNT_EXISTS, MailKind.NO_ACCOUNT, MailKind.ONE_TOUCH}
    | {SmsKind.VERIFICATION, SmsKind.ONE_TOUCH}
)
"""Messages to unverified addresses: a name chosen by the requester must not carry advertising."""


def values_for(
    context: Context, kind: MailKind | SmsKind, account: Account | None, facts: MessageFacts, language: Language
) -> dict[str, str]:
    """Return every value: text on one line, and no address in names that people choose."""
    profile: dict[str, Any] = account.profile if account else {}
    link = facts.url or f"{context.pages_url}/profile"
    username = safe_name(facts.username) if kind in _TO_UNVERIFIED else facts.username
    agent, tenant = parse_user_agent(context.agent), themed_tenant(context)
    chosen = tenant.texts.catalogue(language.tag)
    values = {
        **_address(profile),
        "Name": safe_name(full_name(account)) if account else "",
        "FirstName": safe_name(_text(profile.get("FirstName"))),
        "LastName": safe_name(_text(profile.get("LastName"))),
        "UserName": username,
        "Email": facts.email or (facts.to if isinstance(kind, MailKind) else _text(account.email if account else "")),
        "TenantName": one_line(tenant.name_in(language.tag), MAX_NAME_LENGTH),
        "CurrentYear": str(context.now.year),
        "IpAddress": one_line(context.ip_address, 45),
        "UserAgent": safe_name(" · ".join(filter(None, (agent.browser, agent.system)))),
        "Providers": _providers(context, account),
        "Url": link,
        "GUID": facts.token,
        "OTP": facts.otp,
        "LinkExpiry": format_duration(facts.minutes, chosen) if facts.minutes else "",
        "OTPExpiry": format_duration(facts.otp_minutes or facts.minutes, chosen)
        if facts.otp_minutes or facts.minutes
        else "",
    }
    fields = profile.get("CustomFields")
    for name, value in (fields if isinstance(fields, dict) else {}).items():
        values.setdefault(str(name), safe_name(_text(value)))
    return values


def applicable_sections(account: Account | None) -> frozenset[str]:
    """Return the sections of the mail for a forgotten password that concern the account."""
    applies = {
        "FPass": account is None or account.password_hash is not None,
        "FProv": bool(account and linked_identities.of(account)),
        "FUName": bool(account and account.username),
    }
    return frozenset(name for name, is_applicable in applies.items() if is_applicable)


def _providers(context: Context, account: Account | None) -> str:
    """Return the titles of the providers that the account is linked to."""
    configured = context.tenant.settings.connections
    names = dict.fromkeys(identity.provider for identity in linked_identities.of(account)) if account else ()
    connections = {name: configured.get(name) or preset_settings(name) for name in names}
    titles = (resolved(name, found).title if found else name for name, found in connections.items())
    return one_line(", ".join(title or name for title, name in zip(titles, names, strict=True)), 200)


def _address(profile: dict[str, Any]) -> dict[str, str]:
    """Return the first address; without one the city, state and country of the profile."""
    addresses = profile.get("Addresses")
    first = addresses[0] if isinstance(addresses, list) and addresses and isinstance(addresses[0], dict) else {}
    return {name: safe_name(_text(first.get(name) or profile.get(name))) for name in ADDRESS}


def _text(value: object) -> str:
    return str(value.get("Name") or "") if isinstance(value, dict) else str(value or "")
