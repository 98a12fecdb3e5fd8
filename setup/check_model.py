"""Checks a model directory against its manifest.json: sizes and SHA-256. Needs only the Python that Debian ships.

    check_model.py DIR     exit 0 when every file is right; else names each wrong file, exit 1
"""

import hashlib
import json
import pathlib
import sys


def problems(directory: pathlib.Path) -> list[str]:
    try:
        manifest = json.loads((directory / "manifest.json").read_bytes())
        files = manifest["files"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [f"{directory / 'manifest.json'}: {error}"]
    found = []
    for entry in files:
        path = directory / entry["path"]
        try:
            digest = hashlib.sha256()
            with path.open("rb") as f:
                while block := f.read(1 << 20):
                    digest.update(block)
            if digest.hexdigest() != entry["sha256"]:
                found.append(f"{path}: SHA-256 {digest.hexdigest()}, expected {entry['sha256']}")
        except OSError as error:
            found.append(str(error))
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wrong = problems(pathlib.Path(sys.argv[1]))
    print("\n".join(wrong) if wrong else "every file matches the manifest")
    sys.exit(1 if wrong else 0)
