"""Authlib's OAuth client over httpx, without its deprecation warning."""

from __future__ import annotations

import warnings

from authlib.common.errors import AuthlibBaseError
from authlib.deprecate import AuthlibDeprecationWarning
from authlib.integrations.base_client import OAuthError

with warnings.catch_warnings():  # Authlib prefers the successor of httpx, which is not a dependency
    warnings.simplefilter("ignore", AuthlibDeprecationWarning)
    from authlib.integrations.httpx_client import OAuth2Client

__all__ = ["AuthlibBaseError", "OAuth2Client", "OAuthError"]
