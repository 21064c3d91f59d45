"""Webmail services by the domain of an address, for the button that opens the mailbox. A fixed table; never a look-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Webmail:
    """A webmail service: its name, and the address of its inbox."""

    name: str
    address: str


def webmail_of(email: str) -> Webmail | None:
    """Return the webmail service of an email address; None for an unknown domain, a username or a number."""
    _, at, domain = email.strip().rpartition("@")
    return _BY_DOMAIN.get(domain.lower()) if at else None


_DOMAINS: Final = {
    Webmail("Gmail", "https://mail.google.com/mail/"): "gmail.com googlemail.com",
    Webmail("Outlook", "https://outlook.live.com/mail/"): (
        "outlook.com outlook.de outlook.fr outlook.es outlook.sa hotmail.com hotmail.co.uk hotmail.de hotmail.fr hotmail.it "
        "hotmail.es live.com live.de live.fr live.co.uk live.nl msn.com"
    ),
    Webmail("Yahoo Mail", "https://mail.yahoo.com/"): (
        "yahoo.com yahoo.co.uk yahoo.de yahoo.fr yahoo.es yahoo.it yahoo.ca yahoo.in yahoo.co.in yahoo.com.au yahoo.com.br "
        "ymail.com rocketmail.com"
    ),
    Webmail("iCloud Mail", "https://www.icloud.com/mail/"): "icloud.com me.com mac.com",
    Webmail("Proton Mail", "https://mail.proton.me/"): "proton.me protonmail.com pm.me",
    Webmail("AOL Mail", "https://mail.aol.com/"): "aol.com aol.de aol.co.uk",
    Webmail("GMX", "https://www.gmx.net/"): "gmx.de gmx.net gmx.at gmx.ch",
    Webmail("GMX", "https://www.gmx.com/"): "gmx.com gmx.us",
    Webmail("WEB.DE", "https://web.de/"): "web.de",
    Webmail("Telekom Mail", "https://email.t-online.de/"): "t-online.de magenta.de",
    Webmail("Fastmail", "https://app.fastmail.com/mail/"): "fastmail.com fastmail.fm",
    Webmail("Zoho Mail", "https://mail.zoho.com/"): "zohomail.com",
    Webmail("QQ Mail", "https://mail.qq.com/"): "qq.com foxmail.com",
    Webmail("Naver Mail", "https://mail.naver.com/"): "naver.com",
}
_BY_DOMAIN: Final = {domain: service for service, domains in _DOMAINS.items() for domain in domains.split()}
