"""`python -m opsgym_operator.gateway` runs the store gateway."""

import sys

from opsgym_operator.gateway.main import main

sys.exit(main())
