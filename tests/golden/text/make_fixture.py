"""Rebuilds the text frontend's test data: a small model directory and the golden phonemes. Run only on request.

    make_fixture.py MODEL_DIR TEXT_PROBE

Reads english.txt (language, tab, sentence). Writes model/vocab.json and model/lexicon/*.json, which hold just the
entries of MODEL_DIR that these sentences can touch (misaki 0.9.4, Apache-2.0), and english.golden (language, sentence,
phonemes; tab between). Read the difference of english.golden before committing it: it is the judgement, not a print-out.
"""

import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NUMBERS = """zero oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion and point minus
first second third fifth versus the a to in""".split()
EXTRA = "button kitten word long this hi b go e plus".split()


def forms(word: str) -> set[str]:
    """Every spelling the frontend may look up for a word."""
    out = {word}
    for part in re.split(r"[-.]|(?<=[a-z])(?=[A-Z])", word):
        out.add(part)
    for base in list(out):
        low = base.lower()
        out |= {low, base.capitalize(), base.strip("'")}
        for tail, add in (("'s", ""), ("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("d", ""), ("ied", "y"), ("ing", ""), ("ing", "e")):
            if low.endswith(tail) and len(low) > len(tail) + 1:
                stem = low[: -len(tail)] + add
                out |= {stem, stem.capitalize(), stem[:-1]}
    return {form for form in out if form}


def probe(tool: str, model: pathlib.Path, language: str, sentence: str) -> tuple[str, str]:
    """(what is spoken, its phonemes) of all segments; ' | ' between segments."""
    done = subprocess.run([tool, str(model), language], input=sentence, capture_output=True, text=True, check=True)
    rows = re.findall(r"tokens, pause [0-9.]+ s: (.*)\n      (.*)\n", done.stdout)
    return " ".join(text for text, _ in rows), " | ".join(phonemes for _, phonemes in rows)


def main() -> None:
    model, tool = pathlib.Path(sys.argv[1]), sys.argv[2]
    rows = [line.split("\t") for line in (HERE / "english.txt").read_text().splitlines() if line]
    wanted = {letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    for word in NUMBERS + EXTRA:
        wanted |= forms(word)
    golden = []
    for language, sentence in rows:
        spoken, phonemes = probe(tool, model, language, sentence)
        golden.append(f"{language}\t{sentence}\t{phonemes}\n")
        for word in re.findall(r"[\w'.-]+", spoken.replace("\u2019", "'")):
            wanted |= forms(word)
            wanted |= forms(word.replace("é", "e").replace("ï", "i"))
    (HERE / "model" / "lexicon").mkdir(parents=True, exist_ok=True)
    for name in ("us_gold", "us_silver", "gb_gold", "gb_silver"):
        full = json.loads((model / "lexicon" / f"{name}.json").read_text())
        small = {word: full[word] for word in sorted(wanted) if word in full}
        text = json.dumps(small, ensure_ascii=False, indent=0)
        (HERE / "model" / "lexicon" / f"{name}.json").write_text(text + "\n")
    vocab = json.loads((model / "vocab.json").read_text())
    (HERE / "model" / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=False) + "\n")
    (HERE / "english.golden").write_text("".join(golden))


if __name__ == "__main__":
    main()
