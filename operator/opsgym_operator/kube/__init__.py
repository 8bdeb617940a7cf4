"""Access to the API server: cache of watched objects, writes, events, kopf settings."""
