"""Peers: the same work done in the usual way, to be measured beside ours."""
