"""Imports every module that implements operations (`@operation.implements`); the server refuses to start if one is missing."""

# ruff: noqa: F401 - importing them is the purpose
import app.identity.administration.access_settings
import app.identity.administration.handlers
import app.identity.administration.jwt_apps
import app.identity.administration.second_factor_settings
import app.identity.administration.security_settings
import app.identity.authentication.federation.token_handoff
import app.identity.authentication.passwordless.handlers
import app.identity.authentication.passwordless.smart_login_handlers
import app.identity.authentication.recovery.handlers
import app.identity.authentication.recovery.pin_handlers
import app.identity.authentication.registration.handlers
import app.identity.authentication.sign_in.email_verification
import app.identity.authentication.sign_in.handlers
import app.identity.authentication.sign_in.passkeys.recovery
import app.identity.authentication.sign_in.passkeys.registration
import app.identity.authentication.sign_in.passkeys.second_factor
import app.identity.authentication.sign_in.passkeys.sign_in
import app.identity.authentication.sign_in.password_change
import app.identity.authentication.sign_in.password_reset
import app.identity.authentication.sign_in.phone_verification
import app.identity.authentication.sign_in.pin_handlers
import app.identity.authentication.sign_in.second_factors.handlers
import app.identity.authentication.sign_in.second_factors.push
import app.identity.authentication.sign_in.second_factors.sent_codes
import app.identity.authentication.verification.handlers
import app.identity.authentication.verification.phone_handlers
import app.identity.credentials.tokens.handlers
import app.identity.directory.accounts.handlers
import app.identity.directory.consents.handlers
import app.identity.directory.custom_objects.handlers
import app.identity.hosted.account_data
import app.identity.hosted.account_factors
import app.identity.hosted.account_identifiers
import app.identity.hosted.account_identities
import app.identity.hosted.account_security
import app.identity.hosted.account_settings
import app.identity.hosted.change_identifier
import app.identity.hosted.confirmation
import app.identity.hosted.consents
import app.identity.hosted.federated_login
import app.identity.hosted.handlers
import app.identity.hosted.passkeys
import app.identity.hosted.passwordless
import app.identity.hosted.passwordless_links
import app.identity.hosted.pins
import app.identity.hosted.recovery
import app.identity.hosted.registration
import app.identity.hosted.second_factor
import app.identity.hosted.security_alerts
import app.identity.hosted.verification
import app.identity.messaging.handlers
import app.identity.messaging.template_rules
import app.identity.programs.management.generated_tokens
import app.identity.programs.management.handlers
import app.identity.programs.management.second_factors
import app.identity.programs.self_service.handlers
import app.identity.programs.self_service.identities
import app.identity.programs.self_service.passkeys
import app.identity.programs.self_service.second_factors
import app.identity.programs.self_service.sent_factors
import app.identity.programs.self_service.step_up
import app.identity.protocols.oauth.handlers
from app.identity.administration.resources.handlers import implement_all

implement_all()
