"""Real texts, and an encoder with the default model that the tests of this folder share."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from alma_graph.embedding import Encoder, create_embedder

ODD_TEXTS = (
    "",
    " ",
    "\n\t",
    ".",
    "!?",
    "the of and",
    "a",
    "日本語のテキストを埋め込みます。検索できますか?",
    "私は毎朝コーヒーを飲みますが、今日は紅茶にしました。",
    "我喜欢绿茶,不喜欢咖啡。",
    "한국어 문장도 있습니다.",
    "Привет, как дела? Всё хорошо.",
    "مرحبا بالعالم",
    "El niño comió jalapeño en São Paulo.",
    "🙂🙂 deploy 🚀 done",
    "x" * 300,
    "ERR_CONN_RESET at 10.0.0.1:8080, see https://example.org/a/b?c=d#e",
    "C++ and C# and .NET 8.0.1-rc2, p95=120ms",
)


def library_texts(count: int) -> list[str]:
    """`count` docstrings of Python's own library, of every length up to 6,000 characters."""
    library = Path(sysconfig.get_paths()["stdlib"])
    found: dict[str, None] = {}
    for source in sorted([*library.glob("*.py"), *library.glob("asyncio/*.py"), *library.glob("email/*.py")]):
        tree = ast.parse(source.read_text(encoding="utf-8", errors="replace"))
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                docstring = ast.get_docstring(node)
                if docstring:
                    found[docstring[:6000]] = None
    texts = sorted(found, key=lambda text: (len(text), text))
    return [texts[place * (len(texts) - 1) // (count - 1)] for place in range(count)]


@pytest.fixture(scope="session")
def real_texts() -> list[str]:
    """300 real texts: docstrings from one word to 600 and more, and odd ones in several scripts."""
    texts = [*ODD_TEXTS, *library_texts(300 - len(ODD_TEXTS))]
    assert len(texts) == 300
    return texts


@pytest.fixture(scope="session")
def minilm() -> Encoder:
    """The default embedder without a cache of encodings."""
    return Encoder(create_embedder("all-MiniLM-L6-v2"), cache_size=0)
