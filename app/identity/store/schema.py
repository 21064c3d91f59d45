"""Every table, imported here so that migrations and tests see one schema."""

from app.identity.accounts import tables as accounts
from app.identity.captcha import tables as captcha
from app.identity.consent_forms import tables as consent_forms
from app.identity.credentials import tables as credentials
from app.identity.custom_objects import tables as custom_objects
from app.identity.letters import tables as letters
from app.identity.oauth import tables as oauth
from app.identity.proofs import tables as proofs
from app.identity.registration import tables as registration
from app.identity.sign_in import tables as sign_in
from app.identity.store.tables import metadata
from app.identity.tasks import tables as tasks
from app.identity.tenants import tables as tenants
from app.identity.tickets import tables as tickets
from app.identity.tokens import tables as tokens

__all__ = [
    "accounts", "captcha", "consent_forms", "credentials", "custom_objects", "letters", "metadata", "oauth", "proofs",
    "registration", "sign_in", "tasks", "tenants", "tickets", "tokens",
]  # fmt: skip
