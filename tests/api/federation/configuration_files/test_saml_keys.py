"""Each key of a SAML client and of a SAML provider in a configuration file has a test, or waits for sign-ins by SAML."""

from __future__ import annotations

from app.contract.saml.saml_operations import CLIENTS, PROVIDERS
from app.kit.resources.resource_models import file_model
from tests.support.operations.cited_tests import undefined

_FILES = "api/saml/test_configuration_files.py"
TESTED = {
    "saml_clients.app_name": (_FILES, "test_certificates_are_generated_once"),
    "saml_clients.idp_certificate": (_FILES, "test_key_pair_of_a_file_replaces_the_present_one"),
    "saml_clients.integration_configs": (_FILES, "test_certificates_are_generated_once"),
    "saml_clients.key": (_FILES, "test_key_pair_of_a_file_replaces_the_present_one"),
    "saml_clients.sp_certificates": (
        "pages/saml/test_service_provider_certificates.py",
        "test_each_certificate_verifies_requests",
    ),
    "saml_providers.provider": (_FILES, "test_certificates_are_generated_once"),
    "saml_providers.domain": (_FILES, "test_domain_of_a_stored_provider_is_refused"),
}
WAITING = {
    *(f"saml_clients.{name}" for name in (
        "after_logout_url", "artifact_receiver", "assertion_consumer_service", "attributes", "audiences", "default_request_binding",
        "encrypt_assertion", "is_active", "sign_assertion", "sign_response",
        "integration_type", "is_idp_initiated", "issuer_url", "login_url", "name_id_format", "not_on_or_after", "relay_state_parameter",
        "reply_url", "saml_version", "sp_certificate", "sp_logout_url",
    )),
    *(f"saml_providers.{name}" for name in (
        "data_map", "default_logout_url", "enable_auto_look_up", "friendly_provider_name", "identity_provider", "idp_certificate",
        "is_active", "is_idp_initiated", "key", "list_in_interface", "relay_state_parameter",
    )),
}  # fmt: skip
"""Keys that act at a sign-in by SAML alone. A key with a test moves to `TESTED`."""


def test_every_key_of_saml_has_a_test_or_waits() -> None:
    keys = {f"{item.file_key}.{name}" for item in (CLIENTS, PROVIDERS) for name in file_model(item).model_fields}
    assert keys - TESTED.keys() == WAITING
    assert undefined(TESTED.values()) == []
