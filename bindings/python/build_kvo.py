"""Builds the wheel of kvo, by PEP 517, without any other package: so `pip install .` needs no network."""

import base64
import hashlib
import pathlib
import re
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r'^version = "(.*)"$', (HERE / "pyproject.toml").read_text(), re.MULTILINE)[1]
NAME = f"kvo-{VERSION}"
# py.typed tells type checkers that the package has annotations.
MODULES = [*sorted(f"kvo/{file.name}" for file in (HERE / "kvo").glob("*.py")), "kvo/py.typed"]


def build_wheel(folder, config_settings=None, metadata_directory=None):
    information = f"{NAME}.dist-info"
    files = {
        **{name: (HERE / name).read_bytes() for name in MODULES},
        f"{information}/METADATA": f"Metadata-Version: 2.1\nName: kvo\nVersion: {VERSION}\nRequires-Python: >=3.9\n".encode(),
        f"{information}/WHEEL": b"Wheel-Version: 1.0\nGenerator: build_kvo\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}\n"
        for name, content in files.items()
    )
    files[f"{information}/RECORD"] = (record + f"{information}/RECORD,,\n").encode()
    wheel = f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel


def build_sdist(folder, config_settings=None):
    with tarfile.open(pathlib.Path(folder) / f"{NAME}.tar.gz", "w:gz") as archive:
        for name in (*MODULES, "build_kvo.py", "pyproject.toml", "README.md"):
            archive.add(HERE / name, f"{NAME}/{name}")
    return f"{NAME}.tar.gz"
