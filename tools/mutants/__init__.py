"""What `tools/mutate.py` is made of.

changes.py    what is changed, and where: the sites of a file
swap.py       making a change in a process that has imported the package: the code of functions is replaced
reach.py      which tests reach which lines, recorded once
judge.py      one fork for each mutant: only the tests that reach it run, with a limit of time
judged.py     survivors that somebody has looked at, and why no test can notice them (judged.toml)
"""
