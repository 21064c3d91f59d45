"""Endpoints of the hub that are not pages: protocol endpoints, federation, legacy addresses."""
