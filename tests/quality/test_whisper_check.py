"""The normalising behind the word error rate: what counts as the same words, and what does not."""

import pytest
import whisper_check


@pytest.mark.parametrize(("one", "other"), [
    ("Hello, World!", "hello world"),
    ("It costs $42.50 today.", "It costs forty-two dollars and fifty cents today"),
    ("The total is $42 and $0.50.", "the total is forty two dollars and fifty cents"),
    ("on March 3rd at 9", "On March third, at nine."),
    ("the 21st of 12", "the twenty first of twelve"),
    ("2.5 percent", "two point five %"),
    ("1,024 people", "one thousand twenty four people"),
    ("Don\u2019t 'go' there", "don't go there"),
    ("Dr. Smith", "Doctor Smith"),
])
def test_same_words_in_another_spelling_are_no_error(one, other):
    assert whisper_check.wer(one, other) == 0


def test_a_lost_word_and_a_wrong_word_are_errors():
    assert whisper_check.wer("one two three four", "one two four") == pytest.approx(0.25)
    assert whisper_check.wer("82 million people", "28 million people") > 0
