r"""One engine for every learner that finds out how fast to forget.

The model is linear, with effects that all items share and effects of each item alone,

    y = φᵀθ + ψᵀu_i + ε ,   θ ~ N(0, σ²Λ⁻¹) ,  u_i ~ N(0, σ²K⁻¹) ,

and is kept for several *memories*, each of which weighs an observation by its age. All that is kept are weighted sums; sums do not depend
on the order in which rewards arrive, so that late rewards and rewards taken back are exact in every memory.

`sums`        the state: sums of every memory, and what is derived from them; four memories share a register (`core.lanes`)
`by_memory`   the same memory by memory, for readers outside of compiled code
`columns`     raw features as columns φ and ψ; the prior in raw coordinates
`regression`  learning one observation; sums to estimates
`forecasting` what memories expect of an item
`explained`   what an item's own effect explains of the shared sums
`levels`      categories of many levels: the table of their cells; `cells` is what these say and learn
`steady`      learning where nothing fades, in O(p²)
`evidence`    which memory forecasts best; which one is refuted
`choice`      the law of the choice, exactly, and a draw from it; `envelope` is its geometry
`duel`        the static voice against the adaptive one, judged by rewards
`tuning`      prior variances of the static voice by marginal likelihood
`steps`       decide, learn, move the prior: what both learners call; `entries` are the same as Python calls them
"""
