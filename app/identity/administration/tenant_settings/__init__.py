"""Rules of a tenant's settings, forms, domains and themes as resources, in addition to their declarations."""
