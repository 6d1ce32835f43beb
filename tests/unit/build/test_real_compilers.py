import os

import pytest

from steelyard.build.wrappers import real_compilers
from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import MissingCapabilityError


def spec(**compilers):
    return BuildSpec(argv=("make",), compilers=tuple(compilers.items()))


def test_a_fortran_compiler_that_is_missing_does_not_keep_c_programs_from_being_built(tmp_path):
    (tmp_path / "cc").touch(mode=0o755)
    found = real_compilers(spec(CC="cc", FC="no-such-fortran"), {"PATH": str(tmp_path)})
    assert found == {"CC": [os.path.join(tmp_path, "cc")]}


def test_a_c_compiler_that_is_named_and_missing_is_refused_with_its_package(tmp_path):
    with pytest.raises(MissingCapabilityError, match="no program 'no-such-cc' for CC"):
        real_compilers(spec(CC="no-such-cc"), {"PATH": str(tmp_path)})
