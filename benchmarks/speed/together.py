"""Steps a second when several runs share a device: 1, 2 and 4 processes of benchmarks/speed/train.py at once.

PYTHONPATH=. python benchmarks/speed/together.py --data trec --model mpnet --steps 2000

Their clocks start together, when all are warm. Under NVIDIA's MPS (`nvidia-cuda-mps-control -d`) their kernels run
beside each other; without it they take turns. The lines say which it was.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from actune.models.encoders import choose_device
from benchmarks.speed.common import Results, arguments


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    given = parser.parse_args()
    results = Results(given.out, choose_device(given.device))
    words = ["--data", given.data, "--model", given.model, "--device", given.device, "--steps", str(given.steps)]
    words += ["--data-dir", given.data_dir] if given.data_dir else []
    script = str(Path(__file__).with_name("train.py"))
    alone = 0.0
    for count in given.processes:
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, f"{number}.jsonl") for number in range(count)]
            place = Path(folder, "place")
            place.mkdir()
            words_here = [*words, "--ours-only", "--meet", str(place), str(count)]
            started = [
                subprocess.Popen([sys.executable, script, *words_here, "--out", str(file)], stdout=subprocess.DEVNULL)
                for file in files
            ]
            if any(process.wait() for process in started):
                raise SystemExit("a run failed")
            lines = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
            times = [line["ms"] for line in lines if line["what"] == "ours"]
        rate = sum(1000 / each for each in times)
        alone = alone or rate / count
        results.add(
            what="together",
            data=given.data,
            model=given.model,
            processes=count,
            mps="CUDA_MPS_PIPE_DIRECTORY" in os.environ,
            ms=times,
            steps_per_s=round(rate, 1),
            times_one=round(rate / alone, 2),
        )


if __name__ == "__main__":
    main()
