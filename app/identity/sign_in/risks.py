"""Sign-ins from where an account never was: remembered as digests, told to the owner (interface mfa.md section 9, decisions/0106)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from app.contract import errors as e
from app.contract.letters import MailKind
from app.identity.accounts import store as accounts
from app.identity.accounts.account import Account
from app.identity.call import Call
from app.identity.outbox import Outbox
from app.identity.tickets import service as tickets
from app.identity.tickets.service import Ticket, TicketKind
from app.identity.verification import notices
from app.kit import randomness
from app.kit.agents import read_agent

_MAILS: Final = {
    "device": MailKind.NEW_DEVICE, "browser": MailKind.NEW_BROWSER, "city": MailKind.NEW_CITY,
    "country": MailKind.NEW_COUNTRY, "ip": MailKind.NEW_IP,
}  # fmt: skip
_REFUSALS: Final = {
    "device": e.NewDevice, "browser": e.NewBrowser, "city": e.NewCity, "country": e.NewCountry, "ip": e.NewAddress,
}  # fmt: skip
_RENEWED_AFTER: Final = timedelta(days=7)  # what is used each day is not written each day


def refuse(call: Call, account: Account) -> None:
    """Refuse a password's sign-in from where the account never was, where the tenant says so and has no second factors; its owner
    is mailed. Call it while nothing is written.

    Raises:
        NewDevice, NewBrowser, NewCity, NewCountry, NewAddress: what is new. RiskBlocked: and the account is closed now.
    """
    settings = call.tenant.settings
    strict = [name for name in settings.risk.watched if getattr(settings.risk, name) in ("refuse", "block")]
    if not strict or settings.two_factor != "disabled":
        return
    seen, held = _seen(call), _held(call, account)
    fresh = [name for name in strict if seen[name] and held and _digest(account, name, seen[name]) not in held]
    if not fresh:
        return
    is_blocked = any(getattr(settings.risk, name) == "block" for name in fresh)
    with call.work.apart() as own:
        apart = replace(call, work=own, outbox=Outbox(own, call.house.clock, call.house.vault))
        if is_blocked:
            accounts.change(apart, account.uid, {"is_active": False})
        _tell(apart, account, fresh[0])
    call.ledger.record("sign_in.refused", uid=account.uid, reason="elsewhere", new=",".join(fresh), blocked=is_blocked)
    raise e.RiskBlocked if is_blocked else _REFUSALS[fresh[0]]


def note(call: Call, account: Account) -> None:
    """Remember from where a sign-in came that is whole, and mail its owner about what is new. Nothing is read or written
    where the tenant watches nothing. Call it after the account's row is locked.
    """
    stated = call.tenant.settings.risk
    if not stated.watched:
        return
    seen, held = _seen(call), _held(call, account)
    fresh, lives_for = [], timedelta(days=stated.remembered_days)
    for name in stated.watched:
        if not seen[name]:
            continue
        known = held.get(_digest(account, name, seen[name]))
        if known is None:
            fresh.append(name)
        if known is None or known.created_at + _RENEWED_AFTER <= call.now:
            tickets.renew(call, TicketKind.SEEN, account.uid, _text(account, name, seen[name]), lives_for)
    if fresh and held:
        call.ledger.record("sign_in.elsewhere", uid=account.uid, new=",".join(fresh))
        _tell(call, account, fresh[0])


def _tell(call: Call, account: Account, name: str) -> None:
    notices.tell_with_alarm(
        call, _MAILS[name], account.email, account, template=_template(call, name), device=_said(call)
    )


def _held(call: Call, account: Account) -> dict[str, Ticket]:
    return {one.ticket_hash: one for one in tickets.of_account(call, TicketKind.SEEN, account.uid)}


def _text(account: Account, name: str, seen: str) -> str:
    return f"{account.uid} {name} {seen}"


def _digest(account: Account, name: str, seen: str) -> str:
    return randomness.digest(_text(account, name, seen))


def _seen(call: Call) -> dict[str, str]:
    agent, place = read_agent(call.agent), call.house.locations.place_of(call.address)
    return {
        "device": " ".join(one for one in (agent.device_type, agent.system) if one),
        "browser": " ".join(one for one in (agent.browser, agent.system) if one),
        "city": f"{place.city}, {place.country}" if place.city else "",
        "country": place.country,
        "ip": call.network,
    }


def _said(call: Call) -> str:
    agent, place = read_agent(call.agent), call.house.locations.place_of(call.address)
    named = ", ".join(one for one in (agent.browser, agent.system) if one)
    where = ", ".join(one for one in (place.city, place.country) if one)
    return " · ".join(one for one in (named, where, call.address) if one)


def _template(call: Call, name: str) -> str | None:
    """Return the tenant's template that the request names for this: `rba{browser,city,country,ip}emailtemplate`."""
    asked = {key.lower(): value for key, value in call.raw.query_pairs}
    return asked.get(f"rba{name}emailtemplate", "")[:100] or None
