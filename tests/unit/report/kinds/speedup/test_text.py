from steelyard.analysis.profiles.speedup import BlockShares, BlockTimes, ProfiledBlocks, speedup
from steelyard.report.kinds.speedup.text import speedup_text


def test_a_share_is_said_to_be_no_more_than_the_whole():
    shares = (BlockShares(1.0, 0.1), BlockShares(0.99, 0.1))
    times = [BlockTimes(1.0, 0.1), BlockTimes(1.1, 0.1)]
    text = speedup_text(speedup("hot", times, [ProfiledBlocks("perf", 1, shares)]))
    assert "99.5 % (93.1 – 100.0)" in text
