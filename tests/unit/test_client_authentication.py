"""The table of methods of client authentication."""

from typing import get_args

from app.contract.client_authentication import AuthMethod
from app.identity.protocols.oauth.client_authentication.registry import METHODS, supported


def test_every_registrable_method_is_served() -> None:
    """Settings, managed clients, the configuration file and the metadata name the same methods."""
    assert set(METHODS) == set(get_args(AuthMethod)) == set(supported())
    assert [one.name for one in METHODS.values()] == list(METHODS)
