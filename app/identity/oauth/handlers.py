"""The back channel's operations."""

from __future__ import annotations

from app.contract import oauth_metadata as metadata_contract
from app.contract import oauth_tokens as contract
from app.contract.errors_oauth import InvalidClient
from app.identity.call import Call
from app.identity.oauth import grants, introspection, issuers, machines, metadata, rates, userinfo
from app.identity.tenants.tenant import Application
from app.kit.server import Server
from app.kit.wire import Document


def register(server: Server) -> None:
    """Implement the back channel."""
    server.implements(contract.token)(token)
    server.implements(contract.token_with_key)(token)
    server.implements(contract.introspect)(introspect)
    server.implements(contract.revoke)(revoke)
    server.implements(contract.machine_token)(machine_token)
    server.implements(contract.introspect_machine)(introspect)
    server.implements(contract.revoke_machine)(revoke_machine)
    server.implements(metadata_contract.discovery)(read_metadata)
    server.implements(metadata_contract.authorization_server)(read_metadata)
    server.implements(metadata_contract.jwks)(read_keys)
    server.implements(metadata_contract.userinfo)(read_userinfo)


def token(call: Call, req: contract.TokenRequest) -> contract.TokenAnswer:
    client = _client(call)
    call.house.keyring.of(
        call.work
    )  # a tenant's first key is made in a transaction of its own, before anything is written
    return grants.exchange(call, client, issuers.at(call, client), req)


def introspect(call: Call, req: contract.IntrospectionRequest) -> contract.IntrospectionAnswer:
    return introspection.introspect(call, _client(call), req)


def revoke(call: Call, req: contract.RevocationRequest) -> Document:
    introspection.revoke(call, _client(call), req)
    return Document(b"", media_type="")


def machine_token(call: Call, req: contract.MachineTokenRequest) -> contract.TokenAnswer:
    client = _client(call)
    call.house.keyring.of(call.work)
    return machines.issue(call, client, req)


def revoke_machine(call: Call, req: contract.RevocationRequest) -> contract.Revoked:
    introspection.revoke(call, _client(call), req)
    return contract.Revoked()


def read_metadata(call: Call, req: metadata_contract.OfIssuer) -> Document:
    return metadata.document(metadata.issuer_at(call, req.app))


def read_keys(call: Call, req: metadata_contract.OfIssuer) -> Document:
    metadata.issuer_at(call, req.app)
    return metadata.key_set(call)


def read_userinfo(call: Call, req: metadata_contract.OfIssuer) -> metadata_contract.UserinfoAnswer | Document:
    return userinfo.read(call, req.app)


def _client(call: Call) -> Application:
    """Return the client that the border admitted, after it paid for the request."""
    if call.client is None:
        raise InvalidClient
    rates.spend_for_client(call, call.client)
    return call.client
