"""Imports every module with rules of a resource, which a configuration file must keep as a request must."""

# ruff: noqa: F401 - importing them is the purpose
import app.identity.administration.access_settings
import app.identity.administration.captcha_settings
import app.identity.administration.consent_forms
import app.identity.administration.custom_domains
import app.identity.administration.custom_object_types
import app.identity.administration.initial_access_tokens
import app.identity.administration.jwt_apps
import app.identity.administration.oauth_clients
import app.identity.administration.providers
import app.identity.administration.registration_schema
import app.identity.administration.saml_apps
import app.identity.administration.second_factor_settings
import app.identity.administration.security_settings
import app.identity.administration.storefronts
import app.identity.administration.themes
import app.identity.authentication.registration.sott_rules
import app.identity.messaging.template_rules
