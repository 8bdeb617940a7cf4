"""Email: mailboxes with messages, threads, drafts, labels, filters, settings and keys."""
