"""Sample facts of every mail and text message in every state, for the gallery, screenshots and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from app.contract.messages.models import NEW_PLACE_TEXTS, MailKind, SmsKind
from app.contract.messages.short_link_paths import SHORT_PATHS
from app.contract.second_factors.challenge import FactorKind
from app.identity.messaging.message import MessageFacts
from app.identity.messaging.send_limits import NEW_PLACES

_DAY: Final = 24 * 60
_TOKEN: Final = "q3VtnXw0p8Yy2mJxKQd7rA1sLzEo5uHcB6fTgWi9DkS"


def _link(page: str) -> str:
    return f"https://acme.example.com{SHORT_PATHS[page]}/{_TOKEN}"


_ALERT_LINK: Final = _link("/not-me")
_PLAIN: Final = MessageFacts(
    to="ada@example.com",
    name="Ada",
    email="ada@example.com",
    username="ada",
    browser="Chrome",
    system="Linux",
    place="Berlin",
    requested_at=datetime(2026, 11, 22, 15, 40, tzinfo=UTC),
)


def _states(page: str, minutes: int) -> dict[str, MessageFacts]:
    both = replace(_PLAIN, application="Acme Shop", url=_link(page), otp="482913", minutes=minutes, otp_minutes=5)
    return {
        "link and code": both,
        "link": replace(both, otp="", otp_minutes=0),
        "code": replace(both, url="", minutes=5, otp_minutes=0),
    }


_SECURITY: Final = "https://acme.example.com/security"
_NOTICE: Final = {"notice": replace(_PLAIN, url=_SECURITY)}
_ADDED_OR_REMOVED: Final = {
    **_NOTICE, **{change: replace(_PLAIN, url=_SECURITY, change=change) for change in ("added", "removed")}
}  # fmt: skip
_UNKNOWN: Final = replace(_PLAIN, name="", place="")
_KINDS: Final = tuple(kind.value for kind in FactorKind)
_ADDED: Final = replace(_PLAIN, factor=FactorKind.TOTP)


def _with_alert_link(kinds: Iterable[str]) -> dict[str, MessageFacts]:
    return {
        "notice": _ADDED,
        **{f"link, {kind}": replace(_ADDED, factor=kind, url=_ALERT_LINK, minutes=7 * _DAY) for kind in kinds},
    }


_PLACE: Final = replace(_PLAIN, device="Firefox, Linux · Linz, Austria · 203.0.113.7")
_NEW_PLACE: Final = {"notice": _PLACE, "link": replace(_PLACE, url=_ALERT_LINK, minutes=7 * _DAY)}
_GLOBEX: Final = replace(_PLAIN, provider="Globex")
_CONNECTED: Final = {"notice": _GLOBEX, "link": replace(_GLOBEX, url=_ALERT_LINK, minutes=7 * _DAY)}
_INVITED: Final = replace(
    _UNKNOWN, url=_link("/invitation"), minutes=7 * _DAY, organization="Globex Gardens", inviter="Grace Hopper"
)
_IN_GLOBEX: Final = replace(_PLAIN, url="https://acme.example.com/organizations", organization="Globex Gardens")
_OTHER_EMAIL: Final = replace(_PLAIN, email="lovelace@example.org", url=_ALERT_LINK, minutes=7 * _DAY)
EMAIL_SAMPLES: Final[Mapping[MailKind, Mapping[str, MessageFacts]]] = {
    MailKind.VERIFICATION: {
        **_states("/verify", 3 * _DAY),
        "long names": replace(
            _states("/verify", 3 * _DAY)["link and code"],
            name="Wolfeschlegelsteinhausenbergerdorff Keihanaikukauakahihuliheekahaunaele",
            to="a.very.long.address.of.somebody.with.patience@mail.department.example.com",
            email="a.very.long.address.of.somebody.with.patience@mail.department.example.com",
        ),
    },
    MailKind.WELCOME: {
        "notice": _PLAIN,
        "link": replace(_PLAIN, url="https://acme.example.com/"),
        "username": replace(_PLAIN, sign_in_name="countess"),
    },
    MailKind.RESET: _states("/reset-password", _DAY),
    MailKind.RESET_PIN: _states("/reset-pin", _DAY),
    MailKind.PIN_CHANGED: _ADDED_OR_REMOVED,
    MailKind.PASSWORD_CHANGED: {**_NOTICE, "link": replace(_PLAIN, url=_ALERT_LINK, minutes=7 * _DAY)},
    MailKind.ALARM: _states("/reset-password", _DAY),
    MailKind.DELETE_ACCOUNT: _states("/delete-account", _DAY),
    MailKind.ADD_EMAIL: {
        name: replace(facts, added_by="a***@e***.com") for name, facts in _states("/verify", 3 * _DAY).items()
    },
    MailKind.EMAIL_CHANGED: {
        "notice": replace(_OTHER_EMAIL, url=_SECURITY, minutes=0, change="removed"),
        **{change: replace(_OTHER_EMAIL, change=change) for change in ("added", "removed", "primary")},
    },
    MailKind.USERNAME_CHANGED: _NOTICE,
    MailKind.PHONE_CHANGED: {
        state: replace(facts, url=_ALERT_LINK, minutes=7 * _DAY) for state, facts in _ADDED_OR_REMOVED.items()
    },
    MailKind.ANSWERS_CHANGED: {**_NOTICE, "link": replace(_PLAIN, url=_ALERT_LINK, minutes=7 * _DAY)},
    MailKind.FACTOR_ADDED: _with_alert_link(_KINDS),
    MailKind.FACTOR_REMOVED: {
        **_with_alert_link(_KINDS[:3]),
        "link, all": replace(_PLAIN, url=_ALERT_LINK, minutes=7 * _DAY),
    },
    MailKind.PASSKEY_ADDED: {**_NOTICE, "link": replace(_PLAIN, url=_ALERT_LINK, minutes=7 * _DAY)},
    **dict.fromkeys(NEW_PLACES, _NEW_PLACE),
    MailKind.PASSKEY_REMOVED: _NOTICE,
    **dict.fromkeys((MailKind.IDENTITY_LINKED, MailKind.IDENTITY_UNLINKED), _CONNECTED),
    MailKind.CAPTCHA: {"link": replace(_UNKNOWN, url=_link("/human"), minutes=30)},
    MailKind.PASSKEY_LOST: {"link": replace(_PLAIN, url=_link("/passkeys/reset"), minutes=_DAY)},
    MailKind.ACCOUNT_LEAVES: {
        "link": replace(_PLAIN, url="https://acme.example.com/login", until=datetime(2026, 12, 22, 15, 40, tzinfo=UTC))
    },
    MailKind.ACCOUNT_EXISTS: {
        "link": replace(_UNKNOWN, url="https://acme.example.com/login"),
        "notice": _UNKNOWN,
    },
    MailKind.SECOND_FACTOR: {"code": replace(_PLAIN, otp="482913", minutes=5)},
    MailKind.SIGN_IN: _states("/sign-in/link", 60),
    MailKind.SMART_LOGIN: {
        name: replace(facts, device="Chrome, Windows · 203.0.113.7")
        for name, facts in _states("/sign-in/approve", 15).items()
    },
    MailKind.ONE_TOUCH: {name: replace(facts, name="") for name, facts in _states("/sign-in/link", 60).items()},
    MailKind.NO_ACCOUNT: {
        "link": replace(_UNKNOWN, url="https://acme.example.com/register"),
        "notice": _UNKNOWN,
    },
    MailKind.INVITATION: {
        "link": _INVITED,
        "without an inviter": replace(_INVITED, inviter=""),
        "with a logo": replace(_INVITED, organization_logo="https://acme.example.com/static/sample-logo.png"),
        "with a color": replace(_INVITED, organization_color="#0b7a55"),
    },
    MailKind.OWNER_ADDED: {
        "with a name": replace(_IN_GLOBEX, inviter="Grace Hopper"),
        "without a name": _IN_GLOBEX,
    },
    MailKind.OWNERSHIP_CHANGED: {
        "both": replace(_IN_GLOBEX, change="added", email="grace@example.com"),
        "handed over": replace(_IN_GLOBEX, change="removed", email="grace@example.com"),
    },
    MailKind.JOIN_REQUESTED: {"asked": replace(_IN_GLOBEX, email="grace@example.com")},
    MailKind.JOIN_APPROVED: {"approved": _IN_GLOBEX},
    MailKind.JOIN_DECLINED: {"declined": replace(_IN_GLOBEX, url="")},
    MailKind.ORGANIZATION_DOMAIN: {
        name: replace(_IN_GLOBEX, domain="globex.example", change=name)
        for name in ("record_lost", "contested", "verified_elsewhere")
    },
    MailKind.WEBHOOK_DISABLED: {
        "gone": MessageFacts(
            to="developers@example.com",
            domain="hooks.example.com",
            event="UpdateProfile",
            webhook="2f9d1c3ab5e84f70a1d6c0e7b8f94d25",
        )
    },
    MailKind.THEME_FAILED: {
        "failed": MessageFacts(
            to="design@example.com",
            theme_file="layouts/split.html",
            problem="line 3: expected a value of this layout",
            failed_at=datetime(2026, 11, 22, 15, 40, tzinfo=UTC),
        )
    },
}

_CODE: Final = MessageFacts(to="+4930123456", name="Ada", otp="482913", minutes=5)

_NOTICES: Final = frozenset({SmsKind.WELCOME, SmsKind.PHONE_CHANGED, SmsKind.ACCOUNT_EXISTS, *NEW_PLACE_TEXTS})
"""Kinds without a code."""
SMS_SAMPLES: Final[Mapping[SmsKind, Mapping[str, MessageFacts]]] = {
    kind: {
        "notice" if kind in _NOTICES else "code": replace(
            _CODE, otp="", url="https://acme.example.com/login", device=_PLACE.device
        )
        if kind in _NOTICES
        else _CODE
    }
    for kind in SmsKind
}
