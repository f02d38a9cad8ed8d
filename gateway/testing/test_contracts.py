"""The whole contract suite, as `gateway test` runs it."""

from gateway.testing.suite.agents import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.coverage import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.faults import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.guarantees import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.imported import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.imported_faults import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.links import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.models import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.openapi import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.replies import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.secrets import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.vectors import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.verdicts import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.webhooks import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.workflows import *  # noqa: F403 - each module lists its tests
