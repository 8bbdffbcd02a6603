.PHONY: check format clean

check: ## everything CI checks: lint, format, types, tests
	bash .ci/check

format:
	python -m ruff check --fix .
	python -m ruff format .

clean:
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .venv-ci
