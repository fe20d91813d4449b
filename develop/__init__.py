"""Commands for those who work on Tintype: test, check, bench, lock. They need a checkout and are not shipped."""
