"""Key sets and metadata of tenants, kept until the tenant's version or its keys change (decisions/0277)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from wsgiref.types import WSGIApplication

from app.contract import oauth_metadata as contract
from app.identity.platform.services import Services
from app.kit.kept_answers import Asked, Headers, KeptAnswers, Ready
from app.kit.operation import AnyOperation


def _addresses(*operations: AnyOperation) -> frozenset[str]:
    """Return the addresses that name no application: one that registered itself changes without a new version of its tenant."""
    return frozenset(path for one in operations for _, path in one.addresses() if "{" not in path)


KEY_SETS: Final = _addresses(contract.jwks)
PATHS: Final = KEY_SETS | _addresses(contract.discovery, contract.authorization_server)
_ANSWERED_OTHERWISE: Final = ("HTTP_AUTHORIZATION", "CONTENT_LENGTH")
_KEYS: Final = ("APIKEY", "APISECRET")


class KeptDocuments(KeptAnswers[Ready]):
    """Keeps the answers to requests without credentials; pages of any origin get the same."""

    def __init__(self, app: WSGIApplication, services: Services) -> None:
        super().__init__(app)
        self._services = services

    def asked(self, environ: Mapping[str, Any]) -> Asked | None:
        path = environ["PATH_INFO"]
        if path not in PATHS or environ["QUERY_STRING"] or _is_answered_otherwise(environ):
            return None
        host = environ.get("HTTP_HOST", "").lower()
        tenant = self._services.directory.fresh(self._services.settings.without_mtls(host))
        state: tuple[object, ...] = (tenant,)
        if tenant is not None and path in KEY_SETS:
            state = (tenant, self._services.signing_keys.held(tenant.tenant_id))
        return None if None in state else Asked((environ["wsgi.url_scheme"], host, path), state)

    def kept(self, environ: Mapping[str, Any], headers: Headers, body: Iterable[bytes]) -> Ready | None:
        del environ
        return Ready(headers, b"".join(body)) if isinstance(body, list) else None

    def filled(self, answer: Ready, asked: Asked) -> Ready:
        del asked
        return answer


def _is_answered_otherwise(environ: Mapping[str, Any]) -> bool:
    if any(name in environ for name in _ANSWERED_OTHERWISE):
        return True
    return any(name.endswith(_KEYS) for name in environ)
