"""Credentials of accounts: second factors, passkeys, and the devices that hold them."""
