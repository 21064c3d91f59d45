"""The facts about a sign-in that conditions of workflows compare, each with its type."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


class ValueType(Enum):
    """The type of a value in a condition, as refusals name it."""

    TEXT = "text"
    NUMBER = "a number"
    FLAG = "true or false"
    TEXTS = "a list of texts"
    NUMBERS = "a list of numbers"
    ADDRESS = "an IP address"


TEXT, NUMBER, FLAG, TEXTS, NUMBERS, ADDRESS = ValueType


@dataclass(frozen=True)
class ConditionFact:
    """A name that conditions may use. `meaning` is published."""

    type: ValueType
    meaning: str


FACTS: Final = {
    "account.uid": ConditionFact(TEXT, "The account’s ID."),
    "account.email": ConditionFact(TEXT, "The primary email address, in lower case."),
    "account.email_domain": ConditionFact(TEXT, "The part of the email address after the @, in lower case."),
    "account.country": ConditionFact(TEXT, "The country of the profile, such as DE."),
    "account.roles": ConditionFact(TEXTS, "The names of the account’s roles."),
    "account.is_email_verified": ConditionFact(FLAG, "Whether the primary email address is verified."),
    "account.is_phone_verified": ConditionFact(FLAG, "Whether the phone number is verified."),
    "account.created_days_ago": ConditionFact(NUMBER, "The account’s age in whole days; 0 on the first day."),
    "account.logins": ConditionFact(NUMBER, "How often the account has signed in before."),
    "account.has_password": ConditionFact(FLAG, "Whether the account has a password."),
    "account.has_passkey": ConditionFact(FLAG, "Whether the account has a passkey."),
    "account.has_second_factor": ConditionFact(FLAG, "Whether the account has enrolled a second factor."),
    "sign_in.methods": ConditionFact(
        TEXTS,
        "The methods passed so far: password, passkey, email, sms, connection, pin, and mfa after a second factor.",
    ),
    "sign_in.provider": ConditionFact(TEXT, "The name of the connection, for a sign-in with an identity provider."),
    "sign_in.is_registration": ConditionFact(FLAG, "Whether the account was created by this sign-in."),
    "sign_in.is_refresh": ConditionFact(FLAG, "Whether a token is refreshed, instead of a new sign-in."),
    "sign_in.is_new_device": ConditionFact(FLAG, "Whether the kind of device is new for the account, if `risk` watches it."),
    "sign_in.is_new_browser": ConditionFact(FLAG, "Whether the browser is new for the account, if `risk` watches it."),
    "sign_in.is_new_city": ConditionFact(FLAG, "Whether the city is new for the account, if `risk` watches it."),
    "sign_in.is_new_country": ConditionFact(FLAG, "Whether the country is new for the account, if `risk` watches it."),
    "sign_in.is_new_ip": ConditionFact(FLAG, "Whether the network is new for the account, if `risk` watches it."),
    "request.ip": ConditionFact(ADDRESS, "The visitor’s IP address; compare it by `in_network`."),
    "request.country": ConditionFact(TEXT, "The country of the IP address, such as DE, if the installation has a locations file."),
    "request.client_id": ConditionFact(TEXT, "The client ID of the application that the sign-in is for."),
    "request.application": ConditionFact(TEXT, "The name of the application that the sign-in is for."),
    "request.scopes": ConditionFact(TEXTS, "The scopes that the application requests."),
    "request.language": ConditionFact(TEXT, "The language of the pages, such as de."),
    "request.hour_utc": ConditionFact(NUMBER, "The hour of the day in UTC, from 0 to 23."),
    "organization.id": ConditionFact(TEXT, "The ID of the organization that the tokens will name."),
}  # fmt: skip
"""Every name, in the order of the documentation."""


def is_known_before_sign_in(name: str) -> bool:
    """Return whether a fact is known before the account is."""
    return name.startswith("request.")
