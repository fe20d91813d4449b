"""End-to-end encrypted threads: MLS groups (RFC 9420), of which the server holds the order and never the keys.

Devices of people are leaves of a group. Devices, key packages, encrypted files and backups lie with the person; the
tree, the commits and the ciphertexts with the thread (docs/adr/0078). The front door is that of `tintype.direct`.
"""
