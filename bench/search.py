"""Search quality: about 1,000 whole Q_max searches on simulated services of known capacity, the naive rule beside them.

usage: ./dev bench search [SEARCHES_PER_FAMILY] [SEED]. Builds headroom_search_bench and runs it; two minutes on two cores.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = "headroom_search_bench"


def main() -> int:
    build = ROOT / "build" / "release"
    if not (build / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(build), "--target", TARGET], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return subprocess.run([build / "bin" / TARGET, *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
