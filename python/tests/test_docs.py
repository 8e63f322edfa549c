import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


# Signatures are printed a little differently by other versions of Python.
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="docs/python.md is made by Python 3.11")
def test_the_reference_is_fresh():
    pytest.importorskip("matplotlib")
    pytest.importorskip("distributed")
    script = ROOT / "scripts" / "make_python_reference.py"
    made = subprocess.run([sys.executable, script], check=True, stdout=subprocess.PIPE, text=True)
    assert made.stdout == (ROOT / "docs" / "python.md").read_text(), \
        "python scripts/make_python_reference.py > docs/python.md"


@pytest.mark.filterwarnings("ignore")
def test_the_tutorial_runs(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas")
    notebook = nbformat.read(ROOT / "docs" / "tutorial.ipynb", as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                                     resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    printed = "".join(output.get("text", "") for cell in notebook.cells
                      for output in cell.get("outputs", []))
    assert "most surprising: [4000" in printed
