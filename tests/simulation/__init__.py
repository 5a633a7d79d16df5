"""The simulator: seeds that must hold, the checks that it makes, and bugs that it must find."""
