"""The suite that is shipped with the wheel, for the project of this repository."""

from gateway.testing.suite.agents import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.coverage import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.guarantees import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.models import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.verdicts import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.workflows import *  # noqa: F403 - each module lists its tests
