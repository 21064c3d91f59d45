"""The errors of the interface, one class each; messages are the interface's, because clients match on them."""

# ruff: noqa: F403 - one name space, so that each error is declared once

from app.contract.accounts.errors import *
from app.contract.applications.errors import *
from app.contract.consents.errors import *
from app.contract.custom_objects.errors import *
from app.contract.federation.errors import *
from app.contract.images.errors import *
from app.contract.jwt.errors import *
from app.contract.messages.errors import *
from app.contract.organizations.errors import *
from app.contract.passkeys.errors import *
from app.contract.passwordless.errors import *
from app.contract.pins.errors import *
from app.contract.recovery.errors import *
from app.contract.registration.errors import *
from app.contract.request_errors import *
from app.contract.roles.errors import *
from app.contract.saml.errors import *
from app.contract.scim.errors import *
from app.contract.second_factors.errors import *
from app.contract.sessions.errors import *
from app.contract.sign_in.errors import *
from app.contract.storefronts.errors import *
from app.contract.tenants.errors import *
from app.contract.verification.errors import *
from app.contract.webhooks.errors import *
from app.contract.workflows.errors import *
