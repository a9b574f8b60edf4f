"""Every notebook runs from top to bottom, as its reader would run it, and is committed without outputs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def _kernels_of_this_python(folder: Path) -> KernelSpecManager:
    """One kernel, "python3", that is this interpreter: whatever kernels the machine has play no part."""
    kernel = folder / "python3"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "test", "language": "python"}))
    return KernelSpecManager(kernel_dirs=[str(folder)], ensure_native_kernel=False)


def _notebook(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs(path: Path) -> None:
    notebook = _notebook(path)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert not [cell.id for cell in code if cell.outputs or cell.execution_count]
    assert notebook.cells[0].cell_type == "markdown"


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_draws(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    place = tmp_path / "work"
    place.mkdir()
    notebook = _notebook(path)
    client = NotebookClient(notebook, kernel_name="python3", timeout=240, resources={"metadata": {"path": str(place)}})
    # A manager that the client made is one that it also shuts down, sockets and all.
    client.create_kernel_manager().kernel_spec_manager = _kernels_of_this_python(tmp_path / "kernels")
    client.execute()

    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output.text for output in outputs if output.get("name") == "stderr" and "Warning" in output.text]
    pictures = [output.data["image/svg+xml"] for output in outputs if "image/svg+xml" in output.get("data", {})]
    assert pictures
    for picture in pictures:
        assert int(ElementTree.fromstring(picture).get("data-node-count", "0")) > 1
    assert not list(place.iterdir()), "a notebook leaves nothing beside itself"
