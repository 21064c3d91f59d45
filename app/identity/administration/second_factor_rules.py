"""The condition for turning second factors on (decisions/0164)."""

from collections.abc import Mapping
from typing import Any

from app.contract.configuration import TenantSettings

NEEDED = "second factors need email_verification: required"


def is_refused(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether a change leaves second factors on where addresses need not be proved, and they were not so before
    (interface user.md section 1.1, mfa.md section 5). Settings as they are kept."""
    return _is_open(after) and not _is_open(before)


def _is_open(settings: Mapping[str, Any]) -> bool:
    stated = TenantSettings.model_validate(settings)
    return stated.two_factor != "disabled" and stated.email_verification != "required"
