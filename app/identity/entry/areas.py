"""The areas whose operations are served."""

from app.identity.administration import handlers as tenants
from app.identity.authentication.federation import handlers as connections
from app.identity.authentication.passwordless import handlers as passwordless
from app.identity.authentication.recovery import handlers as recovery
from app.identity.authentication.recovery import pin_handlers as forgotten_pins
from app.identity.authentication.registration import handlers as registration
from app.identity.authentication.sign_in import handlers as sign_in
from app.identity.authentication.verification import handlers as verification
from app.identity.credentials.tokens import handlers as tokens
from app.identity.directory.accounts import handlers as accounts
from app.identity.directory.consents import handlers as consent_forms
from app.identity.directory.custom_objects import handlers as custom_objects
from app.identity.hosted import handlers as journeys
from app.identity.messaging import handlers as messaging
from app.identity.programs.management import handlers as management
from app.identity.programs.management import presented_tokens
from app.identity.programs.self_service import handlers as self_service
from app.identity.protocols.oauth import handlers as oauth

AREAS = (
    journeys, oauth, management, presented_tokens, self_service, custom_objects, consent_forms, passwordless, sign_in, connections,
    registration, recovery, forgotten_pins, verification, messaging, accounts, tokens, tenants,
)  # fmt: skip
