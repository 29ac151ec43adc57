"""All benchmarks of a step, one after another.

python benchmarks/steps.py [--rounds 21] [--threads 1]
"""

from __future__ import annotations

import attention
import counter
import decay
import row_store
import two_buffers
from harness import main

PROGRAMS = (counter, row_store, two_buffers, decay, attention)

if __name__ == "__main__":
    main(lambda threads: [make for program in PROGRAMS for make in program.cases(threads)], __doc__)
