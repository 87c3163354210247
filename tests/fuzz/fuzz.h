/*
 * fuzz.h: what the fuzzers share. Each is a libFuzzer harness for one kind of reader: LLVMFuzzerTestOneInput() gets
 * bytes and gives them to the reader as a file. `make fuzz` builds and runs them (tests/fuzz/run.sh); a finding is
 * mended with a unit test of its own.
 */
#ifndef RUNGS_FUZZ_H
#define RUNGS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The path of a file of this name with these bytes, in a folder of this process that goes when it ends. Valid until the
 * next call with the same name. */
const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size);

/* The algorithms and their versions, once. */
void fuzz_open_registry(void);

/* stdout goes nowhere from here on, for readers that print. */
void fuzz_silence(void);

#endif
