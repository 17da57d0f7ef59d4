"""Logs and batches at the speed of arrays: the same learning as row by row, by columns.

A source becomes `blocks` of columns, without a Python loop over rows. Rows that show something new (an item, a feature, a category, a
number that is missing for the first time) go through the calls that single rows go through; `stretches` finds the rows between them, for
which one compiled call does the same. `fit`, `decide` and `reward` are the three callers.
"""
