"""The thumbnails of the gallery: pages in each of their states, with names that tell the states apart."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Final

from app.hub import pages
from app.hub.rendering.page import Page

GROUPS: Final = {
    "sign_in": "Sign in",
    "registration": "Sign up",
    "recovery": "Recovery",
    "security": "Security",
    "account": "Account",
    "consent": "Consent",
    "organizations": "Organizations",
    "device": "Devices",
    "": "Other",
}
"""The name of each folder of pages, in the order of the gallery."""
_JOURNEY: Final = (
    "LoginPage", "PasskeyLoginPage", "PasswordlessPage", "SignInSentPage", "PhoneSignInPage", "ChooseAccountPage",
    "SecondFactorPage", "ChooseFactorPage", "HumanCheckPage", "SignInLinkPage", "SignInRequestPage",
    "ApproveSignInPage", "DeviceApprovalPage", "LockedLoginPage", "SecondFactorLockedPage", "LogoutPage",
    "RegisterPage", "PasskeyRegisterPage", "CheckMailPage", "VerifyPage", "ConfirmedPage", "MissingFieldsPage",
    "ForgotPage", "ResetSentPage", "ResetLinkPage", "ResetPage",
    "SecurityPage", "ChangePasswordPage", "PasskeysPage", "PasskeyOfferPage", "AddPasskeyPage", "EditPasskeyPage",
    "FactorsPage", "AddFactorPage", "RemoveFactorPage", "TurnOffPage",
    "ProfilePage", "EmailsPage", "AddEmailPage", "ChangeEmailPage", "EmailCodePage", "PhonePage", "IdentitiesPage",
    "ConsentPage", "ApplicationsPage",
    "OrganizationsPage", "OrganizationMembersPage", "InvitePeoplePage", "InvitationPage", "JoinRequestsPage",
    "OrganizationDomainsPage", "OrganizationSettingsPage",
    "DeviceCodePage", "DevicePage",
)  # fmt: skip
"""The pages that most visitors meet, as one follows another; the gallery has them before the others of their group."""
_WORDS: Final = re.compile(r"[A-Z][a-z]*")
_TITLES: Final = {
    "login": "sign-in page",
    "sign in": "sign-in",
    "logout": "sign-out",
    "register": "sign-up page",
    "registration off": "sign-up closed",
    "reauthentication": "confirm it’s you",
    "second factor": "two-step verification",
    "factors": "two-step methods",
    "factor": "method",
    "identities": "connected accounts",
    "identity": "connected account",
    "check mail": "check your email",
    "change address": "correct email",
    "mailed": "emailed",
    "verify": "verify email",
    "pin": "PIN",
}
"""What titles say for words in the names of classes."""
_IN_TITLES: Final = re.compile(rf"\b(?:{'|'.join(_TITLES)})\b")
_CAPTIONS: Final = {
    "fresh": "default",
    "token": "form expired",
    "otp only": "code only",
    "totp": "authenticator app",
    "sms": "text message",
    "security_questions": "security questions",
    "backup_code": "backup code",
    "to enrol": "set up",
    "to enrol one": "choose one to set up",
    "enrolled": "code asked for",
    "password then": "password step",
    "by mail": "by email",
    "elsewhere": "unfamiliar sign-in reported",
    "sessions": "too many devices",
    "breached": "password found in a breach",
    "scriptless": "without scripts",
    "without a script": "without scripts",
    "passkey": "passkey refused",
    "suspended": "locked for a while",
    "empty": "nothing entered",
    "wrong": "wrong entry",
    "a moment ago": "resend not ready yet",
    "too soon": "resent too soon",
    "too often": "too many emails",
    "enough": "limit reached",
    "enough mail": "too many emails",
    "enough messages": "too many text messages",
    "no messages": "text messages unavailable",
    "no texts": "text messages unavailable",
    "not confirmed": "not verified",
    "not to be confirmed": "without verification",
    "confirmed": "verified",
    "confirmed for an application": "verified for an application",
    "confirmed before": "already verified",
    "with the password": "password required",
    "remove with the password": "remove, password required",
    "to a name": "to a username",
    "captcha of a provider that nobody sees": "invisible captcha of a provider",
    "one's own": "already yours",
    "the most": "as many as possible",
    "own": "confirmed as own change",
    "not_sent": "email not sent",
    "used_up": "no uses left",
    "must_enrol": "another required",
    "nothing": "last one",
    "others": "others remain",
    "after off": "after turning off a link",
    "after gone": "after it was gone",
    "after owner": "after an ownership transfer",
    "after password-set": "after setting a password",
    "after password": "after a password change",
    "after forgotten": "after forgetting trusted devices",
    "after present": "after adding one already present",
    "after missing": "after a missing record",
    "after taken": "after one already taken",
    "after ended": "after signing out a device",
    "JoinRequestClosed": "request already closed",
    "NoSeatLeft": "no seats left",
    "WrongDefaultMemberRole": "default role missing",
    "limit": "limit reached",
    "not now": "code sent a moment ago",
    "no codes here": "codes unavailable",
    "over": "expired",
    "yes": "approved",
    "no": "denied",
    "yes, earlier": "approved earlier",
    "no, earlier": "denied earlier",
}
"""What captions say for the names of samples, or for their parts between commas."""
_OF_PAGES: Final = {
    ("SecondFactorPage", "push, enrolled"): "push, approval asked for",
    ("SecondFactorPage", "passkey, enrolled"): "passkey, asked for",
    ("SecondFactorPage", "passkey, enrolled, wrong"): "passkey, refused",
    ("SecondFactorPage", "passkey, to enrol"): "passkey, set up",
    ("SecondFactorPage", "passkey, to enrol, wrong"): "passkey, set up, refused",
    ("SecondFactorPage", "security_questions, enrolled"): "security questions, asked",
    ("SecondFactorPage", "security_questions, enrolled, wrong"): "security questions, asked, wrong answer",
    ("SecondFactorPage", "duo, enrolled"): "Duo, asked for",
    ("SecondFactorPage", "duo, to enrol"): "Duo, set up",
    ("AddFactorPage", "passkey, to enrol"): "passkey",
    ("AddFactorPage", "duo, to enrol"): "Duo",
    ("LockedLoginPage", "question"): "security question",
    ("LoginPage", "wrong"): "wrong password",
    ("VerifyPage", "password"): "password required",
}
"""The captions of samples whose names mean something else on other pages."""
_DISTINCT: Final = (
    ("every", "providers", "app, set up", "set up", "several", "three", "all", "other ways", "passkey", "captcha"),
    ("wrong password", "wrong entry", "wrong", "refused", "misleading", "weak", "taken", "nothing entered"),
    ("locked for a while", "locked", "denied", "^expired", "^used", "reauthentication", "password required"),
)
"""Patterns of captions, the best first: of more than the page’s first state shows, of an error, and of an end."""


@dataclass(frozen=True)
class Thumbnail:
    """A page in one of its states, as the gallery shows it."""

    group: str
    page: str
    state: str

    @property
    def title(self) -> str:
        """The page's name in words: “Sign-in sent”."""
        name = " ".join(_WORDS.findall(self.page.removesuffix("Page"))).lower()
        title = _IN_TITLES.sub(lambda found: _TITLES[found[0]], name)
        return title[0].upper() + title[1:]

    @property
    def caption(self) -> str:
        """The state in words: “Wrong password”."""
        said = _OF_PAGES.get((self.page, self.state)) or _CAPTIONS.get(self.state)
        said = said or ", ".join(_CAPTIONS.get(part, part) for part in self.state.split(", ")).replace("_", " ")
        return said[0].upper() + said[1:]

    def has_words(self, words: str) -> bool:
        """Return whether the group, the page and the state have all of these words, or words that begin or end with them."""
        said = f"{GROUPS[self.group]} {self.title} {self.caption} {self.page}".casefold()
        return all(word in said for word in words.casefold().split())


def thumbnails(samples: Iterable[tuple[type[Page], str]]) -> list[Thumbnail]:
    """Return the thumbnails of samples in the order of the groups, and of the pages within each."""
    order, steps = list(GROUPS), {name: number for number, name in enumerate(_JOURNEY)}
    found = [Thumbnail(_group_of(page), page.__name__, state) for page, state in samples]
    found.sort(key=lambda each: (order.index(each.group), steps.get(each.page, len(steps))))
    return [each for _, states in groupby(found, lambda each: each.page) for each in _distinct_first([*states])]


def _distinct_first(states: list[Thumbnail]) -> list[Thumbnail]:
    """Return the states of a page with those in front that look unlike its first, which people see without the others."""
    ahead = states[:1]
    for kind in _DISTINCT:
        patterns = (re.compile(rf"\b{words}\b", re.IGNORECASE) for words in kind)
        fitting = (each for said in patterns for each in states if each not in ahead and said.search(each.caption))
        ahead += [*islice(fitting, 1)]
    return ahead + [each for each in states if each not in ahead]


def _group_of(page: type[Page]) -> str:
    folder = page.__module__.removeprefix(f"{pages.__name__}.").partition(".")[0]
    return folder if folder in GROUPS else ""
