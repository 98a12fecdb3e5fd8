"""How well the speech is understood: Whisper's word error rate over 200 sentences of eight kinds, by kind and by voice.

    ./dev bench quality [--sentences 200] [--voices af_heart,...|all] [--http URL] [--out DIR]

Starts tts-serve (release build, or HEADROOM_BIN) unless --http names a server that runs. Sentence i is spoken by voice
i modulo the number of voices, so every voice speaks every kind. What Whisper wrote is turned into words by the same
normaliser that the server uses (text_probe), so that "$5" and "five dollars" are equal; what should have been said was
written down by people in tests/quality/spoken_sentences.jsonl. Words are compared without case and punctuation.

Whisper base errs by itself (names, homophones): the rate is an upper bound of what the speech loses. Writes
quality.json and prints the tables of docs/quality.md. Exit 0 when the rate over all is at most 0.04, else 3.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import jiwer
import requests

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests/quality"), str(ROOT / "tests/system")]
MOST = 0.04


def program(name: str) -> pathlib.Path:
    folder = pathlib.Path(os.environ.get("HEADROOM_BIN") or ROOT / "build/release/bin")
    if name == "text_probe" and "HEADROOM_BIN" not in os.environ:
        subprocess.run(["cmake", "--build", str(ROOT / "build/release"), "--target", name], check=True, stdout=subprocess.DEVNULL)
    if not (folder / name).is_file():
        sys.exit(f"{name} is not in {folder}; run ./dev build")
    return folder / name


def model_dir() -> pathlib.Path:
    cache = os.environ.get("HEADROOM_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "headroom")
    return pathlib.Path(cache) / "models/kokoro-82m"


def in_words(lines: list[str]) -> list[str]:
    """Each line as the server's normaliser would speak it."""
    done = subprocess.run([program("text_probe"), str(model_dir())], input="\n".join(lines) + "\n", capture_output=True,
                          text=True, check=True)
    out: list[str] = []
    for line in done.stdout.splitlines():
        if line.startswith("> "):
            out.append("")
        elif found := re.match(r"^ +\d+ tokens, pause [\d.]+ s: (.*)$", line):
            out[-1] += " " + found[1]
    return out


def bare(text: str) -> str:
    """Lower case words alone; hyphens and dots of initials fall, so that "U.S" and "US" are one word."""
    from whisper_check import SAME_WORDS
    text = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("-", " ").replace("\N{EM DASH}", " ")
    text = re.sub(r"(?<=\b[a-z])\.(?=[a-z]\b)", "", text)
    text = re.sub(r"[^\w' ]+", " ", text)
    text = re.sub(r"(?<!\w)'|'(?!\w)", " ", text)
    return " ".join(SAME_WORDS.get(w, w) for w in text.split())


def speak(url: str, text: str, voice: str) -> bytes:
    answer = requests.post(f"{url}/invocations", json={"text": text, "voice": voice}, timeout=300)
    if answer.status_code != 200:
        sys.exit(f"the server refused {text!r} with voice {voice}: {answer.status_code} {answer.text[:300]}")
    return answer.content


def english_voices() -> list[str]:
    return sorted(p.stem for p in (model_dir() / "voices").glob("*.bin") if p.stem[0] in "ab")


def measure(url: str, sentences: list[dict], voices: list[str]) -> list[dict]:
    from whisper_check import transcribe
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "spoken.wav"
        for i, sentence in enumerate(sentences):
            voice = voices[i % len(voices)]
            path.write_bytes(speak(url, sentence["text"], voice))
            rows.append({**sentence, "voice": voice, "heard": transcribe(path)})
            if sys.stderr.isatty():
                print(f"\r{i + 1} of {len(sentences)}", end="", file=sys.stderr)
    heard = in_words([r["heard"] or "-" for r in rows])
    for row, words in zip(rows, heard, strict=True):
        reference, hypothesis = bare(row.get("spoken", row["text"])), bare(words)
        counted = jiwer.process_words(reference, hypothesis)
        row |= {"words": len(reference.split()), "errors": counted.substitutions + counted.deletions + counted.insertions,
                "compared": hypothesis}
    return rows


def rate(rows: list[dict]) -> float:
    return sum(r["errors"] for r in rows) / max(1, sum(r["words"] for r in rows))


def table(rows: list[dict], key: str) -> dict[str, dict]:
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    return {name: {"sentences": len(g), "words": sum(r["words"] for r in g), "errors": sum(r["errors"] for r in g),
                   "wer": round(rate(g), 4)} for name, g in groups.items()}


def report(rows: list[dict]) -> None:
    for key in ("kind", "voice"):
        print(f"\n| {key} | sentences | words | errors | word error rate |\n|---|---|---|---|---|")
        for name, row in table(rows, key).items():
            print(f"| {name} | {row['sentences']} | {row['words']} | {row['errors']} | {row['wer']:.3f} |")
    print("\nWhat was heard otherwise:")
    for row in rows:
        if row["errors"]:
            print(f"- {row['voice']}: {row.get('spoken', row['text'])}\n  heard: {row['heard']}")
    print(f"\nWord error rate over {len(rows)} sentences, {sum(r['words'] for r in rows)} words: {rate(rows):.4f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=200, help="how many, spread over all kinds")
    parser.add_argument("--voices", default="all", help="names with commas, or all English ones")
    parser.add_argument("--http", metavar="URL", help="a server that runs already")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "artifacts/quality")
    options = parser.parse_args()
    lines = (ROOT / "tests/quality/spoken_sentences.jsonl").read_text().splitlines()
    # Kind after kind in the file; a step coprime to its length takes from all of them and meets every line.
    sentences = [json.loads(lines[(i * 27) % len(lines)]) for i in range(min(options.sentences, len(lines)))]
    voices = english_voices() if options.voices == "all" else options.voices.split(",")
    if options.http:
        rows = measure(options.http.rstrip("/"), sentences, voices)
    else:
        program("tts-serve")
        program("text_probe")  # before the long part
        from serve_tools import Serve
        with tempfile.TemporaryDirectory() as folder:
            server = Serve(pathlib.Path(folder), "--model-dir", str(model_dir()))
            try:
                rows = measure(server.url, sentences, voices)
            finally:
                server.stop()
    report(rows)
    options.out.mkdir(parents=True, exist_ok=True)
    result = {"created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), "machine": platform.processor(),
              "sentences": len(rows), "words": sum(r["words"] for r in rows), "wer": round(rate(rows), 4),
              "by_kind": table(rows, "kind"), "by_voice": table(rows, "voice"), "rows": rows}
    part = options.out / "quality.json.part"
    part.write_text(json.dumps(result, indent=1, ensure_ascii=False))
    part.replace(options.out / "quality.json")
    return 0 if rate(rows) <= MOST else 3


if __name__ == "__main__":
    sys.exit(main())
