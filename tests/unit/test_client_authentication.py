"""The table of methods of client authentication."""

from typing import get_args

from app.contract.client_authentication import ALGORITHMS_OF, AssertionAlg, AuthMethod
from app.identity.protocols.oauth.client_authentication.registry import METHODS, metadata


def test_every_registrable_method_is_served() -> None:
    """Settings, managed clients, the configuration file and the metadata name the same methods (RFC 8414 section 2)."""
    assert set(METHODS) == set(get_args(AuthMethod)) == set(metadata()["token_endpoint_auth_methods_supported"])
    assert [one.name for one in METHODS.values()] == list(METHODS)


def test_every_registrable_algorithm_is_served() -> None:
    assert {name: set(one.algorithms) for name, one in METHODS.items() if one.algorithms} == ALGORITHMS_OF
    assert set(get_args(AssertionAlg)) == set(metadata()["token_endpoint_auth_signing_alg_values_supported"])


def test_public_clients_are_not_offered_introspection() -> None:
    """RFC 7662 section 2.1."""
    members = metadata()
    assert set(METHODS) - set(members["introspection_endpoint_auth_methods_supported"]) == {"none"}
    assert members["revocation_endpoint_auth_methods_supported"] == list(METHODS)
