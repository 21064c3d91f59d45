"""Run the command."""

import sys

from tools.interface_rows.comparison import main

sys.exit(main(sys.argv[1:]))
