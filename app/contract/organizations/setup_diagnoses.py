"""What a refused trial of the set-up guide means, for checks whose general texts name settings that the guide doesn't show.

A customer's administrator reads them, beside what was expected and received. Step 3 is the guide's “Connection”.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from app.contract.federation.connection_checks import ConnectionCheck, Diagnosis

_C: Final = ConnectionCheck
gettext: Final = str
"""Marks a sentence for the catalogues. The guide translates it where it shows it."""

SETUP_DIAGNOSES: Final[Mapping[str, Diagnosis]] = MappingProxyType({
    _C.STATE: Diagnosis(
        gettext("This answer doesn’t belong to the test that you started here, or it arrived twice."),
        gettext("Start the test again, and finish it in this browser within an hour."),
    ),
    _C.EMAIL: Diagnosis(
        gettext("Your provider sent no email address, or calls it unverified."),
        gettext("Choose the right value for “Email” below. If it isn’t there, set your provider to send the email, then test again."),
    ),
    _C.MAPPING: Diagnosis(
        gettext("The account ID is missing, or changes with every sign-in."),
        gettext("Choose a value that stays the same for “Account ID” below, or set the NameID format at your provider to persistent."),
    ),
    "saml_conditions": Diagnosis(
        gettext("The answer is for another service, request or time, or your provider didn’t sign you in."),
        gettext("Copy the entity ID and the ACS URL from step 3 to your provider again, character by character. If the time is "
            "wrong, correct your provider’s clock: we accept a difference of up to 60 seconds."),
    ),
    "saml_key": Diagnosis(
        gettext("The answer was signed with a certificate that isn’t in the metadata from step 3, or that has expired."),
        gettext("Copy your provider’s metadata again, and save it in step 3."),
    ),
    "saml_replay": Diagnosis(
        gettext("This answer was used before."),
        gettext("Start the test again."),
    ),
    "saml_encryption": Diagnosis(
        gettext("We couldn’t decrypt the answer."),
        gettext("Turn off encryption of assertions at your provider, or encrypt them with AES-GCM and RSA-OAEP for our "
            "metadata’s certificate."),
    ),
})  # fmt: skip
