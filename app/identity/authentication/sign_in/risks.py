"""Risk-based authentication: unfamiliar devices, browsers, places and addresses of a sign-in.

Known origins are stored as digests. By the tenant's settings a new origin is notified or refused, or demands a second factor
(decision 0106).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from app.contract import errors
from app.contract.messages.models import MailKind, SmsKind
from app.contract.second_factors.challenge import FactorKind
from app.contract.sign_in.risk import Action
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials import notifications
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.second_factors import RequiredFactor
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.messaging.message import MessageFacts
from app.identity.platform import continuation_tokens, events
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit import randomness
from app.kit.web.user_agents import parse_user_agent

_MESSAGES: Final = {
    "device": (MailKind.NEW_DEVICE, SmsKind.NEW_DEVICE), "browser": (MailKind.NEW_BROWSER, SmsKind.NEW_BROWSER),
    "city": (MailKind.NEW_CITY, SmsKind.NEW_CITY), "country": (MailKind.NEW_COUNTRY, SmsKind.NEW_COUNTRY),
    "ip": (MailKind.NEW_IP, SmsKind.NEW_IP),
}  # fmt: skip
_REFUSALS: Final = {
    "device": errors.NewDevice, "browser": errors.NewBrowser, "city": errors.NewCity, "country": errors.NewCountry, "ip": errors.NewAddress,
}  # fmt: skip
_SIGNAL: Final = "name"
"""The stored fact that names the signal; its value is stored as a digest."""
_RENEW_AFTER: Final = timedelta(days=7)  # so that daily use does not write daily


def refuse_new_origin(context: Context, account: Account) -> None:
    """Refuse a password sign-in from a new origin, and notify the account, as the tenant configured.

    Tenants with second factors demand one instead. Call it before anything is written.

    Raises:
        NewDevice, NewBrowser, NewCity, NewCountry, NewAddress: the first new signal.
        RiskBlocked: the account was blocked.
    """
    settings = context.tenant.settings
    new_signals = _new_signals(context, account, "refuse", "block") if settings.two_factor == "disabled" else []
    if not new_signals:
        return
    is_blocked = any(getattr(settings.risk, name) == "block" for name in new_signals)
    with context.work.separate_transaction() as transaction:
        separate = context.within(transaction)
        if is_blocked and (blocked := account_store.change(separate, account.uid, {"is_active": False})) is not None:
            events.emit(separate, "BlockAccount", blocked)
        _notify(separate, account, new_signals[0], change="refused")
    context.audit.record(
        "sign_in.refused", uid=account.uid, reason="elsewhere", new=",".join(new_signals), blocked=is_blocked
    )
    raise errors.RiskBlocked if is_blocked else _REFUSALS[new_signals[0]]


def factor_required_by_settings_or_risk(
    context: Context, account: Account, channel: FactorKind | None = None
) -> RequiredFactor | None:
    """Return the second factor that the tenant's rules require or a new origin demands; None where there is none.

    Raises:
        the errors of `second_factors.factor_required_by_settings`.
    """
    new_signals = _new_signals(context, account, "demand")
    is_reauthentication = sessions.current_of(context, account.uid) is not None
    factor = second_factors.factor_required_by_settings(
        context, account, channel, is_reauthentication=is_reauthentication, is_risk_based=bool(new_signals)
    )
    if new_signals:
        outcome = "nothing to ask" if factor is None else "asked"
        context.audit.record("sign_in.demanded", uid=account.uid, new=",".join(new_signals), outcome=outcome)
    return factor


def factor_required_by_risk(context: Context, account: Account) -> RequiredFactor | None:
    """Return the second factor that a new origin demands, whatever another device passed; None for a known origin."""
    return factor_required_by_settings_or_risk(context, account) if _new_signals(context, account, "demand") else None


def remember_origin(context: Context, account: Account) -> list[str]:
    """Remember the origin of a complete sign-in, notify the account of a new one, and return the new signals.

    Reads and writes nothing where the tenant watches no signal. Call it after the account's row is locked.
    """
    settings = context.tenant.settings.risk
    if not settings.watched:
        return []
    signals, remembered = _signals(context), _remembered(context, account)
    lifetime = timedelta(days=settings.remembered_days)
    for name in settings.watched:
        known = remembered.get(_digest(account, name, signals[name]))
        if known is None or known.created_at + _RENEW_AFTER <= context.now:
            text = _signal_text(account, name, signals[name])
            continuation_tokens.renew(context, ContinuationPurpose.SEEN, account.uid, text, lifetime, {_SIGNAL: name})
    if new_signals := _unseen(account, settings.watched, signals, remembered):
        context.audit.record("sign_in.elsewhere", uid=account.uid, new=",".join(new_signals))
        _notify(context, account, new_signals[0])
    return new_signals


def new_signals(context: Context, account: Account) -> list[str]:
    """Return the new signals among those that the tenant watches; read nothing if it watches none."""
    watched = context.tenant.settings.risk.watched
    return _unseen(account, watched, _signals(context), _remembered(context, account)) if watched else []


def _new_signals(context: Context, account: Account, *actions: Action) -> list[str]:
    """Return the new signals for which the tenant configured one of these actions; read nothing if it configured none."""
    risk = context.tenant.settings.risk
    names = [name for name in risk.watched if getattr(risk, name) in actions]
    return _unseen(account, names, _signals(context), _remembered(context, account)) if names else []


def _unseen(
    account: Account, names: Iterable[str], signals: dict[str, str], remembered: dict[str, ContinuationToken]
) -> list[str]:
    """Return the signals never seen before, in the interface's order.

    Skips unknown values, and signals without a remembered value: at the first sign-in, or the first since the tenant
    watches that signal.
    """
    known_names = {token.facts.get(_SIGNAL) for token in remembered.values()}
    return [
        name
        for name in names
        if signals[name] and name in known_names and _digest(account, name, signals[name]) not in remembered
    ]  # fmt: skip


def _notify(context: Context, account: Account, name: str, change: str = "") -> None:
    """Notify the account on the tenant's channel; by mail if no SMS could be sent. `change` is `refused` for a refused sign-in."""
    mail, sms = _MESSAGES[name]
    channel, facts = context.tenant.settings.risk.told_by, MessageFacts(device=_describe_device(context), change=change)
    template = _template(context, name, "sms")
    is_texted = channel != "mail" and notifications.notify_by_sms(context, sms, account, facts, template=template)
    if channel != "sms" or not is_texted:
        template = _template(context, name, "email")
        notifications.notify_with_alert_link(context, mail, account.email, account, facts, template=template)


