"""`cgmh run`: one task for every row of a file, on all cores or a cluster, so that nothing is lost when it is stopped.

A row is answered as it would be alone: its result depends on the seed of the job and on the row's id. So it does not
matter which process works on it, beside which others, in which order, or after how many restarts.
"""
