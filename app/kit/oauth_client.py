"""Authlib's client, over httpx: for whoever of us is a relying party."""

from __future__ import annotations

import warnings

from authlib.deprecate import AuthlibDeprecationWarning
from authlib.integrations.base_client import OAuthError

with warnings.catch_warnings():  # Authlib would rather have the successor of httpx, which is not among our parts
    warnings.simplefilter("ignore", AuthlibDeprecationWarning)
    from authlib.integrations.httpx_client import OAuth2Client

__all__ = ["OAuth2Client", "OAuthError"]
