"""The API reference on the API host: /openapi.json, and /docs rendered from it on the server, without JavaScript."""

from app.reference.pages import Reference

__all__ = ["Reference"]
