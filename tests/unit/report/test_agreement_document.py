from steelyard.analysis.profiles.agreement_results import ProgramProfiles
from steelyard.analysis.profiles.profile_agreement import KEPT_COUNT, agreement
from steelyard.report.kinds.agreement.document import agreement_document, profiles_of


def test_a_document_that_is_read_again_gives_the_same_answer():
    # What one profiler finds the hottest stands behind all that is kept of the other's runs.
    tail = {f"f{place}": 0.01 - place * 1e-5 for place in range(2 * KEPT_COUNT)}
    one = [{"hot": 0.3 + step, **tail, "other": 0.001 + step} for step in (0, 1e-4)]
    two = [{"other": 0.4 - step, "hot": 0.002 - step} for step in (0, 1e-4, 2e-4)]
    calls = frozenset({("hot", "between"), ("between", "other")})
    given = ProgramProfiles("p", "-O3", {"one": one, "two": two}, calls)
    document = agreement_document(agreement([given]))
    again = agreement(profiles_of(document, "p.json"))
    assert agreement_document(again) == document
    assert again.programs[0].share("one", "other").estimate > 0.001
