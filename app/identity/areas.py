"""The areas whose operations are served."""

from app.identity.accounts import handlers as accounts
from app.identity.connections import handlers as connections
from app.identity.consent_forms import handlers as consent_forms
from app.identity.custom_objects import handlers as custom_objects
from app.identity.journeys import handlers as journeys
from app.identity.letters import handlers as letters
from app.identity.management import brought
from app.identity.management import handlers as management
from app.identity.oauth import handlers as oauth
from app.identity.passwordless import handlers as passwordless
from app.identity.recovery import handlers as recovery
from app.identity.recovery import pins as forgotten_pins
from app.identity.registration import handlers as registration
from app.identity.self_service import handlers as self_service
from app.identity.sign_in import handlers as sign_in
from app.identity.tenants import handlers as tenants
from app.identity.tokens import handlers as tokens
from app.identity.verification import handlers as verification

AREAS = (
    journeys, oauth, management, brought, self_service, custom_objects, consent_forms, passwordless, sign_in, connections,
    registration, recovery, forgotten_pins, verification, letters, accounts, tokens, tenants,
)  # fmt: skip
