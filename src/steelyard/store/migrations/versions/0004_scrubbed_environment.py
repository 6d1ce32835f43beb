"""Values of the environment that explain no result go out of what was stored before.

What is freed is overwritten, and the file is written anew after it (`connection`).
"""

from alembic import op

from steelyard.core.environment_key import environment_key
from steelyard.store.old_provenance import recorded_in, scrubbed

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ROWS = """
SELECT s.experiment_id, s.place, s.provenance, e.specification
FROM sessions AS s JOIN experiments AS e ON e.id = s.experiment_id
"""


def upgrade() -> None:
    raw = op.get_bind().connection.driver_connection
    assert raw is not None
    raw.execute("PRAGMA secure_delete = ON")
    key = environment_key()
    for experiment, place, provenance, specification in raw.execute(ROWS).fetchall():
        left = scrubbed(provenance, recorded_in(specification), key)
        if left != provenance:
            raw.execute(
                "UPDATE sessions SET provenance = ? WHERE experiment_id = ? AND place = ?",
                (left, experiment, place),
            )
