"""The table of methods of client authentication."""

from typing import get_args

from app.contract.applications.client_authentication import ALGORITHMS_OF, AssertionAlg, AuthMethod
from app.identity.protocols.oauth.client_authentication.authentication_methods import METHODS, metadata, served
from app.settings import Settings


def test_every_registrable_method_is_served() -> None:
    """Settings, managed clients, the configuration file and the metadata name the same methods (RFC 8414 section 2)."""
    assert (
        set(METHODS)
        == set(get_args(AuthMethod))
        == set(metadata(list(METHODS))["token_endpoint_auth_methods_supported"])
    )
    assert [method.name for method in METHODS.values()] == list(METHODS)


def test_every_registrable_algorithm_is_served() -> None:
    assert {name: set(method.algorithms) for name, method in METHODS.items() if method.algorithms} == ALGORITHMS_OF
    assert set(get_args(AssertionAlg)) == set(
        metadata(list(METHODS))["token_endpoint_auth_signing_alg_values_supported"]
    )


def test_public_clients_are_not_offered_introspection() -> None:
    """RFC 7662 section 2.1."""
    members = metadata(list(METHODS))
    assert set(METHODS) - set(members["introspection_endpoint_auth_methods_supported"]) == {"none"}
    assert members["revocation_endpoint_auth_methods_supported"] == list(METHODS)


def test_certificates_are_offered_only_where_a_proxy_sends_them() -> None:
    """RFC 8705 section 2: `tls_client_auth` also needs a proxy that verifies the chain."""
    with_header = Settings(client_certificate_header="Client-Cert", trusted_proxies=("10.0.0.1",))
    both = Settings(
        client_certificate_header="X-Cert", client_verification_header="X-Verify", trusted_proxies=("10.0.0.1",)
    )
    assert set(METHODS) - set(served(Settings())) == {"tls_client_auth", "self_signed_tls_client_auth"}
    assert set(METHODS) - set(served(with_header)) == {"tls_client_auth"}
    assert list(served(both)) == list(METHODS)
