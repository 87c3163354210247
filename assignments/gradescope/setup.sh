#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image: packages, and all that does not depend on a submission.
set -euo pipefail
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends make python3
cd /autograder/source/rungs
sh common/build/deps.sh
# The machine that grades may be another one than this: its own instruction set is used there, from this folder.
make -s CUDA=emulated build/rungs-judge
