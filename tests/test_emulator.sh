#!/bin/sh
# The emulator's unit tests, which are its own (common/emulator/tests), and what else is tested as they are.
# usage: sh tests/test_emulator.sh BUILD
exec sh common/emulator/tests/test_emulator.sh "${1:?usage: sh tests/test_emulator.sh BUILD}" "$PWD"/tests/emulator/*.cu
