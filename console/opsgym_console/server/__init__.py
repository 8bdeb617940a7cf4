"""The console: runs of a store or a cluster in a browser, live and read-only (`opsgym serve`)."""
