"""All hostile responses, by rule."""

from __future__ import annotations

from tests.support.saml.condition_cases import CONDITION_CASES
from tests.support.saml.document_cases import DOCUMENT_CASES
from tests.support.saml.encryption_cases import ENCRYPTION_CASES
from tests.support.saml.signature_cases import SIGNATURE_CASES
from tests.support.saml.wrapping_cases import WRAPPING_CASES

RESPONSE_CASES = [*DOCUMENT_CASES, *SIGNATURE_CASES, *WRAPPING_CASES, *CONDITION_CASES, *ENCRYPTION_CASES]
