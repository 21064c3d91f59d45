"""Rules of clients, identity providers and storefronts as resources, in addition to their declarations."""
