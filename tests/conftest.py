"""What holds for every test."""

import os
import tempfile

# A model that the user pulled must not change what a test sees: the store is an empty directory of its own.
os.environ["CGMH_HOME"] = tempfile.mkdtemp(prefix="cgmh-tests-")
