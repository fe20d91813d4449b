"""Storage: the object stores, the tiers media move between, and the sweep that compares rows with files."""
