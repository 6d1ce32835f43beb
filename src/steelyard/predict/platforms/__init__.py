"""A time on a host that nobody has, from times of benchmarks there (Oliveira 2015, chapter 7).

`host_table.py` is what is known, `platform_question.py` what is asked, `models/` who answers,
`platform_answers.py` what is answered or refused, `model_evaluation.py` how good that is.
"""
