"""Rows: merged, in blocks, packed, sampled and streamed."""
