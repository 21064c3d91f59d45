"""Applications (relying parties): their settings, their entry in the configuration file, and the management of OAuth clients."""
