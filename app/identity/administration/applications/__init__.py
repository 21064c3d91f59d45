"""Rules of clients, identity providers and storefronts as resources, beside what their declarations say."""
