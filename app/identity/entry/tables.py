"""Imports every module that declares tables, so that migrations, deletions and tests see the whole schema."""

from app.identity.authentication.registration import tables as registration
from app.identity.authentication.sign_in import tables as sign_in
from app.identity.credentials import store as credentials
from app.identity.credentials.captcha import answers as captcha
from app.identity.credentials.one_time_tokens import store as one_time_tokens
from app.identity.credentials.tokens import store as tokens
from app.identity.directory.accounts import tables as accounts
from app.identity.directory.consents import store as consent_forms
from app.identity.directory.custom_objects import store as custom_objects
from app.identity.directory.tenants import tables as tenants
from app.identity.messaging import store as messaging
from app.identity.platform import audit, continuation_tokens
from app.identity.platform.outbox import queue as outbox
from app.identity.platform.resources import store as resources
from app.identity.platform.store.tables import declare_complete, metadata
from app.identity.protocols.oauth import tables as oauth

declare_complete()

__all__ = [
    "accounts", "captcha", "consent_forms", "credentials", "custom_objects", "messaging", "metadata", "oauth", "one_time_tokens",
    "registration", "resources", "sign_in", "audit", "outbox", "tenants", "continuation_tokens", "tokens",
]  # fmt: skip
