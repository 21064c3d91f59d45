"""Sessions, and access and refresh tokens outside OAuth."""
