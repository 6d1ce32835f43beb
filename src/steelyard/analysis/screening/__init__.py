"""Which factors of a screening design deserve a full one."""
