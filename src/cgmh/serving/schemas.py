"""What answers look like, for the OpenAPI document."""

from typing import Any

_NUMBER = {"type": ["number", "null"]}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_EDITS = {"type": "array", "items": {"$ref": "#/components/schemas/Edit"}}
SCHEMAS: dict[str, Any] = {
    "Problem": {
        "type": "object",
        "description": "RFC 9457.",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string", "description": "What is wrong, and what to do."},
            "errors": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["field", "detail"],
                    "properties": {"field": {"type": "string"}, "detail": {"type": "string"}},
                },
            },
        },
        "examples": [
            {
                "type": "urn:cgmh:problem:invalid-field",
                "title": "Invalid field",
                "status": 422,
                "detail": "chains: 1000 is more than this server allows: at most 256",
                "errors": [{"field": "chains", "detail": "1000 is more than this server allows: at most 256"}],
            }
        ],
    },
    "Edit": {
        "type": "object",
        "description": "`replacement` stands in place of the characters from `start` to `end` (code points, from 0).",
        "required": ["start", "end", "original", "replacement", "kind", "probability"],
        "properties": {
            "start": {"type": "integer"},
            "end": {"type": "integer"},
            "original": {"type": "string"},
            "replacement": {"type": "string"},
            "kind": {"type": "string", "description": "Of mistake: spelling, agreement, tense, …"},
            "probability": {"type": "number"},
        },
        "examples": [
            {"start": 4, "end": 8, "original": "have", "replacement": "has", "kind": "agreement", "probability": 0.98}
        ],
    },
    "Sentence": {
        "type": "object",
        "required": ["text", "words", "nll_per_word", "log_target"],
        "properties": {"text": {"type": "string"}, "words": _TEXTS, "nll_per_word": _NUMBER, "log_target": _NUMBER},
    },
    "Answer": {
        "type": "object",
        "description": "What `cgmh … --json` prints for an input; a correction has edits, a paraphrase figures.",
        "required": ["input", "results", "acceptance", "signature"],
        "properties": {
            "input": {"type": "string"},
            "results": {"type": "array", "items": {"$ref": "#/components/schemas/Sentence"}},
            "edits": {**_EDITS, "description": "Those that were made."},
            "doubtful": {**_EDITS, "description": "Those that too few samples make."},
            "protected": _TEXTS,
            "keywords": _TEXTS,
            "acceptance": {"type": "object", "description": "The share of steps accepted, by move."},
            "signature": {"type": "string", "description": "How the answer came about, in one line."},
        },
    },
    "Refused": {
        "type": "object",
        "description": "What stands in place of the answer to an input that cannot be answered.",
        "required": ["input", "error"],
        "properties": {"input": {"type": "string"}, "error": {"type": "string"}},
    },
    "Answers": {
        "type": "object",
        "description": "The answers to several inputs, in their order.",
        "required": ["answers"],
        "properties": {
            "answers": {
                "type": "array",
                "items": {"anyOf": [{"$ref": "#/components/schemas/Answer"}, {"$ref": "#/components/schemas/Refused"}]},
            }
        },
    },
    "Run": {
        "type": "object",
        "required": ["id", "status", "last_event", "events"],
        "properties": {
            "id": {"type": "string"},
            "status": {"enum": ["running", "ended", "failed", "cancelled"]},
            "last_event": {"type": "integer"},
            "events": {"type": "string", "description": "The path of its events."},
        },
    },
    "Fills": {
        "type": "object",
        "description": "The word that stands there, and others: each with its probability in a replacement there.",
        "required": ["start", "end", "word", "probability", "fills"],
        "properties": {
            "start": {"type": "integer"},
            "end": {"type": "integer"},
            "word": {"type": "string"},
            "probability": {"type": "number"},
            "fills": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["word", "probability", "text"],
                    "properties": {
                        "word": {"type": "string"},
                        "probability": {"type": "number"},
                        "text": {"type": "string", "description": "The text with this word."},
                    },
                },
            },
        },
    },
    "Facts": {
        "type": "object",
        "required": ["words"],
        "properties": {
            "words": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["start", "end", "kind"],
                    "properties": {
                        "start": {"type": "integer"},
                        "end": {"type": "integer"},
                        "kind": {
                            "type": ["string", "null"],
                            "description": "numbers, negation, names, quotes; places: of a fact; keep; keyword.",
                        },
                    },
                },
            }
        },
    },
    "Known": {
        "type": "object",
        "required": ["keywords"],
        "properties": {
            "keywords": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["keyword", "unknown"],
                    "properties": {
                        "keyword": {"type": "string"},
                        "unknown": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "required": ["word", "meant"],
                                "properties": {
                                    "word": {"type": "string"},
                                    "meant": {
                                        **_TEXTS,
                                        "description": "What it may be meant to be, likely ones first.",
                                    },
                                },
                            },
                        },
                    },
                },
            }
        },
    },
    "Models": {
        "type": "object",
        "required": ["models", "open"],
        "properties": {
            "models": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name", "kind"],
                    "properties": {
                        "name": {"type": "string"},
                        "kind": {"enum": ["embedded", "installed"]},
                    },
                },
            },
            "open": {**_TEXTS, "description": "Those in memory, as signatures name them."},
        },
    },
}
