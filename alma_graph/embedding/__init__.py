"""Text to vectors. Importing this loads no model and no model runtime."""

from __future__ import annotations

from alma_graph.embedding.chunking import ChunkSpan, chunk_text
from alma_graph.embedding.encoding import Chunk, Encoded, Encoder
from alma_graph.embedding.factory import DEFAULT_EMBEDDER, KNOWN_NAMES, create_embedder
from alma_graph.embedding.hashing import HashingEmbedder
from alma_graph.embedding.minilm import MiniLmEmbedder
from alma_graph.embedding.onnx_encoder import OnnxEmbedder
from alma_graph.embedding.protocol import Embedder, SpanTokenizer, TokenEmbedder, TokenVectors, revision_of
from alma_graph.embedding.sentence_transformers import SentenceTransformersEmbedder
from alma_graph.embedding.token_vectors import TOKEN_DIMENSION, TOKEN_SCALE, pack_tokens, unpack_tokens
from alma_graph.embedding.weights import fetch_models, find_weights

__all__ = [
    "DEFAULT_EMBEDDER",
    "KNOWN_NAMES",
    "TOKEN_DIMENSION",
    "TOKEN_SCALE",
    "Chunk",
    "ChunkSpan",
    "Embedder",
    "Encoded",
    "Encoder",
    "HashingEmbedder",
    "MiniLmEmbedder",
    "OnnxEmbedder",
    "SentenceTransformersEmbedder",
    "SpanTokenizer",
    "TokenEmbedder",
    "TokenVectors",
    "chunk_text",
    "create_embedder",
    "fetch_models",
    "find_weights",
    "pack_tokens",
    "revision_of",
    "unpack_tokens",
]
