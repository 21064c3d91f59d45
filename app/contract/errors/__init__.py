"""The errors of the interface, one class each; messages are the interface's, because clients match on them."""

# ruff: noqa: F403 - one name space, so that each error is declared once

from app.contract.errors.accounts import *
from app.contract.errors.consents import *
from app.contract.errors.custom_objects import *
from app.contract.errors.federation import *
from app.contract.errors.message_templates import *
from app.contract.errors.one_time_tokens import *
from app.contract.errors.organizations import *
from app.contract.errors.passkeys import *
from app.contract.errors.passwordless import *
from app.contract.errors.passwords import *
from app.contract.errors.registration import *
from app.contract.errors.requests import *
from app.contract.errors.roles import *
from app.contract.errors.second_factors import *
from app.contract.errors.self_service import *
from app.contract.errors.sign_in import *
from app.contract.errors.storefronts import *
