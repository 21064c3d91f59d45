"""The API reference on the API host: /openapi.json, and /docs drawn from it on the server, without a script."""

from app.reference.pages import Reference

__all__ = ["Reference"]
