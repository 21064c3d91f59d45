"""The account's credentials, second factors, sessions and alerts."""
