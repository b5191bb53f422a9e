"""The OpenAI dialect: chat completions, completions, embeddings, models.

Source: OpenAI's API reference and openai-openapi as of 2026-08; engines' deviations as recorded
from vLLM, llama.cpp, transformers serve and others.
"""

from .dialect import OpenAI

__all__ = ["OpenAI"]
