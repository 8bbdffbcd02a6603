"""What holds for every test."""

import os
import tempfile

from hypothesis import settings

# One thread in each process, set before torch is loaded; subprocesses inherit it. Parallel workers share the cores.
os.environ["OMP_NUM_THREADS"] = "1"

# A model that the user pulled must not change what a test sees: the store is an empty directory of its own.
os.environ["CGMH_HOME"] = tempfile.mkdtemp(prefix="cgmh-tests-")

# The same examples on every run, so that a change is judged by what it changed. `--hypothesis-profile hunt` looks
# for new ones; what it finds becomes a test of its own.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("hunt", derandomize=False, max_examples=500, deadline=None)
settings.load_profile("repeatable")
