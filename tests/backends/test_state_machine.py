"""Much random work, on every backend; the contract does a little."""

from __future__ import annotations

import pytest

from alma_graph.testing import RandomWorkContract
from tests.conftest import SERVER


@pytest.mark.slow
@pytest.mark.timeout(1800)
class TestMuchRandomWork(RandomWorkContract):
    """As many stores and steps as a minute or two allow."""

    random_examples = 4 if SERVER else 15
    random_steps = 20 if SERVER else 40
