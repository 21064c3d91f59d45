"""Rules of a tenant's settings, forms, domains and themes as resources, beside what their declarations say."""
