"""A tenant's own message templates: placeholders, permitted HTML, selection and rendering."""
