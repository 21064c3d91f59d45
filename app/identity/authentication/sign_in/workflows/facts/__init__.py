"""What is known of a sign-in, for conditions and for trying a workflow on past sign-ins."""
