"""Search for exact equations: structure, rounding and choice under one code length.

Read in this order: `lattice` (which exponents, at what cost), `criterion` (the code length of the data), `rows` and
`model` (what is fitted), `dictionary`, `exchange`, `pairs` (discrete search), `varpro`, `snap`, `continuous`
(continuous search, rounding of exponents), `numbers` and `law` (rounding of coefficients), `ranking` (the last word),
`search` and `discover` (the orchestration), `fitted`, `report` (the outcome).
"""
