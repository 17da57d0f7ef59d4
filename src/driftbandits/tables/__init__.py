"""Files and frames as batches of columns: what `Bandit.fit` and `Log.read` read from.

`sources`      a path, a pattern, a folder or a frame as a list of sources
`frames`       frames of pandas, polars and Arrow
`columnar`     Parquet, Arrow and frames; `text_files` CSV and JSON lines
`arrow_types`  Arrow arrays as NumPy arrays
`kinds`        features of one kind: numbers, or categories
"""
