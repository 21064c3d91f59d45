"""Risk-based authentication: unfamiliar devices, browsers, places and addresses of a sign-in (interface mfa.md section
9, decisions/0106).

Known origins are remembered as digests. By the tenant's settings a new one is notified, refused, or demands a second
factor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Final

from app.contract import errors as e
from app.contract.credential_settings import Action
from app.contract.messages import MailKind, SmsKind
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.sign_in import sessions
from app.identity.credentials import notifications
from app.identity.credentials.second_factors import service as second_factors
from app.identity.credentials.second_factors.service import RequiredFactor
from app.identity.directory.accounts import store as accounts
from app.identity.directory.accounts.account import Account
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.identity.platform.outbox.queue import Outbox
from app.kit import randomness
from app.kit.user_agents import parse_user_agent

_MESSAGES: Final = {
    "device": (MailKind.NEW_DEVICE, SmsKind.NEW_DEVICE), "browser": (MailKind.NEW_BROWSER, SmsKind.NEW_BROWSER),
    "city": (MailKind.NEW_CITY, SmsKind.NEW_CITY), "country": (MailKind.NEW_COUNTRY, SmsKind.NEW_COUNTRY),
    "ip": (MailKind.NEW_IP, SmsKind.NEW_IP),
}  # fmt: skip
_REFUSALS: Final = {
    "device": e.NewDevice, "browser": e.NewBrowser, "city": e.NewCity, "country": e.NewCountry, "ip": e.NewAddress,
}  # fmt: skip
_SIGNAL: Final = "name"
"""The stored fact that names the signal; its value is stored as a digest."""
_RENEW_AFTER: Final = timedelta(days=7)  # so that daily use does not write daily


def refuse_new_origin(context: Context, account: Account) -> None:
    """Refuse a password sign-in from a new origin where the tenant says so and has no second factors, and notify the
    account.

    Call it before anything is written.

    Raises:
        NewDevice, NewBrowser, NewCity, NewCountry, NewAddress: the first new signal.
        RiskBlocked: the account is blocked now.
    """
    settings = context.tenant.settings
    fresh = _new_signals(context, account, "refuse", "block") if settings.two_factor == "disabled" else []
    if not fresh:
        return
    is_blocked = any(getattr(settings.risk, name) == "block" for name in fresh)
    with context.work.separate_transaction() as own:
        apart = replace(context, work=own, outbox=Outbox(own, context.services.clock, context.services.encryption))
        if is_blocked:
            accounts.change(apart, account.uid, {"is_active": False})
        _notify(apart, account, fresh[0])
    context.audit.record(
        "sign_in.refused", uid=account.uid, reason="elsewhere", new=",".join(fresh), blocked=is_blocked
    )
    raise e.RiskBlocked if is_blocked else _REFUSALS[fresh[0]]


def required_factor(context: Context, account: Account, channel: FactorKind | None = None) -> RequiredFactor | None:
    """Return the factor required after one factor was passed: by the rules of second factors, or demanded by a new
    origin.

    Raises as `second_factors.required` does.
    """
    fresh = _new_signals(context, account, "demand")
    is_reauthentication = sessions.current_of(context, account.uid) is not None
    found = second_factors.required_factor(
        context, account, channel, is_reauthentication=is_reauthentication, is_risk_based=bool(fresh)
    )
    if fresh:
        outcome = "nothing to ask" if found is None else "asked"
        context.audit.record("sign_in.demanded", uid=account.uid, new=",".join(fresh), outcome=outcome)
    return found


def remember_origin(context: Context, account: Account) -> None:
    """Remember the origin of a complete sign-in, and notify the account of a new one.

    Reads and writes nothing where the tenant watches no signal. Call it after the account's row is locked.
    """
    stated = context.tenant.settings.risk
    if not stated.watched:
        return
    seen, held = _signals(context), _remembered(context, account)
    lifetime = timedelta(days=stated.remembered_days)
    for name in stated.watched:
        known = held.get(_digest(account, name, seen[name]))
        if known is None or known.created_at + _RENEW_AFTER <= context.now:
            text = _signal_text(account, name, seen[name])
            continuation_tokens.renew(context, ContinuationPurpose.SEEN, account.uid, text, lifetime, {_SIGNAL: name})
    if fresh := _unseen(account, stated.watched, seen, held):
        context.audit.record("sign_in.elsewhere", uid=account.uid, new=",".join(fresh))
        _notify(context, account, fresh[0])


def _new_signals(context: Context, account: Account, *actions: Action) -> list[str]:
    """Return the new signals for which the tenant configured one of these actions. Reads nothing where it configured
    none.
    """
    risk = context.tenant.settings.risk
    stated = [name for name in risk.watched if getattr(risk, name) in actions]
    return _unseen(account, stated, _signals(context), _remembered(context, account)) if stated else []


def _unseen(
    account: Account, names: Iterable[str], seen: dict[str, str], held: dict[str, ContinuationToken]
) -> list[str]:
    """Return the signals never seen before, in the interface's order.

    Skips unknown values, and signals that have no remembered value to compare with: at the first sign-in, or the
    first since the tenant watches that signal.
    """
    remembered = {one.facts.get(_SIGNAL) for one in held.values()}
    return [
        name
        for name in names
        if seen[name] and name in remembered and _digest(account, name, seen[name]) not in held
    ]  # fmt: skip


def _notify(context: Context, account: Account, name: str) -> None:
    """Notify the account on the tenant's channel; by mail as well where no SMS could be sent."""
    mail, sms = _MESSAGES[name]
    by, device = context.tenant.settings.risk.told_by, _describe_device(context)
    template = _template(context, name, "sms")
    is_texted = by != "mail" and notifications.notify_by_sms(context, sms, account, template=template, device=device)
    if by != "sms" or not is_texted:
        template = _template(context, name, "email")
        notifications.notify_with_alert_link(context, mail, account.email, account, template=template, device=device)


def _remembered(context: Context, account: Account) -> dict[str, ContinuationToken]:
    return {
        one.ticket_hash: one for one in continuation_tokens.of_account(context, ContinuationPurpose.SEEN, account.uid)
    }


def _signal_text(account: Account, name: str, seen: str) -> str:
    return f"{account.uid} {name} {seen}"


def _digest(account: Account, name: str, seen: str) -> str:
    return randomness.digest(_signal_text(account, name, seen))


def _signals(context: Context) -> dict[str, str]:
    agent, place = parse_user_agent(context.agent), context.services.locations.place_of(context.address)
    return {
        "device": " ".join(one for one in (agent.device_type, agent.system) if one),
        "browser": " ".join(one for one in (agent.browser, agent.system) if one),
        "city": f"{place.city}, {place.country}" if place.city else "",
        "country": place.country,
        "ip": context.network,
    }


def _describe_device(context: Context) -> str:
    agent, place = parse_user_agent(context.agent), context.services.locations.place_of(context.address)
    named = ", ".join(one for one in (agent.browser, agent.system) if one)
    where = ", ".join(one for one in (place.city, place.country) if one)
    return " · ".join(one for one in (named, where, context.address) if one)


def _template(context: Context, name: str, by: str) -> str | None:
    """Return the tenant's template that the request names for this message:
    `rba{browser,city,country,ip}{email,sms}template`.
    """
    asked = {key.lower(): value for key, value in context.raw.query_pairs}
    return asked.get(f"rba{name}{by}template", "")[:100] or None
