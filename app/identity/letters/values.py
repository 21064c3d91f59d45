"""What the placeholders of a tenant's own template stand for in one letter."""

from __future__ import annotations

from typing import Any

from app.contract.letters import MailKind, SmsKind
from app.identity.accounts.account import Account, full_name
from app.identity.call import Call
from app.identity.letters.drawing import span
from app.identity.letters.letter import Facts, Look, friendly, one_line
from app.identity.letters.placeholders import ADDRESS
from app.kit.languages import Language
from app.kit.user_agents import parse_user_agent

_TO_STRANGERS = frozenset(
    {MailKind.VERIFICATION, MailKind.ADD_EMAIL, MailKind.ACCOUNT_EXISTS, MailKind.NO_ACCOUNT, MailKind.ONE_TOUCH}
    | {SmsKind.VERIFICATION, SmsKind.ONE_TOUCH}
)
"""These go to addresses that nobody proved: what whoever asked for them chose as a name must not advertise."""


def of(
    call: Call, kind: MailKind | SmsKind, account: Account | None, said: Facts, language: Language
) -> dict[str, str]:
    """Return every value: text on one line, no address among what people name themselves."""
    profile: dict[str, Any] = account.profile if account else {}
    url = said.url or f"{call.issuer}/profile"
    username = friendly(said.username) if kind in _TO_STRANGERS else said.username
    agent = parse_user_agent(call.agent)
    values = {
        **_address(profile),
        "Name": friendly(full_name(account)) if account else "",
        "FirstName": friendly(_text(profile.get("FirstName"))),
        "LastName": friendly(_text(profile.get("LastName"))),
        "UserName": username,
        "Email": said.email or (said.to if isinstance(kind, MailKind) else _text(account.email if account else "")),
        "TenantName": Look(call.tenant.display_name, call.tenant.brand).tenant,
        "CurrentYear": str(call.now.year),
        "IpAddress": one_line(call.address, 45),
        "UserAgent": friendly(" · ".join(filter(None, (agent.browser, agent.system)))),
        "Providers": "",
        "Url": url,
        "GUID": said.token,
        "OTP": said.otp,
        "LinkExpiry": span(said.minutes, language.tag) if said.minutes else "",
        "OTPExpiry": span(said.otp_minutes or said.minutes, language.tag) if said.otp_minutes or said.minutes else "",
    }
    fields = profile.get("CustomFields")
    for name, value in (fields if isinstance(fields, dict) else {}).items():
        values.setdefault(str(name), friendly(_text(value)))
    return values


def sections(account: Account | None) -> frozenset[str]:
    """Return which sections of the mail of a forgotten password concern the account; nobody has a provider yet."""
    has = {"FPass": account is None or account.password_hash is not None, "FUName": bool(account and account.username)}
    return frozenset(name for name, is_kept in has.items() if is_kept)


def _address(profile: dict[str, Any]) -> dict[str, str]:
    """The first address; city, state and country stand beside it where it has none."""
    listed = profile.get("Addresses")
    first = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else {}
    return {name: friendly(_text(first.get(name) or profile.get(name))) for name in ADDRESS}


def _text(value: object) -> str:
    return str(value.get("Name") or "") if isinstance(value, dict) else str(value or "")
