"""What people do on pages in several tests: sign up, enrol a factor, follow a link, accept an invitation."""
