"""The theme editor: a page by which people change a theme without writing templates. It saves drafts, and publishes none."""
