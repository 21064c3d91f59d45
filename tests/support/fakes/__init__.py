"""Services of others with behaviour: providers, gateways, and servers of mail and DNS."""
