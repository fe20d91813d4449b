"""What every room stands on: settings, errors, ids, events, the outbox and the log."""
