"""Benchmarks: each module answers one question, runs ours and the peer interleaved, and prints ratios with spread.

`python -m bench.ids` runs one; `--quick` makes it shorter and noisier, `--json` ends it with one line of JSON.
"""
