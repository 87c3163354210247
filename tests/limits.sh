# What the rule in tests/README.md needs in numbers; sourced by the scripts that apply it.

# The largest pictures, in pixels, of checks under AddressSanitizer and UndefinedBehaviorSanitizer, and of the ones that are
# emulated by qemu. Still among them: 1x1, single rows and columns, 33x31 and 31x33 (several tiles of 16 or 32 both ways,
# none of them full at the border), 300x5 and 5x300 (several tiles or vectors of 128 along either side).
small_pixels=1500

# The largest pictures that a mutant is tried with first in the normal build: most sizes of check_cases.c.
middle_pixels=10000

# Of patterns, settings, values, hard cases and large pictures an emulated version tries one in so many, the next ones of its
# ladder the others; of all cases a peer in Python, which starts anew for each, one in so many.
emulated_share=6
# The same under the sanitizers: accesses outside of a buffer hang on shapes, which all are tried.
sanitized_share=8

# Processor seconds that `rungs check` may take for each version of a ladder, in the normal build and under the sanitizers. A
# ladder over its budget is named at the end, and fails nothing. BUDGET=3 in the environment scales both, for slow machines.
budget_normal=2 budget_asan=2
