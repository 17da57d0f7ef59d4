"""The foundation of all compiled code: parts and open functions, the compiler and its cache, linear algebra, states.

=====================  ======================================================================================
kernel                 open functions that dispatch on the type of a part; kernels, solvers, entries
parts                  the four kinds of parts as base classes: `Memory`, `Model`, `Radius`, `Rule`
part_json              a strategy as JSON, and back
registry               every part, and every file outside this package whose code may be compiled
rooms                  which folders of this package hold compiled code, and which decide results
code_cache             compiled code on disk
background_compile     runs code interpreted while another process compiles it
numba_private          every private interface of numba and LLVM that is used, in one place
simd4, linalg, ball    SIMD vectors of four numbers; small dense linear algebra; minimisation over a ball
state, frozen_array    trees of arrays that kernels mutate; read-only arrays that may be fields of a part
atomic                 state changes that an interrupt cannot leave half done
checks, ties           validation of arms and numbers before compiled code reads them; random tie-breaking
=====================  ======================================================================================
"""
