"""What a text message says: the code first, where a telephone's preview shows it; the line for browsers last."""

from __future__ import annotations

from typing import Final

from app.contract.messages import NEW_PLACE_TEXTS, SmsKind
from app.identity.messaging import gsm7
from app.identity.messaging.message import Facts, one_line
from app.identity.messaging.rendering import format_duration
from app.kit.languages import Language, catalogue

_MOST_TENANT_LETTERS: Final = 30
_MOST_DEVICE_LETTERS: Final = 60


def render_sms(kind: SmsKind, tenant: str, facts: Facts, language: Language, host: str) -> str:
    """Return the message of this kind, in the network's short alphabet where the language allows it."""
    return append_origin_line(gsm7.simplify(sentence(kind, tenant, facts, language)), facts.otp, host)


def sentence(kind: SmsKind, tenant: str, facts: Facts, language: Language) -> str:
    """Return what the message of this kind says."""
    t = catalogue(language.tag)
    words = {
        SmsKind.VERIFICATION: t.gettext("%(code)s is your code for %(tenant)s."),
        SmsKind.RESET: t.gettext("%(code)s is your code for a new password at %(tenant)s."),
        SmsKind.RESET_PIN: t.gettext("%(code)s is your code for a new PIN at %(tenant)s."),
        SmsKind.WELCOME: t.gettext("Welcome to %(tenant)s. Your account is ready."),
        SmsKind.CHANGE_PHONE: t.gettext("%(code)s confirms this number at %(tenant)s."),
        SmsKind.DELETE_ACCOUNT: t.gettext(
            "%(code)s deletes your account at %(tenant)s. Not you? Then change your password."
        ),
        SmsKind.PHONE_CHANGED: t.gettext("This number no longer opens your account at %(tenant)s. Not you? %(url)s"),
        SmsKind.SECOND_FACTOR: t.gettext("%(code)s confirms that it is you at %(tenant)s."),
        SmsKind.SIGN_IN: t.gettext("%(code)s signs you in at %(tenant)s."),
        SmsKind.ONE_TOUCH: t.gettext("%(code)s signs you in at %(tenant)s."),
        **dict.fromkeys(
            NEW_PLACE_TEXTS,
            t.gettext("Sign-in from somewhere new at %(tenant)s: %(device)s. Not you? %(url)s"),
        ),
        SmsKind.ACCOUNT_EXISTS: t.gettext("This number has an account at %(tenant)s already. Sign in: %(url)s"),
    }[kind]
    named = {"code": facts.otp, "tenant": one_line(tenant, _MOST_TENANT_LETTERS), "url": facts.url}
    said = [words % {**named, "device": one_line(facts.device.replace(" · ", ", "), _MOST_DEVICE_LETTERS)}]
    minutes = facts.otp_minutes or facts.minutes
    if facts.otp and minutes:
        said.append(
            t.gettext("Good for %(time)s. Share it with nobody.") % {"time": format_duration(minutes, language.tag)}
        )
    return " ".join(said)


def voice_text(text: str, otp: str) -> str:
    """Return a message as a voice reads it: its code digit by digit, and everything twice."""
    once = text.replace(otp, f"{', '.join(otp)}.")
    return f"{once}\n{once}"


def append_origin_line(text: str, otp: str, host: str) -> str:
    """Add the last line of an origin-bound code: a browser fills it in at this host and nowhere else."""
    line = f"@{host.partition(':')[0]} #{otp}"
    return text if not otp or text.rstrip().endswith(line) else f"{text.rstrip()}\n\n{line}"
