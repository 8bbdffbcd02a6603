"""A text without its mistakes, and how sure each edit is; then the sample that agrees most with the others."""

import cgmh

text = "the train were late on monday. We waited for a hour."
result = cgmh.correct(text, chains=8)
print("typed:    ", text)
print("corrected:", result.best)
for edit in result.edits or ():
    print(f"  {edit.original!r} -> {edit.replacement!r}  {edit.probability:.2f}  {edit.kind}")
for edit in result.doubtful:
    print(f"  {edit.original!r} -> {edit.replacement!r}  {edit.probability:.2f}  {edit.kind}, not made")
print("consensus:", cgmh.correct(text, chains=8, select="consensus").best)
