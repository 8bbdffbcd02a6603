.PHONY: check mutants format clean

check: ## everything CI checks: lint, format, types, tests
	bash .ci/check

mutants: ## small mistakes in the source, each of which a named test must catch; a few minutes
	python recipes/mutants.py

format:
	python -m ruff check --fix .
	python -m ruff format .

clean:
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .venv-ci
