"""Run the command."""

import sys

from tools.pins.names import main

sys.exit(main(sys.argv[1:]))