def _remembered(context: Context, account: Account) -> dict[str, ContinuationToken]:
    return {
        token.token_hash: token
        for token in continuation_tokens.of_account(context, ContinuationPurpose.SEEN, account.uid)
    }


def _signal_text(account: Account, name: str, value: str) -> str:
    return f"{account.uid} {name} {value}"


def _digest(account: Account, name: str, value: str) -> str:
    return randomness.digest(_signal_text(account, name, value))


def _signals(context: Context) -> dict[str, str]:
    agent, location = parse_user_agent(context.agent), context.services.locations.place_of(context.ip_address)
    return {
        "device": " ".join(part for part in (agent.device_type, agent.system) if part),
        "browser": " ".join(part for part in (agent.browser, agent.system) if part),
        "city": f"{location.city}, {location.country}" if location.city else "",
        "country": location.country,
        "ip": context.network,
    }


def _describe_device(context: Context) -> str:
    agent, location = parse_user_agent(context.agent), context.services.locations.place_of(context.ip_address)
    client = ", ".join(part for part in (agent.browser, agent.system) if part)
    place = ", ".join(part for part in (location.city, location.country) if part)
    return " · ".join(part for part in (client, place, context.ip_address) if part)


def _template(context: Context, name: str, channel: str) -> str | None:
    """Return the template that the request names for this message: `rba{browser,city,country,ip}{email,sms}template`."""
    query = {key.lower(): value for key, value in context.raw.query_pairs}
    return query.get(f"rba{name}{channel}template", "")[:100] or None
