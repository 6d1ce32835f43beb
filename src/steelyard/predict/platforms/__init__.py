"""A time on a host that nobody has, from times of benchmarks there (Oliveira 2015, chapter 7).

`table.py` is what is known, `question.py` what is asked, `models/` who answers, `answers.py` what
is answered or refused, `evaluation.py` how good that is.
"""
