"""Sign-ins from where an account never was: remembered as digests, told to the owner (interface mfa.md section 9, decisions/0103)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from app.contract.letters import MailKind
from app.identity.accounts.account import Account
from app.identity.call import Call
from app.identity.providers.locations import Place
from app.identity.tickets import service as tickets
from app.identity.tickets.service import TicketKind
from app.identity.verification import notices
from app.kit import randomness
from app.kit.agents import read_agent

_MAILS: Final = {
    "device": MailKind.NEW_DEVICE, "browser": MailKind.NEW_BROWSER, "city": MailKind.NEW_CITY,
    "country": MailKind.NEW_COUNTRY, "ip": MailKind.NEW_IP,
}  # fmt: skip
_RENEWED_AFTER: Final = timedelta(days=7)  # what is used each day is not written each day


def note(call: Call, account: Account) -> None:
    """Remember from where a sign-in came that is whole, and mail its owner about what is new. Nothing is read or written
    where the tenant watches nothing. Call it after the account's row is locked.
    """
    stated = call.tenant.settings.risk
    if not stated.watched:
        return
    place = call.house.locations.place_of(call.address)
    seen = _seen(call, place)
    held = {one.ticket_hash: one for one in tickets.of_account(call, TicketKind.SEEN, account.uid)}
    fresh, lives_for = [], timedelta(days=stated.remembered_days)
    for name in stated.watched:
        if not seen[name]:
            continue
        text = f"{account.uid} {name} {seen[name]}"
        known = held.get(randomness.digest(text))
        if known is None:
            fresh.append(name)
        if known is None or known.created_at + _RENEWED_AFTER <= call.now:
            tickets.renew(call, TicketKind.SEEN, account.uid, text, lives_for)
    if fresh and held:
        call.ledger.record("sign_in.elsewhere", uid=account.uid, new=",".join(fresh))
        notices.tell_with_alarm(
            call,
            _MAILS[fresh[0]],
            account.email,
            account,
            template=_template(call, fresh[0]),
            device=_said(call, place),
        )


def _seen(call: Call, place: Place) -> dict[str, str]:
    agent = read_agent(call.agent)
    return {
        "device": " ".join(one for one in (agent.device_type, agent.system) if one),
        "browser": " ".join(one for one in (agent.browser, agent.system) if one),
        "city": f"{place.city}, {place.country}" if place.city else "",
        "country": place.country,
        "ip": call.network,
    }


def _said(call: Call, place: Place) -> str:
    agent = read_agent(call.agent)
    named = ", ".join(one for one in (agent.browser, agent.system) if one)
    where = ", ".join(one for one in (place.city, place.country) if one)
    return " · ".join(one for one in (named, where, call.address) if one)


def _template(call: Call, name: str) -> str | None:
    """Return the tenant's template that the request names for this: `rba{browser,city,country,ip}emailtemplate`."""
    asked = {key.lower(): value for key, value in call.raw.query_pairs}
    return asked.get(f"rba{name}emailtemplate", "")[:100] or None
