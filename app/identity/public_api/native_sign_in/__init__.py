"""Sign-in of apps by the credential that a provider's SDK returned."""
