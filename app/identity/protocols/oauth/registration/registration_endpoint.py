"""The registration endpoint, and the addresses of registrations."""

from __future__ import annotations

from app.contract.oauth import client_registration_operations
from app.identity.platform.context import Context
from app.identity.protocols.oauth.registration import client_registration
from app.kit.operations.wire import NoContent


@client_registration_operations.register.implements
def register(
    context: Context, req: client_registration_operations.RegistrationRequest
) -> client_registration_operations.NewRegistrationResponse:
    return client_registration.register(context, req.app, req.model_extra or {})


@client_registration_operations.read.implements
def read(
    context: Context, req: client_registration_operations.RegistrationAddress
) -> client_registration_operations.RegistrationResponse:
    return client_registration.read(context, req.registration)


@client_registration_operations.replace.implements
def replace(
    context: Context, req: client_registration_operations.RegistrationChange
) -> client_registration_operations.RegistrationResponse:
    return client_registration.replace(context, req.registration, req.model_extra or {})


@client_registration_operations.remove.implements
def remove(context: Context, req: client_registration_operations.RegistrationAddress) -> NoContent:
    client_registration.remove(context, req.registration)
    return NoContent()
