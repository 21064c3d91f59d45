"""Handlers of the registration endpoint and of registrations."""

from __future__ import annotations

from app.contract.oauth import registration as contract
from app.identity.platform.context import Context
from app.identity.protocols.oauth.registration import service
from app.kit.operations.wire import NoContent


@contract.register.implements
def register(context: Context, req: contract.RegistrationRequest) -> contract.NewRegistrationResponse:
    return service.register(context, req.app, req.model_extra or {})


@contract.read.implements
def read(context: Context, req: contract.RegistrationAddress) -> contract.RegistrationResponse:
    return service.read(context, req.registration)


@contract.replace.implements
def replace(context: Context, req: contract.RegistrationChange) -> contract.RegistrationResponse:
    return service.replace(context, req.registration, req.model_extra or {})


@contract.remove.implements
def remove(context: Context, req: contract.RegistrationAddress) -> NoContent:
    service.remove(context, req.registration)
    return NoContent()
