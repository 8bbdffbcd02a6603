"""The recurrent word model, which proposes and scores, and the two-stage targets built on it."""
