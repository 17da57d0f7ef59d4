"""What is compiled, and how: parts and open functions, the compiler and its cache, linear algebra, states.

=====================  ======================================================================================
kernel                 open functions that dispatch on the type of a part; kernels, solvers, entries
parts                  the four kinds of parts as base classes: `Memory`, `Model`, `Radius`, `Rule`
part_json              a strategy as JSON, and back
registry               every part, and every file outside this package whose code may be compiled
rooms                  which folders of this package hold compiled code, and which decide results
code_cache             compiled code on disk
background_compile     interpreted decisions while another process compiles
numba_private          all that is used of numba and LLVM beyond their documentation
simd4, linalg, ball    four numbers at a time; small dense linear algebra; maximisation over a ball
state, frozen_array    trees of arrays that kernels change; arrays that may be fields of a part
checks, ties           checks of arms and numbers before compiled code reads them; which of equal scores is taken
=====================  ======================================================================================
"""
