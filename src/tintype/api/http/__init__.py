"""The HTTP toolkit: authentication, parameters, cursors, ETags, errors, headers; nothing here knows a room's routes."""
