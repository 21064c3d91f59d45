"""Provisioning by SCIM 2.0 (RFC 7643, RFC 7644): what identity providers call, and how servers set it up."""
